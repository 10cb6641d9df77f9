import { identifierKey, isUuid } from '../base/identifiers.js';
import { nearest } from '../base/nearest.js';
import { appendTo, compareText, type Fields, lazy } from '../base/values.js';
import type { Page, Parser } from '../server/answers.js';
import type { ExtraRead } from '../server/operations.js';
import type { Reader } from '../server/reader.js';
import { textOf } from './fields.js';
import { readListing } from './listing.js';

/** Other names of objects, by id. */
export interface OtherNames {
  /** The live names of objects that the plan renames. */
  readonly live: ReadonlyMap<string, string>;
  /** Names that the state recorded earlier. */
  readonly former: ReadonlyMap<string, readonly string[]>;
  /** The new ids of objects that a run deleted and created again, by the former id. */
  readonly recreated?: ReadonlyMap<string, string>;
}

export interface CatalogOptions {
  /** What the rows are, for messages. */
  readonly noun?: string;
  /** The field with the name. */
  readonly nameField?: string | undefined;
  readonly others?: OtherNames;
  /** Whether documents can create missing objects. */
  readonly creatable?: boolean;
  readonly created?: ReadonlyMap<string, string>;
  readonly deleted?: ReadonlySet<string>;
}

/** How documents change the rows of a list. */
interface ListChanges {
  /** New values of fields, by id. */
  readonly changed?: ReadonlyMap<string, Fields>;
  /** New rows by address. Their ids exist only in the plan. */
  readonly created?: ReadonlyMap<string, Fields>;
  /** The ids of deleted rows. References still find these rows. */
  readonly deleted?: ReadonlySet<string>;
}

