import { type SandboxFaults, startSandbox } from '../../sandbox/index.js';
import type { Context } from '../context.js';
import { type ExitCode, exit } from '../exit.js';
import { withSeed } from '../faults.js';
import { portProblem } from '../port.js';

interface Options {
  readonly profile: 'documented' | 'boruta';
  readonly seed: 'demo' | 'empty';
  readonly port?: number;
  readonly pageSize?: number;
  readonly omitOptionalFields?: boolean;
  readonly latency?: number;
  readonly ownUser?: string;
  readonly faults: SandboxFaults;
}

/** `idops sandbox`: the embedded server, until it is interrupted. */
export async function sandbox({ output, signal }: Context, options: Options): Promise<ExitCode> {
  const { profile, seed, port = 0, pageSize, omitOptionalFields = false, latency = 0, ownUser } = options;
  const faults = withSeed(options.faults);
  const server = await startSandbox({
    profile,
    seed,
    port,
    omitOptionalFields,
    latency,
    faults,
    ...(pageSize === undefined ? {} : { pageSize }),
    ...(ownUser === undefined ? {} : { ownUser }),
  }).catch((failure: unknown) => {
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
