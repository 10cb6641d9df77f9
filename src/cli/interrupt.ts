import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { constants } from 'node:os';

export type Interrupt = ReturnType<typeof onInterrupt>;

/** Turns Ctrl-C and SIGTERM into an AbortSignal: requests in flight finish, nothing new starts. A second signal ends the process immediately. */
export function onInterrupt() {
  const controller = new AbortController();
  const names = ['SIGINT', 'SIGTERM'] as const;
  const listen = (name: NodeJS.Signals): void => {
    if (controller.signal.aborted) {
      release();
      writeNow(interrupt.unfinishedRequests());
      // As pid 1 of a container, the process survives a signal that has no handler.
      if (process.pid === 1) process.exit(128 + constants.signals[name]);
      process.kill(process.pid, name);
      return;
    }
    controller.abort();
  };
  const release = (): void => {
    for (const name of names) process.off(name, listen);
  };
  for (const name of names) process.on(name, listen);
  const interrupt = {
    signal: controller.signal as AbortSignal,
    unfinishedRequests: (): string | null => null,
    release,
  };
  return interrupt;
}

export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/** Writes synchronously, since the process ends now. */
function writeNow(words: string | null): void {
  if (words === null) return;
  try {
    writeSync(2, `${words}\n`);
  } catch {
    // Standard error is closed.
  }
}
