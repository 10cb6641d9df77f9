/** Columns below which folding helps nobody. */
const LEAST = 20;

/**
 * How wide a stream's terminal is, for which lines are folded: by its own word, or by COLUMNS where it has none. Undefined where
 * lines are kept or read by programs: in files, in pipes and in the logs of CI, even of one that pretends to be a terminal.
 */
export function columnsOf(
  { isTTY, columns }: { readonly isTTY?: boolean; readonly columns?: number },
  env: { readonly [name: string]: string | undefined },
): number | undefined {
  if (env.CI) return undefined;
  const told = /^[1-9]\d{0,4}$/.test(env.COLUMNS ?? '') ? Number(env.COLUMNS) : undefined;
  // A terminal that doesn't know its width says 0.
  const width = isTTY === true ? columns || told || 80 : told;
  return width === undefined ? undefined : Math.max(LEAST, width);
}
