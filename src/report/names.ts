import { bare } from '../base/escape.js';

/** An object that is spoken of: its address, and what the server calls it, where that is known and the address doesn't say it. */
export interface Named {
  readonly address: string;
  readonly label?: string | undefined;
}

/** What stands beside an address: ` (ada@acme.example)`; empty where nothing does. Harmless, on one line. */
export function labelBeside({ label }: Pick<Named, 'label'>): string {
  return label === undefined ? '' : ` (${bare(label)})`;
}

/** An object as a line of text names it: `User/4000… (ada@acme.example)`. */
export function nameOf(named: Named): string {
  return `${bare(named.address)}${labelBeside(named)}`;
}
