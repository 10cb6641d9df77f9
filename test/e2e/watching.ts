import { setTimeout as pause } from 'node:timers/promises';
import type { Ran, Running, RunOptions, TestProject } from './running.js';

/** A watch that is running, and what it has told so far. */
export interface Watching extends Running {
  /** What stands on standard output so far. */
  text(): string;
  /** The outcome of each turn so far, in a log of text. */
  outcomes(): string[];
  /** Where health and metrics are served. */
  address(): Promise<string>;
  /** Waits for so many more turns that came to this. */
  turns(outcome: string, more?: number): Promise<void>;
  /** Ends it as Kubernetes does. */
  stop(): Promise<Ran>;
}

/** Starts a watch of one turn a second. */
export function watching(at: TestProject, args: string, run?: RunOptions): Watching {
  return watchingWith(
    at,
    ['watch', '--interval', '1s', '--retries', '0', ...args.split(' ').filter(Boolean)],
    run,
  );
}

/** The same, with the whole command line. */
export function watchingWith(
  at: Pick<TestProject, 'begin'>,
  args: readonly string[],
  run?: RunOptions,
): Watching {
  const running = at.begin(args, run);
  let stdout = '';
  let stderr = '';
  running.child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  running.child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const ended: { ran?: Ran } = {};
  running.ended.then(
    (ran) => {
      ended.ran = ran;
    },
    () => {},
  );
  const outcomes = (): string[] =>
    [...stdout.matchAll(/^\d{4}-\d\d-\d\dT[\d:.]+Z (\w+): /gm)].map(([, outcome = '']) => outcome);
  const wait = (isSo: () => boolean): Promise<void> =>
    until(async () => {
      if (!isSo() && ended.ran !== undefined)
        throw new Error(`ended with ${ended.ran.code}: ${stdout}${stderr}`);
      return isSo();
    });
  return {
    ...running,
    text: () => stdout,
    outcomes,
    async address() {
      const found = (): string | undefined => /served at (http:\S+)/.exec(stderr)?.[1];
      await wait(() => found() !== undefined);
      return found() ?? '';
    },
    async turns(outcome, more = 1) {
      const count = (): number => outcomes().filter((one) => one === outcome).length;
      const before = count();
      await wait(() => count() >= before + more);
    },
    async stop() {
      running.child.kill('SIGTERM');
      return await running.ended;
    },
  };
}

/** Waits until something is so, however long that takes. */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await pause(20);
}
