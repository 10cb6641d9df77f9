import { type Fields, isMap, mapValues, type Value } from '../base/values.js';
import { wrongNameMessage } from './by-name.js';
import type { Catalog } from './catalog.js';
import { asElements, asReference, elementKey, instantOf, listsOf, sendableFields, textOf } from './fields.js';
import type { ResolveContext, Resolved } from './kind.js';
import { type ListName, nounOf } from './references.js';

/** Resolves the members of sets in the lists of the server. */
export class SetResolver {
  readonly #context: ResolveContext;
  /** Whether the present members are live. */
  readonly #live: boolean;
  readonly #resolved: Fields;
  readonly #reasons: string[] = [];
  readonly #confirmed: string[] = [];
  readonly #warnings: Resolved['warnings'][number][] = [];

  constructor(fields: Fields, context: ResolveContext, live: boolean) {
    this.#context = context;
    this.#live = live;
    this.#resolved = { ...fields };
  }

  get result(): Resolved {
    return {
      fields: this.#resolved,
      reasons: [...new Set(this.#reasons)],
      confirmed: this.#confirmed,
      warnings: this.#warnings,
    };
  }

  warn(field: string, message: string): void {
    this.#warnings.push({ code: 'stale-name', message, field });
  }

  /** Resolves each list of a declared set with `lookUp`. */
  resolve(
    field: string,
    noun: string,
    lookUp: (list: readonly Value[], joined: boolean) => LookupResult,
  ): void {
    const { [field]: declared } = this.#resolved;
    const found = listsOf(declared).map(({ path, list }) => ({ path, ...lookUp(list, isMap(declared)) }));
    if (found.length === 0) return;
    this.#reasons.push(...found.flatMap((one) => one.reasons));
    if (found.every(({ confirmed }) => confirmed)) this.#confirmed.push(field);
    const [only] = found;
    if (Array.isArray(declared)) this.#resolved[field] = only?.elements ?? [];
    else {
      const parts: { [part: string]: Fields[] } = {};
      for (const { path, elements } of found) parts[path[0] ?? ''] = elements;
      this.#reasons.push(...contradictions(field, noun, parts, this.#context.locationOf));
      // Several documents may declare the same element.
      const once = (all: readonly Fields[]) => [
        ...new Map(all.map((one) => [elementKey(one), one])).values(),
      ];
      this.#resolved[field] = mapValues(parts, once);
    }
  }

  /** Resolves a set in a list of the server. */
  resolveFromList(field: string, name: ListName): void {
    const { present, isDeclared, references } = this.#context;
    const own = asElements(present[field]);
    const search = { catalog: references[name], noun: nounOf(name), own, strict: isDeclared(field) };
    this.resolve(field, search.noun, (list, joined) => this.#findAll(list.map(asReference), joined, search));
  }

  /**
   * `own` are the object's present elements, which the server certainly has. With `byMember`, only the declared ones are managed. `strict`
   * refuses names that differ from those of the server.
   */
  #findAll(list: readonly Fields[], byMember: boolean, { catalog, noun, own, strict }: Search): LookupResult {
    // Without a list, only an empty set has confirmed names.
    if (catalog == null) {
      return {
        elements: [...list],
        reasons: [],
        confirmed: this.#live && catalog === undefined && list.length === 0,
      };
    }
    // A shared name is ambiguous, in removals too.
    const isShared = (name: string): boolean => catalog.byName(name).length > 1;
    const reasons: string[] = [];
    let confirmed = byMember || own.every(({ name }) => typeof name !== 'string' || !isShared(name));
    const elements = list.map((element) => {
      const successor = strict ? undefined : catalog.successor(element);
      const row =
        successor ?? (typeof element.id === 'string' ? byId(element.id) : byName(String(element.name)));
      if (typeof row === 'string') {
        reasons.push(row);
        return element;
      }
      if (typeof row?.name !== 'string' || isShared(row.name)) confirmed = false;
      if (row === undefined) return element;
      const misnamed = strict ? nameConflict(noun, element, row, catalog) : undefined;
      if (misnamed !== undefined) reasons.push(misnamed);
      return asOnServer(element, row, own);
    });
    return { elements, reasons, confirmed };

    function byId(id: string): Fields | string | undefined {
      const row = catalog?.byId(id) ?? own.find((one) => one.id === id);
      // It may be a row without an id.
      if (row !== undefined || catalog?.isIncomplete === true) return row;
      if (!strict) return `the server has no ${noun} with the id ${id} any more, so it can't be restored`;
      return `${catalog?.noSuchId(id)}`;
    }

    function byName(name: string): Fields | string {
      const listed = catalog?.byNameOrLiveName(name) ?? [];
      const found = listed.length > 0 ? listed : own.filter((one) => one.name === name);
      const ids = [...new Set(found.flatMap(({ id }) => (typeof id === 'string' ? [id] : [])))];
      const [row] = found;
      if (row !== undefined && ids.length === 1) return row;
      if (ids.length > 1)
        return `${ids.length} ${noun}s are called "${name}" (${ids.join(', ')}): refer to one by its id`;
      const unsure = catalog?.isIncomplete === true ? ' (its list has rows without an id)' : '';
      if (!strict) return `the server has no ${noun} "${name}"${unsure} any more, so it can't be restored`;
      return String(catalog?.findNamed(name));
    }
  }
}

type Parts = { readonly [part: string]: readonly Fields[] };

/** The messages about members that are both declared and removed, and about members with two ends. */
function contradictions(
  field: string,
  noun: string,
  parts: Parts,
  at: ResolveContext['locationOf'],
): string[] {
  const { remove = [], ...others } = parts;
  const removed = new Map(remove.map((element, index) => [elementKey(element), index]));
  const first = new Map<string, { readonly until: string | undefined; readonly place: string }>();
  const twice: string[] = [];
  const both: string[] = [];
  for (const [part, elements] of Object.entries(others)) {
    for (const [index, element] of elements.entries()) {
      const key = elementKey(element);
      const called = `the ${noun} "${String(element.name ?? element.id)}"`;
      const place = at(field, part, index);
      const other = removed.get(key);
      if (other !== undefined)
        both.push(
          `${called} is declared at ${place} and removed at ${at(field, 'remove', other)}: remove one of the two`,
        );
      if (part === 'stay') continue;
      const until = instantOf(element.until);
      const before = first.get(key);
      if (before === undefined) first.set(key, { until, place });
      else if (before.until !== until)
        twice.push(`${called} ends differently at ${before.place} and ${place}: declare one end`);
    }
  }
  return [...twice, ...both];
}

export interface LookupResult {
  readonly elements: Fields[];
  readonly reasons: readonly string[];
  /** Whether a list of the server confirmed every name. */
  readonly confirmed: boolean;
}

interface Search {
  readonly catalog: Catalog | null | undefined;
  readonly noun: string;
  readonly own: readonly Fields[];
  readonly strict: boolean;
}

function nameConflict(noun: string, { id, name }: Fields, row: Fields, catalog: Catalog): string | undefined {
  const called = textOf(row.name);
  if (typeof name !== 'string' || called === '' || name === called) return undefined;
  // While a plan renames an object, both names are accepted.
  const isListed = catalog.byId(String(row.id)) !== undefined;
  if (isListed && catalog.checkName(String(row.id), name) === 'right') return undefined;
  return wrongNameMessage(noun, String(id), catalog.liveName(String(row.id)) ?? String(row.name), name);
}

/**
 * An element as the server shows it. The server decides the scopes of a role and `public` of a scope, whatever is declared.
 */
function asOnServer(element: Fields, row: Fields, own: readonly Fields[]): Fields {
  const { scopes: _, ...declared } = element;
  const isNew = !own.some(({ id }) => id === row.id);
  return {
    ...declared,
    ...(declared.public !== undefined && row.public !== undefined ? { public: row.public } : {}),
    ...(isNew && row.scopes !== undefined ? { scopes: row.scopes } : {}),
    ...sendableFields(row, ['id']),
    ...(typeof row.name === 'string' ? { name: row.name } : {}),
  };
}
