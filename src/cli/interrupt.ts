/** Ctrl-C as a signal to the work, which ends what is in flight and starts nothing new. */
export interface Interrupt {
  readonly signal: AbortSignal;
  release(): void;
}

/** Listens for SIGINT and SIGTERM; the second one ends the process at once. */
export function onInterrupt(): Interrupt {
  const controller = new AbortController();
  const names = ['SIGINT', 'SIGTERM'] as const;
  const listen = (name: NodeJS.Signals): void => {
    if (controller.signal.aborted) {
      release();
      process.kill(process.pid, name);
      return;
    }
    controller.abort();
  };
  const release = (): void => {
    for (const name of names) process.off(name, listen);
  };
  for (const name of names) process.on(name, listen);
  return { signal: controller.signal, release };
}
