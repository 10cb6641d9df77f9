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
