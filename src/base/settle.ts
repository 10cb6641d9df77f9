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

/** More than are ever under way at once, so that what is limited otherwise never waits for the next to be begun. */
const BEGUN = 1000;

/** The same for work on each of very many things, begun in their order: what waits for its turn takes no memory. */
export async function settleEach<A, T>(things: readonly A[], work: (thing: A) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  const failures: unknown[][] = [];
  const waiting = things.entries();
  const goOn = async (): Promise<void> => {
    for (const [index, thing] of waiting) {
      try {
        results[index] = await work(thing);
      } catch (failure) {
        failures[index] = failuresIn(failure);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(BEGUN, things.length) }, goOn));
  if (failures.length > 0) throw new AggregateError(new Set(failures.flat()), 'several things failed');
  return results;
}

/** The failures that an error stands for. */
export function failuresIn(failure: unknown): unknown[] {
  // One that stands for none is a failure by itself.
  const within = failure instanceof AggregateError ? failure.errors.flatMap(failuresIn) : [];
  return within.length > 0 ? within : [failure];
}
