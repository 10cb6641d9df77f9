/** Whether this is the soak, which searches for the unexpected, and not the gate. */
export const isSoak = process.env.IDOPS_SOAK !== undefined;

/** What all that is random begins with; `IDOPS_SEED` sets it. The gate has one seed, the soak a new one each time. */
export const seed = Number(process.env.IDOPS_SEED ?? 20_260_131);

/** How many runs a property gets: all of `runs` in the soak; in the gate a fifth, at least five. */
export function often(runs: number): number {
  return isSoak ? runs : Math.min(runs, Math.max(5, Math.ceil(runs / 5)));
}
