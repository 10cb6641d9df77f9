/**
 * Waits for all, whatever becomes of some: nothing goes on behind the caller's back, and no failure hides another.
 * Throws an AggregateError of all distinct failures.
 */
export async function settle<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  const settled = await Promise.allSettled(promises);
  const failures = settled.flatMap((it) => (it.status === 'rejected' ? failuresIn(it.reason) : []));
  if (failures.length > 0) throw new AggregateError(new Set(failures), 'several things failed');
  return settled.flatMap((it) => (it.status === 'fulfilled' ? [it.value] : []));
}

/** The failures that an error stands for. */
export function failuresIn(failure: unknown): unknown[] {
  // One that stands for none is a failure by itself.
  const within = failure instanceof AggregateError ? failure.errors.flatMap(failuresIn) : [];
  return within.length > 0 ? within : [failure];
}
