import type { SandboxRequest } from '../../src/sandbox/index.js';

/** A server that holds its answers back until it is told, and tells when the first requests came. */
export function gate(expected = 1) {
  let come = (): void => {};
  let open = (): void => {};
  let count = 0;
  const came = new Promise<void>((resolve) => {
    come = resolve;
  });
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    /** Resolves when so many requests are held. */
    came,
    open: () => open(),
    intercept: async () => {
      count += 1;
      if (count >= expected) come();
      await opened;
      return undefined;
    },
  };
}

/** One that lets what is read through, and holds so many writes back. */
export function writesHeld(expected = 1) {
  const { intercept, ...rest } = gate(expected);
  return {
    ...rest,
    intercept: ({ method }: SandboxRequest) => (method === 'GET' ? undefined : intercept()),
  };
}
