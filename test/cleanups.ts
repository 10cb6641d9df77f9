const cleanups: (() => unknown)[] = [];

/** Does something when the test is over, the latest first: files may share a process, and leave nothing to each other. */
export function afterwards(cleanup: () => unknown): void {
  cleanups.push(cleanup);
}

/** Does all that was to be done. */
export async function cleanUp(): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
}
