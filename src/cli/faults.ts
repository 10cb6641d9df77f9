import { randomInt } from 'node:crypto';
import { InvalidArgumentError } from 'commander';
import type { SandboxFaults } from '../sandbox/options.js';

const counts = ['pool', 'pause', 'seed'];
const chances = ['cut', '500', '503', 'reset', 'restart'];

/** How the faults are written, for the help. */
export const faultNames =
  'pool=2, cut=0.1, 500=0.1, 503=0.1, reset=0.1, restart=0.1, stale-scopes, pause=250, seed=1';

/** Reads one `--faults`, a list with commas, and adds it to those before it. */
export function readFaults(list: string, before: SandboxFaults): SandboxFaults {
  return list.split(',').reduce(addFault, before);
}

/** The faults with a seed, where chance has a part in them. */
export function withSeed(faults: SandboxFaults): SandboxFaults {
  const { cut, reset, restart, 500: failing, 503: unavailable } = faults;
  const byChance = [cut, reset, restart, failing, unavailable].some((chance) => chance !== undefined);
  return byChance ? { seed: randomInt(2 ** 32), ...faults } : faults;
}

function addFault(faults: SandboxFaults, fault: string): SandboxFaults {
  const [, name = '', digits = ''] = /^\s*([a-z0-9]+)\s*=\s*(\d*\.?\d+)\s*$/.exec(fault) ?? [];
  const number = Number(digits);
  if (fault.trim() === 'stale-scopes') return { ...faults, staleScopes: true };
  const isCount = counts.includes(name) && Number.isSafeInteger(number) && (name !== 'pool' || number > 0);
  if (isCount || (chances.includes(name) && number <= 1)) return { ...faults, [name]: number };
  throw new InvalidArgumentError(
    `${JSON.stringify(fault)} is no fault; they are written as ${faultNames}, with whole numbers, or chances from 0 to 1.`,
  );
}
