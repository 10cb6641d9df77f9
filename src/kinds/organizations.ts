import { error, ProblemsError } from '../problems.js';
import type { Reader } from '../server/client.js';
import type { Fields } from '../values.js';

/** The organizations of the server as the list gave them, found by id or by name. */
export class OrganizationIndex {
  readonly #byId = new Map<string, Fields>();
  readonly #byName = new Map<string, Fields[]>();
  readonly #formerNames: ReadonlyMap<string, string>;
  /** Rows without an id: they exist, and nobody can say which organizations they are. */
  readonly anonymous: number;

  constructor(rows: readonly Fields[], formerNames: ReadonlyMap<string, string> = new Map()) {
    let anonymous = 0;
    for (const row of rows) {
      if (typeof row.id !== 'string') {
        anonymous += 1;
        continue;
      }
      this.#byId.set(row.id, row);
      if (typeof row.name !== 'string') continue;
      const others = this.#byName.get(row.name);
      if (others === undefined) this.#byName.set(row.name, [row]);
      else others.push(row);
    }
    this.anonymous = anonymous;
    this.#formerNames = formerNames;
  }

  byId(id: string): Fields | undefined {
    return this.#byId.get(id);
  }

  byName(name: string): readonly Fields[] {
    return this.#byName.get(name) ?? [];
  }

  /** The same organizations under the names that they will have after the given renames (id to new name). */
  renamed(names: ReadonlyMap<string, string>): OrganizationIndex {
    const former = new Map<string, string>();
    const rows = [...this.#byId].map(([id, row]) => {
      const name = names.get(id);
      if (name === undefined || name === row.name) return row;
      if (typeof row.name === 'string') former.set(row.name, name);
      return { ...row, name };
    });
    return new OrganizationIndex(rows, former);
  }

  /** The organization that a name or an id stands for, or a sentence that says why there is none. */
  find(reference: string): Fields | string {
    const byId = this.byId(reference);
    return this.#only(reference, byId === undefined ? [] : [byId]);
  }

  /** The same for a name alone. */
  findNamed(name: string): Fields | string {
    return this.#only(name, []);
  }

  #only(reference: string, candidates: readonly Fields[]): Fields | string {
    const found = new Set([...candidates, ...this.byName(reference)]);
    const [only] = found;
    if (only !== undefined && found.size === 1) return only;
    if (found.size > 1) {
      const ids = [...found].map(({ id }) => id).join(', ');
      return `${found.size} organizations are called "${reference}" (${ids}): refer to one by its id`;
    }
    const renamed = this.#formerNames.get(reference);
    if (renamed !== undefined) {
      return `the organization "${reference}" is renamed to "${renamed}": refer to it by its new name`;
    }
    const unsure = this.anonymous > 0 ? ' (its list has rows without an id)' : '';
    return `the server has no organization "${reference}"${unsure}, and no operation creates one: create it there, or correct the name`;
  }
}

/** How many times the list is read again when its ids don't add up. */
const PASSES = 4;
/** Pages that bring nothing new, one after another, before a page count is no longer believed. */
const IDLE_PAGES = 3;
/** More pages than any server has: a list that goes on after it never ends. */
const MOST_PAGES = 100_000;

/**
 * Reads all organizations, page by page: as many pages as `total_pages` says, once each, and all again where
 * the ids don't add up to `total_entries`, since rows can repeat or be skipped while others write.
 * Throws where they still don't, and what the reader throws.
 */
export async function readOrganizations(reader: Reader): Promise<OrganizationIndex> {
  let sum = '';
  for (let pass = 0; pass < PASSES; pass += 1) {
    const { rows, found, total } = await readAllPages(reader);
    if (total === undefined || found === total) return new OrganizationIndex(rows);
    sum = `${found} organizations were listed, total_entries says ${total}`;
  }
  throw new ProblemsError([
    error(
      'unstable-list',
      `the list of organizations does not add up, read ${PASSES} times: ${sum}`,
      [],
      'try again when nobody else is writing',
    ),
  ]);
}

interface Listing {
  readonly rows: readonly Fields[];
  readonly found: number;
  readonly total: number | undefined;
}

async function readAllPages(reader: Reader): Promise<Listing> {
  const byId = new Map<string, Fields>();
  const anonymous: Fields[] = [];
  let total: number | undefined;
  let idle = 0;
  for (let number = 1; number <= MOST_PAGES; number += 1) {
    const page = await reader.listOrganizations(number);
    const before = byId.size;
    for (const row of page.organizations) {
      if (typeof row.id === 'string') byId.set(row.id, row);
      else anonymous.push(row);
    }
    idle = byId.size === before ? idle + 1 : 0;
    total = page.totalEntries ?? total;
    const found = byId.size + anonymous.length;
    const pages = page.totalPages ?? pagesFrom(total, page.pageSize);
    // Without a page count the end shows itself: a page that brings nothing, be it empty or the last one again.
    const done = pages === undefined ? found === total || idle > 0 : number >= pages || idle >= IDLE_PAGES;
    if (done) return { rows: [...byId.values(), ...anonymous], found, total };
  }
  throw new ProblemsError([
    error(
      'unstable-list',
      `the list of organizations has more than ${MOST_PAGES} pages`,
      [],
      'check that base_url is the address of an identity server of this API',
    ),
  ]);
}

function pagesFrom(total: number | undefined, size: number | undefined): number | undefined {
  return total === undefined || !size ? undefined : Math.ceil(total / size);
}
