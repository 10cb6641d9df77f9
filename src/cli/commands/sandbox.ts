import { randomInt } from 'node:crypto';
import { type SandboxFaults, startSandbox } from '../../sandbox/index.js';
import type { Context } from '../context.js';
import { type ExitCode, exit } from '../exit.js';
import { untilAborted } from '../interrupt.js';
import { portProblem } from '../listen.js';

interface Options {
  readonly profile: 'documented' | 'boruta';
  readonly port?: number;
  readonly latency?: number;
  readonly faults: SandboxFaults;
}

export async function sandbox({ output, signal }: Context, options: Options): Promise<ExitCode> {
  const { profile, port = 0, latency = 0 } = options;
  const faults = withSeed(options.faults);
  const server = await startSandbox({ profile, port, latency, faults }).catch((failure: unknown) => {
    throw portProblem(failure, port) ?? failure;
  });
  output.result(`export IDOPS_BASE_URL=${server.url}\nexport IDOPS_TOKEN=${server.token}\n`);
  if (faults.seed !== options.faults.seed) {
    output.message(`Faults are random; add seed=${faults.seed} to repeat the same ones.`);
  }
  output.message('The sandbox runs until you press Ctrl-C; its data is lost then.');
  await untilAborted(signal);
  await server.close();
  return exit.done;
}

export function withSeed(faults: SandboxFaults): SandboxFaults {
  const { cut, reset, restart, 500: failing, 503: unavailable } = faults;
  const byChance = [cut, reset, restart, failing, unavailable].some((chance) => chance !== undefined);
  return byChance ? { seed: randomInt(2 ** 32), ...faults } : faults;
}
