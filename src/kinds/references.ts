import type { Fields } from '../base/values.js';
import { type Page, type Parser, pages } from '../server/answers.js';
import type { Reader } from '../server/reader.js';
import type { ExtraRead } from '../server/reads.js';
import { readListing } from './listing.js';
import type { OrganizationIndex } from './organizations.js';

/** The lists in which references of manifests are looked up. */
export type ListName = 'organizations' | CatalogName;

/** Those of them that the document doesn't have, so that a profile has to name their reads. */
export type CatalogName = (typeof catalogNames)[number];

export const catalogNames = ['scopes', 'roles'] as const;

/** The lists that were read. One that isn't there wasn't needed, or the profile has no read for it. */
export interface References {
  readonly organizations?: OrganizationIndex;
  /** Null where the profile has a read for it and the server doesn't offer it. */
  readonly scopes?: Catalog | null;
  readonly roles?: Catalog | null;
}

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

const rowsOf: { readonly [name in CatalogName]: Parser<Page<Fields>> } = {
  scopes: pages.scope,
  roles: pages.role,
};

/** Reads a list whole, be it in pages; null where the server offers no such list. */
export async function readCatalog(
  name: CatalogName,
  read: ExtraRead,
  reader: Pick<Reader, 'listExtra'>,
): Promise<Catalog | null> {
  let offered = true;
  const rows = await readListing(name, async (number) => {
    const page = await reader.listExtra(read, number, rowsOf[name]);
    if (page === null) offered = false;
    // A list that says nothing of pages came whole.
    return {
      ...(page?.totalEntries === undefined ? { totalPages: 1 } : {}),
      ...page,
      rows: page?.rows ?? [],
    };
  });
  return offered ? new Catalog(rows) : null;
}
