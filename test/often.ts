/** Whether this is the soak, which looks for unknown bugs, and not the gate. */
export const isSoak = process.env.IDOPS_SOAK !== undefined;

/** The seed of everything random; `IDOPS_SEED` sets it. The gate has a fixed seed, the soak a new one each time. */
export const seed = Number(process.env.IDOPS_SEED ?? 20_260_131);

/** The number of runs of a property: `runs` in the soak; in the gate a fifth, but at least five. */
export function often(runs: number): number {
  return isSoak ? runs : Math.min(runs, Math.max(5, Math.ceil(runs / 5)));
}
