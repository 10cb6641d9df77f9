/** Timeouts that end only when the test says so, so that no test waits for one. */
export interface Deadlines {
  /** The timeout to use; too long to end by itself. */
  readonly seconds: number;
  /** Ends all started timeouts; returns whether there were any. */
  pass(): boolean;
  /** The number of started timeouts that haven't ended. */
  begun(): number;
}

const pending = new Map<number, (() => void)[]>();
const begin = globalThis.setTimeout;
let made = 0;

function watched(act: () => void, ms: number, ...more: []): NodeJS.Timeout {
  pending.get(ms)?.push(act);
  return begin(act, ms, ...more);
}

/** Creates deadlines with a unique length, by which they are recognized. */
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
