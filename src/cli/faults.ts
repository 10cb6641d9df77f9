import { randomInt } from 'node:crypto';
import { InvalidArgumentError } from 'commander';
import { nearest } from '../base/nearest.js';
import type { SandboxFaults } from '../sandbox/options.js';

const probability = 'a probability from 0 to 1';
const count = 'a whole number';
const takes = {
  pool: count,
  cut: probability,
  500: probability,
  503: probability,
  reset: probability,
  restart: probability,
  'stale-scopes': 'nothing',
  seed: count,
} as const;

/** How the faults are written, for the help. */
export const faultNames = 'pool=2, cut=0.1, 500=0.1, 503=0.1, reset=0.1, restart=0.1, stale-scopes, seed=1';

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
  const mark = fault.indexOf('=');
  const name = (mark === -1 ? fault : fault.slice(0, mark)).trim();
  const value = mark === -1 ? null : fault.slice(mark + 1).trim();
  if (!isFault(name)) throw new InvalidArgumentError(unknown(name));
  if (name === 'stale-scopes') {
    if (value === null) return { ...faults, staleScopes: true };
    throw new InvalidArgumentError('stale-scopes takes no value.');
  }
  const number = value !== null && /^\d*\.?\d+$/.test(value) ? Number(value) : Number.NaN;
  const least = name === 'pool' ? 1 : 0;
  const fits =
    takes[name] === count ? Number.isSafeInteger(number) && number >= least : number >= 0 && number <= 1;
  if (fits) return { ...faults, [name]: number };
  const wanted = takes[name] === count ? `${count} of ${least} or more` : probability;
  const example = name === 'pool' ? 2 : takes[name] === count ? 1 : 0.1;
  throw new InvalidArgumentError(`${name} takes ${wanted}, such as ${name}=${example}.`);
}

function isFault(name: string): name is Exclude<keyof typeof takes, number> | '500' | '503' {
  return Object.hasOwn(takes, name);
}

function unknown(name: string): string {
  const near = nearest(name, Object.keys(takes));
  return near === undefined
    ? `There is no fault ${JSON.stringify(name)}; the faults are ${faultNames}.`
    : `There is no fault ${JSON.stringify(name)}; did you mean ${near}?`;
}
