/** Timeouts of some length, which are over when a test says so and not before: no test waits for one. */
export interface Deadlines {
  /** What to give as the timeout; so long that it is never over by itself. */
  readonly seconds: number;
  /** Ends those that have begun, and says whether there were any. */
  pass(): boolean;
  /** How many have begun and were not passed. */
  begun(): number;
}

const pending = new Map<number, (() => void)[]>();
const begin = globalThis.setTimeout;
let made = 0;

function watched(act: () => void, ms: number, ...more: []): NodeJS.Timeout {
  pending.get(ms)?.push(act);
  return begin(act, ms, ...more);
}

/** Gives a length of its own to whoever asks. */
export function deadlines(): Deadlines {
  globalThis.setTimeout = Object.assign(watched, begin) as typeof setTimeout;
  const seconds = 10_000 + made++;
  const mine: (() => void)[] = [];
  pending.set(seconds * 1000, mine);
  return {
    seconds,
    begun: () => mine.length,
    pass: () => {
      const due = mine.splice(0);
      for (const act of due) act();
      return due.length > 0;
    },
  };
}
