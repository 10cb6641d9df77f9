import { identifierKey } from '../base/identifiers.js';
import { nearest } from '../base/nearest.js';
import type { Fields } from '../base/values.js';
import type { Page, Parser } from '../server/answers.js';
import type { Reader } from '../server/reader.js';
import type { ExtraRead } from '../server/reads.js';
import { readListing } from './listing.js';

/** Things of the server that others refer to, as their list gave them: found by id or by name. */
export class Catalog {
  protected readonly ids = new Map<string, Fields>();
  protected readonly names = new Map<string, Fields[]>();
  /** Rows without an id: they exist, and nobody can say which things they are. */
  readonly anonymous: number;

  constructor(rows: readonly Fields[]) {
    let anonymous = 0;
    for (const row of rows) {
      if (typeof row.id !== 'string') {
        anonymous += 1;
        continue;
      }
      this.ids.set(identifierKey(row.id), row);
      if (typeof row.name !== 'string') continue;
      const others = this.names.get(row.name);
      if (others === undefined) this.names.set(row.name, [row]);
      else others.push(row);
    }
    this.anonymous = anonymous;
  }

  /** Whether what it doesn't have may be there all the same. */
  get unsure(): boolean {
    return this.anonymous > 0;
  }

  byId(id: string): Fields | undefined {
    return this.ids.get(identifierKey(id));
  }

  byName(name: string): readonly Fields[] {
    return this.names.get(name) ?? [];
  }

  /** A question after the name that a mistyped one may mean; empty if none is near. */
  proposal(name: string): string {
    const near = nearest(name, this.names.keys());
    return near === undefined ? '' : `; did you mean "${near}"?`;
  }
}

/** Reads a list whole, be it in pages; null where the server offers no such list. */
export async function readCatalog(
  name: string,
  read: ExtraRead,
  parse: Parser<Page<Fields>>,
  reader: Pick<Reader, 'listExtra'>,
): Promise<Catalog | null> {
  const rows = await readRows(name, read, parse, reader);
  return rows === null ? null : new Catalog(rows);
}

/** The rows of such a list, as the server gave them. */
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
    // A list that says nothing of pages came whole.
    return {
      ...(page?.totalEntries === undefined ? { totalPages: 1 } : {}),
      ...page,
      rows: page?.rows ?? [],
    };
  });
  return offered ? rows : null;
}
