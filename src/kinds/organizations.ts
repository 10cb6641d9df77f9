import { identifierKey, isUuid } from '../base/identifiers.js';
import { compareText, type Fields } from '../base/values.js';
import type { Reader } from '../server/reader.js';
import { Catalog } from './catalog.js';
import type { Declared } from './declared.js';
import { readListing } from './listing.js';

/** Other names of organizations, by id. */
export interface OtherNames {
  /** The live names of those that the plan renames. */
  readonly present: ReadonlyMap<string, string>;
  /** Formerly recorded names. */
  readonly former: ReadonlyMap<string, readonly string[]>;
}

/** The organizations of the server, found by id or by name. */
export class OrganizationIndex extends Catalog {
  readonly others: OtherNames;

  constructor(rows: readonly Fields[], others: OtherNames = { present: new Map(), former: new Map() }) {
    super(rows);
    this.others = others;
  }

  /** Those with an id, in the order of ids. */
  rows(): readonly Fields[] {
    return [...this.ids].sort(([a], [b]) => compareText(a, b)).map(([, row]) => row);
  }

  /** The organizations after changes of names and labels, by id. */
  changed(
    changes: ReadonlyMap<string, { readonly name?: string; readonly label?: string | null }>,
    others: OtherNames = this.others,
  ): OrganizationIndex {
    const present = new Map(others.present);
    const given = new Map([...changes].map(([id, change]) => [identifierKey(id), change]));
    const rows = [...this.ids].map(([id, row]) => {
      const change = given.get(id);
      if (change === undefined) return row;
      const next = { ...row, ...change };
      if (typeof row.name === 'string' && typeof next.name === 'string' && next.name !== row.name)
        present.set(id, row.name);
      return next;
    });
    return new OrganizationIndex(rows, { ...others, present });
  }

  /**
   * Checks a name beside an id: `right` if it is the live or the planned name; `stale` if it is a former name that no other
   * organization has; otherwise `wrong`.
   */
  checkName(id: string, name: string): 'right' | 'stale' | 'wrong' {
    const { present, former } = this.others;
    const key = identifierKey(id);
    const called = this.ids.get(key)?.name;
    if (called === undefined || called === name || present.get(key) === name) return 'right';
    const isHeld = this.byName(name).length > 0 || [...present.values()].includes(name);
    return !isHeld && former.get(key)?.includes(name) === true ? 'stale' : 'wrong';
  }

  /** The live name of an organization, before this plan. */
  presentName(id: string): string | undefined {
    const key = identifierKey(id);
    const name = this.others.present.get(key) ?? this.ids.get(key)?.name;
    return typeof name === 'string' ? name : undefined;
  }

  /** The organization of a name or an id, or why there is none. */
  find(reference: string): Fields | string {
    const byId = this.byId(reference);
    return this.#only(reference, byId === undefined ? [] : [byId]);
  }

  /** The organization of a name, or why there is none. */
  findNamed(name: string): Fields | string {
    return this.#only(name, []);
  }

  #only(reference: string, candidates: readonly Fields[]): Fields | string {
    const named = (names: Iterable<readonly [string, unknown]>): Fields[] =>
      [...names].flatMap(([id, name]) => {
        const row = this.ids.get(id);
        return name === reference && row !== undefined ? [row] : [];
      });
    const direct = [...candidates, ...this.byName(reference)];
    // If the plan renames it, its live name finds it too, unless another one gets that name.
    const found = new Set(direct.length > 0 ? direct : named(this.others.present));
    const [only] = found;
    if (only !== undefined && found.size === 1) return only;
    if (found.size > 1) {
      const ids = [...found].map(({ id }) => id).join(', ');
      return `${found.size} organizations are called "${reference}" (${ids}): refer to one by its id`;
    }
    const former = [...this.others.former].flatMap(([id, names]) => names.map((name) => [id, name] as const));
    const [renamed] = named(former);
    if (renamed !== undefined) {
      return `the organization "${reference}" is called "${String(renamed.name)}" now: refer to it by that name`;
    }
    const unsure = this.unsure ? ' (its list has rows without an id)' : '';
    const lack = lacks(`"${reference}"${unsure}`, isUuid(reference) ? 'id' : 'name');
    return `${lack}${this.proposal(reference)}`;
  }

  lacksId(id: string): string {
    return lacks(`with the id ${id}`, 'id');
  }
}

function lacks(which: string, what: 'id' | 'name'): string {
  return `the server has no organization ${which}, and no operation creates one: create it there, or correct the ${what}`;
}

/** Reads all organizations. Throws if the list doesn't add up. */
export async function readOrganizations(reader: Reader): Promise<OrganizationIndex> {
  const rows = await readListing('organizations', (number, wanted) =>
    reader.listOrganizations(number, wanted),
  );
  return new OrganizationIndex(rows);
}

/** The organizations after applying documents. */
export function changedBy(
  organizations: OrganizationIndex,
  declared: readonly Declared[],
  others: OtherNames,
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
  return organizations.changed(new Map(changes), others);
}
