import type { Clock } from '../../src/session/watch/repeat.js';
import { afterwards } from '../cleanups.js';
import { runInProcess, signal } from './in-process.js';
import type { Ran, RunOptions, TestProject } from './running.js';

/** A watch in the test's process, with a clock that stands still: each turn begins when the test requests it. */
export interface Watching {
  /** Standard output so far. */
  text(): string;
  /** The URL of health and metrics. */
  address(): Promise<string>;
  /** Runs the next turn, and returns its outcome. The first turn begins automatically. */
  turn(): Promise<string>;
  /** Runs this many turns, and returns their outcomes. */
  turns(count: number): Promise<string[]>;
  /** Resolves when standard error contains a text. */
  waitFor(text: string): Promise<void>;
  /** Sends SIGTERM. */
  interrupt(): void;
  /** Sends SIGTERM, and waits for the end. */
  stop(): Promise<Ran>;
  readonly ended: Promise<Ran>;
}

/** Starts a watch with one turn a second. */
export function watching(at: Pick<TestProject, 'surroundings'>, args: string, run?: RunOptions): Watching {
  const words = args.split(' ').filter(Boolean);
  return watchingWith(['watch', '--interval', '1s', '--retries', '0', ...words], at.surroundings(run));
}

/** The same, with all arguments. */
export function watchingWith(
  args: readonly string[],
  surroundings: ReturnType<TestProject['surroundings']>,
): Watching {
  const written = { stdout: '', stderr: '' };
  const looks = new Set<() => void>();
  const look = (): void => {
    for (const one of looks) one();
  };
  let now = 0;
  let endPause: (() => void) | undefined;
  const clock: Clock = {
    now: () => now,
    wait: (milliseconds, ending) =>
      new Promise((done) => {
        ending.addEventListener('abort', () => done());
        endPause = () => {
          endPause = undefined;
          now += milliseconds;
          done();
        };
        look();
      }),
  };
  const started = runInProcess(args, surroundings, {
    clock,
    onOutput(stream, text) {
      written[stream] += text;
      look();
    },
  });
  if (started === undefined) throw new Error('another command runs in this process');
  let isOver = false;
  const ended = started.finally(() => {
    isOver = true;
    look();
  });
  const until = (isSo: () => boolean): Promise<void> =>
    new Promise((done, failed) => {
      const one = (): void => {
        if (isSo()) done();
        else if (isOver) failed(new Error(`ended: ${written.stdout}${written.stderr}`));
        else return;
        looks.delete(one);
      };
      looks.add(one);
      one();
    });
  const interrupt = (): void => signal('SIGTERM');
  const stop = (): Promise<Ran> => {
    interrupt();
    return ended;
  };
  afterwards(async () => {
    if (!isOver) await stop();
  });
  const turn = async (): Promise<string> => {
    endPause?.();
    await until(() => endPause !== undefined);
    const outcomes = [...written.stdout.matchAll(/^\S+Z (\w+): |"outcome":"(\w+)"/gm)];
    const [, ofText, ofJson] = outcomes.at(-1) ?? [];
    return ofText ?? ofJson ?? '';
  };
  return {
    text: () => written.stdout,
    async address() {
      const found = (): string | undefined => /served at (http:\S+)/.exec(written.stderr)?.[1];
      await until(() => found() !== undefined);
      return found() ?? '';
    },
    turn,
    async turns(count) {
      const outcomes: string[] = [];
      while (outcomes.length < count) outcomes.push(await turn());
      return outcomes;
    },
    waitFor: (text) => until(() => written.stderr.includes(text)),
    interrupt,
    stop,
    ended,
  };
}
