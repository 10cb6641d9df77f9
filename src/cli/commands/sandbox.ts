import { randomInt } from 'node:crypto';
import { type SandboxFaults, startSandbox } from '../../sandbox/index.js';
import type { Context } from '../context.js';
import { type ExitCode, exit } from '../exit.js';
import { portProblem } from '../listen.js';

interface Options {
  readonly profile: 'documented' | 'boruta';
  readonly port?: number;
  readonly latency?: number;
  readonly faults: SandboxFaults;
}

/** `idops sandbox`: the embedded server, until it is interrupted. */
export async function sandbox({ output, signal }: Context, options: Options): Promise<ExitCode> {
  const { profile, port = 0, latency = 0 } = options;
  const faults = withSeed(options.faults);
  const server = await startSandbox({ profile, port, latency, faults }).catch((failure: unknown) => {
    throw portProblem(failure, port) ?? failure;
  });
  output.result(`export IDOPS_BASE_URL=${server.url}\nexport IDOPS_TOKEN=${server.token}\n`);
  if (faults.seed !== options.faults.seed) {
    output.message(
      `The faults come by chance; with seed=${faults.seed} among them the same ones come again.`,
    );
  }
  output.message('The sandbox runs until you press Ctrl-C; all that it holds is gone then.');
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await server.close();
  return exit.done;
}

/** The faults with a seed, where chance has a part in them. */
export function withSeed(faults: SandboxFaults): SandboxFaults {
  const { cut, reset, restart, 500: failing, 503: unavailable } = faults;
  const byChance = [cut, reset, restart, failing, unavailable].some((chance) => chance !== undefined);
  return byChance ? { seed: randomInt(2 ** 32), ...faults } : faults;
}