/** A list of the server, in which rows are found by id or name. */
export class Catalog {
  readonly #ids = new Map<string, Fields>();
  readonly #names = new Map<string, Fields[]>();
  readonly #options: CatalogOptions;
  readonly #noun: string;
  readonly others: OtherNames;
  /** The addresses of the rows that the plan creates, by their id in the plan. */
  readonly created: ReadonlyMap<string, string>;
  /** The ids of the rows that the plan deletes. */
  readonly deleted: ReadonlySet<string>;
  readonly #inAnyCase = lazy(() => {
    const rows = new Map<string, Fields[]>();
    for (const [name, same] of this.#names) appendTo(rows, name.toLowerCase(), ...same);
    return rows;
  });
  /** How many rows have no id. */
  rowsWithoutId = 0;

  constructor(rows: readonly Fields[], options: CatalogOptions = {}) {
    const { nameField = 'name', others = { live: new Map(), former: new Map() } } = options;
    this.#options = options;
    this.#noun = options.noun ?? 'object';
    this.others = others;
    this.created = options.created ?? new Map();
    this.deleted = options.deleted ?? new Set();
    for (const row of rows) {
      if (typeof row.id !== 'string') {
        this.rowsWithoutId += 1;
        continue;
      }
      this.#ids.set(identifierKey(row.id), row);
      const name = textOf(row[nameField]);
      if (name !== '') appendTo(this.#names, name, row);
    }
  }

  /** Whether an object that isn't found may be one of the rows without an id. */
  get isIncomplete(): boolean {
    return this.rowsWithoutId > 0;
  }

  /** The rows with an id. */
  all(): Iterable<Fields> {
    return this.#ids.values();
  }

  /** The rows with an id, sorted by id. */
  rows(): readonly Fields[] {
    return [...this.#ids].sort(([a], [b]) => compareText(a, b)).map(([, row]) => row);
  }

  byId(id: string): Fields | undefined {
    return this.#ids.get(identifierKey(id));
  }

  /** The row of the object that was, or will be, created again with another id and the same name; undefined if there is none. */
  successor({ id, name }: Fields): Fields | undefined {
    if (typeof id !== 'string' || this.byId(id) !== undefined) return undefined;
    const row = this.byId(this.others.recreated?.get(identifierKey(id)) ?? '');
    return row?.name === name ? row : undefined;
  }

  byName(name: string): readonly Fields[] {
    return this.#names.get(name) ?? [];
  }

  /** The rows with a name, whatever its letter case. */
  byNameIgnoringCase(name: string): readonly Fields[] {
    return this.#inAnyCase().get(name.toLowerCase()) ?? [];
  }

  /** The rows with a name, and those that have it until the plan renames them. */
  byNameOrLiveName(name: string): readonly Fields[] {
    return [...new Set([...this.byName(name), ...this.#rowsNamed(name, this.others.live)])];
  }

  /** `; did you mean …?`, or nothing. */
  suggestion(name: string): string {
    const { nameField = 'name' } = this.#options;
    const shown = [...this.#ids.values()].flatMap(({ [nameField]: one }) =>
      typeof one === 'string' ? [one] : [],
    );
    const near = nearest(name, shown);
    return near === undefined ? '' : `; did you mean "${near}"?`;
  }

  /** The list as it is after the plan. */
  afterPlan(
    { changed = new Map(), created = new Map(), deleted = new Set() }: ListChanges,
    others: OtherNames = this.others,
  ): Catalog {
    if (changed.size + created.size + deleted.size === 0 && others === this.others) return this;
    const live = new Map(others.live);
    const given = new Map([...changed].map(([id, change]) => [identifierKey(id), change]));
    const rows = [...this.#ids].map(([id, row]) => {
      const change = given.get(id);
      if (change === undefined) return row;
      const next = { ...row, ...change };
      const [name, planned] = [textOf(row.name), textOf(next.name)];
      if (name !== '' && planned !== '' && planned !== name) live.set(id, name);
      return next;
    });
    const added = [...created].map(([address, row]) => [identifierKey(String(row.id)), address] as const);
    const after = new Catalog([...rows, ...created.values()], {
      ...this.#options,
      others: { ...others, live },
      created: new Map([...this.created, ...added]),
      deleted: new Set([...this.deleted, ...deleted]),
    });
    after.rowsWithoutId += this.rowsWithoutId;
    return after;
  }

  /**
   * Checks a name that is declared together with an id: `right` for the live or the planned name, `stale` for a former name that no
   * other object has, otherwise `wrong`.
   */
  checkName(id: string, name: string): 'right' | 'stale' | 'wrong' {
    const { live, former } = this.others;
    const key = identifierKey(id);
    const called = textOf(this.#ids.get(key)?.name);
    if (called === '' || called === name || live.get(key) === name) return 'right';
    const isHeld = this.byName(name).length > 0 || [...live.values()].includes(name);
    return !isHeld && former.get(key)?.includes(name) === true ? 'stale' : 'wrong';
  }

  /** The live name of an object, before this plan. */
  liveName(id: string): string | undefined {
    const key = identifierKey(id);
    const name = this.others.live.get(key) ?? this.#ids.get(key)?.name;
    return typeof name === 'string' ? name : undefined;
  }

  /** The row of `{id}` or `{name}`, or why there is none; undefined if it may be one of the rows without an id. */
  lookUp({ id, name }: Fields): Fields | string | undefined {
    if (typeof id !== 'string') return this.findNamed(String(name));
    const row = this.byId(id);
    return row !== undefined || this.isIncomplete ? row : this.noSuchId(id);
  }

  /** The row with a name or an id, or why there is none. */
  find(reference: string): Fields | string {
    const byId = this.byId(reference);
    return this.#single(reference, byId === undefined ? [] : [byId]);
  }

  /** The row with a name, or why there is none. */
  findNamed(name: string): Fields | string {
    return this.#single(name, []);
  }

  /** Whether the server certainly has no object with a name. */
  lacksName(name: string): boolean {
    return (
      !this.isIncomplete &&
      this.byNameOrLiveName(name).length === 0 &&
      this.#rowsNamed(name, this.#former()).length === 0
    );
  }

  #single(reference: string, candidates: readonly Fields[]): Fields | string {
    const found = new Set([...candidates, ...this.byNameOrLiveName(reference)]);
    const [only] = found;
    if (only !== undefined && found.size === 1) return only;
    if (found.size > 1) {
      const ids = [...found].map(({ id }) => id).join(', ');
      return `${found.size} ${this.#noun}s are called "${reference}" (${ids}): refer to one by its id`;
    }
    const [renamed] = this.#rowsNamed(reference, this.#former());
    if (renamed !== undefined)
      return `the ${this.#noun} "${reference}" is called "${String(renamed.name)}" now: refer to it by that name`;
    return `${this.noSuchObject(reference)}${this.suggestion(reference)}`;
  }

  /** The message that there is no row with a name or an id, and what to do. */
  noSuchObject(reference: string): string {
    const unsure = this.isIncomplete ? ' (its list has rows without an id)' : '';
    return this.#noSuch(`"${reference}"${unsure}`, isUuid(reference) ? 'id' : 'name');
  }

  #former(): Iterable<readonly [string, string]> {
    return [...this.others.former].flatMap(([id, names]) => names.map((name) => [id, name] as const));
  }

  #rowsNamed(name: string, names: Iterable<readonly [string, string]>): Fields[] {
    return [...names].flatMap(([id, one]) => {
      const row = this.#ids.get(id);
      return one === name && row !== undefined ? [row] : [];
    });
  }

  /** The message that there is no row with an id, and what to do. */
  noSuchId(id: string): string {
    const now = this.others.recreated?.get(identifierKey(id));
    return now === undefined
      ? this.#noSuch(`with the id ${id}`, 'id')
      : `the ${this.#noun} with the id ${id} was deleted and created again with the id ${now}: use that one`;
  }

  #noSuch(which: string, what: 'id' | 'name'): string {
    return noSuchObjectMessage(this.#noun, which, what, this.#options.creatable === true);
  }
}

/** The message that the server has no such object, and what to do. */
export function noSuchObjectMessage(
  noun: string,
  which: string,
  what: 'id' | 'name',
  creatable: boolean,
): string {
  const none = `the server has no ${noun} ${which}`;
  return creatable
    ? `${none}: correct the ${what}, or declare the ${noun} with "create: true"`
    : `${none}, and no operation creates one: create it there, or correct the ${what}`;
}

/** Reads the rows of a whole list; null if the server doesn't offer it. */
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
