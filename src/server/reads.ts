import type { Scope } from './operations.js';

/** A GET that the document doesn't have and some servers offer. A profile names it: plain data. */
export interface ExtraRead {
  /** What it does, as an error names it: `show a user`. */
  readonly title: string;
  /** Below the base URL; `:name` segments are parameters. */
  readonly path: string;
  /** How many rows are asked for at a time; the server's own number if left out. */
  readonly pageSize?: number;
  /** The scope that it requires. */
  readonly scope: Scope;
}
