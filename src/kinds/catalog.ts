import { identifierKey } from '../base/identifiers.js';
import { nearest } from '../base/nearest.js';
import type { Fields } from '../base/values.js';
import type { Page, Parser } from '../server/answers.js';
import type { ExtraRead } from '../server/operations.js';
import type { Reader } from '../server/reader.js';
import { readListing } from './listing.js';

/** The rows of a list of the server, found by id or by name. */
export class Catalog {
  protected readonly ids = new Map<string, Fields>();
  protected readonly names = new Map<string, Fields[]>();
  /** How many rows have no id. */
  anonymous = 0;

  /** `called` is the field with the name. */
  constructor(rows: readonly Fields[], called = 'name') {
    for (const row of rows) {
      if (typeof row.id !== 'string') {
        this.anonymous += 1;
        continue;
      }
      this.ids.set(identifierKey(row.id), row);
      const { [called]: name } = row;
      if (typeof name !== 'string') continue;
      const others = this.names.get(name);
      if (others === undefined) this.names.set(name, [row]);
      else others.push(row);
    }
  }

  /** Whether something that isn't found may be one of the rows without an id. */
  get unsure(): boolean {
    return this.anonymous > 0;
  }

  /** The rows with an id. */
  all(): Iterable<Fields> {
    return this.ids.values();
  }

  byId(id: string): Fields | undefined {
    return this.ids.get(identifierKey(id));
  }

  byName(name: string): readonly Fields[] {
    return this.names.get(name) ?? [];
  }

  /** `; did you mean …?`, or nothing. */
  proposal(name: string): string {
    const near = nearest(name, this.names.keys());
    return near === undefined ? '' : `; did you mean "${near}"?`;
  }
}

/** Reads a whole list; null if the server doesn't offer it. */
export async function readCatalog(
  name: string,
  read: ExtraRead,
  parse: Parser<Page<Fields>>,
  reader: Pick<Reader, 'listExtra'>,
  called?: string,
): Promise<Catalog | null> {
  const rows = await readRows(name, read, parse, reader);
  return rows === null ? null : new Catalog(rows, called);
}

export async function readRows(
  name: string,
  read: ExtraRead,
  parse: Parser<Page<Fields>>,
  reader: Pick<Reader, 'listExtra'>,
): Promise<readonly Fields[] | null> {
  let offered = true;
  const rows = await readListing(name, async (number, wanted) => {
    const page = await reader.listExtra(read, number, parse, wanted);
    if (page === null) offered = false;
    // A list without page counts is complete.
    return {
      ...(page?.totalEntries === undefined ? { totalPages: 1 } : {}),
      ...page,
      rows: page?.rows ?? [],
    };
  });
  return offered ? rows : null;
}
