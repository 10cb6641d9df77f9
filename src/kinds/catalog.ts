import type { Fields } from '../base/values.js';
import type { Page, Parser } from '../server/answers.js';
import type { Reader } from '../server/reader.js';
import type { ExtraRead } from '../server/reads.js';
import { readListing } from './listing.js';

/** Things of the server that others refer to, as their list gave them: found by id or by name. */
export class Catalog {
  readonly #byId = new Map<string, Fields>();
  readonly #byName = new Map<string, Fields[]>();
  /** Whether it has rows without an id: they exist, and nobody can say which things they are. */
  readonly unsure: boolean;

  constructor(rows: readonly Fields[]) {
    let unsure = false;
    for (const row of rows) {
      if (typeof row.id !== 'string') {
        unsure = true;
        continue;
      }
      this.#byId.set(row.id, row);
      if (typeof row.name !== 'string') continue;
      const others = this.#byName.get(row.name);
      if (others === undefined) this.#byName.set(row.name, [row]);
      else others.push(row);
    }
    this.unsure = unsure;
  }

  byId(id: string): Fields | undefined {
    return this.#byId.get(id);
  }

  byName(name: string): readonly Fields[] {
    return this.#byName.get(name) ?? [];
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
