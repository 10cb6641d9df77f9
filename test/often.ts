/** Whether all tests are tried as often as they can be, as CI does. */
export const all = process.env.IDOPS_TESTS === 'all';

/**
 * How many runs a property gets: all of `runs` where `IDOPS_TESTS` is `all`; otherwise a fifth, and five at least, since they
 * come anew with each `npm test`.
 */
export function often(runs: number): number {
  return all ? runs : Math.min(runs, Math.max(5, Math.ceil(runs / 5)));
}
