/**
 * What a turn of `watch` came to:
 * - `unchanged`: all is as declared.
 * - `changes`: something is not as declared, and nothing was to be applied.
 * - `drift`: something was changed on the server since idops last knew it, and nothing was to be applied.
 * - `applied`: what was not as declared is so now.
 * - `refused`: the plan may not be applied: something is blocked, or it destroys more than is allowed.
 * - `failed`: there is no plan, or not all of it could be applied.
 * - `interrupted`: it was ended before it was done.
 */
export const outcomes = [
  'unchanged',
  'changes',
  'drift',
  'applied',
  'refused',
  'failed',
  'interrupted',
] as const;

export type Outcome = (typeof outcomes)[number];
