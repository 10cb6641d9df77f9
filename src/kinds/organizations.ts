import { compareText, type Fields, identifierKey, isUuid } from '../base/values.js';
import type { Reader } from '../server/reader.js';
import { Catalog } from './catalog.js';
import type { Declared } from './declared.js';
import { readListing } from './listing.js';

/** The organizations of the server as the list gave them, found by id or by name. */
export class OrganizationIndex extends Catalog {
  readonly #formerNames: ReadonlyMap<string, string>;

  constructor(rows: readonly Fields[], formerNames: ReadonlyMap<string, string> = new Map()) {
    super(rows);
    this.#formerNames = formerNames;
  }

  /** Those that have an id, in the order of their ids, which a list that writes reorder doesn't have. */
  rows(): readonly Fields[] {
    return [...this.ids].sort(([a], [b]) => compareText(a, b)).map(([, row]) => row);
  }

  /** The same organizations with the names and labels that they will have, by their ids. */
  changed(
    changes: ReadonlyMap<string, { readonly name?: string; readonly label?: string | null }>,
  ): OrganizationIndex {
    const former = new Map<string, string>();
    const given = new Map([...changes].map(([id, change]) => [identifierKey(id), change]));
    const rows = [...this.ids].map(([id, row]) => {
      const change = given.get(id);
      if (change === undefined) return row;
      const next = { ...row, ...change };
      if (typeof row.name === 'string' && typeof next.name === 'string' && next.name !== row.name)
        former.set(row.name, next.name);
      return next;
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
    const unsure = this.unsure ? ' (its list has rows without an id)' : '';
    const lack = lacks(`"${reference}"${unsure}`, isUuid(reference) ? 'id' : 'name');
    return `${lack}${this.proposal(reference)}`;
  }

  /** A sentence that says that there is no organization with an id. */
  lacksId(id: string): string {
    return lacks(`with the id ${id}`, 'id');
  }
}

function lacks(which: string, what: 'id' | 'name'): string {
  return `the server has no organization ${which}, and no operation creates one: create it there, or correct the ${what}`;
}

/**
 * Reads all organizations, page by page.
 * Throws where the list doesn't add up, and what the reader throws.
 */
export async function readOrganizations(reader: Reader): Promise<OrganizationIndex> {
  const rows = await readListing('organizations', (number, wanted) =>
    reader.listOrganizations(number, wanted),
  );
  return new OrganizationIndex(rows);
}

/** The same organizations as documents will have made them: what refers to them is written afterwards. */
export function changedBy(
  organizations: OrganizationIndex,
  declared: readonly Declared[],
): OrganizationIndex {
  const changes = declared.flatMap(({ kind, identity, fields }) => {
    if (kind !== 'Organization') return [];
    const { id: given, name: called = '' } = identity;
    const found = given === undefined ? organizations.findNamed(called) : organizations.byId(given);
    if (found === undefined || typeof found === 'string') return [];
    const { name, label } = fields;
    const change = {
      ...(given !== undefined && typeof name === 'string' ? { name } : {}),
      ...(typeof label === 'string' || label === null ? { label } : {}),
    };
    return Object.keys(change).length === 0 ? [] : [[String(found.id), change] as const];
  });
  return organizations.changed(new Map(changes));
}
