import { type Fields, isMap, mapValues, type Value } from '../base/values.js';
import { wrongNameMessage } from './by-name.js';
import type { Catalog } from './catalog.js';
import {
  asElements,
  asReference,
  elementKey,
  idsIn,
  instantOf,
  listsOf,
  sendableFields,
  textOf,
} from './fields.js';
import type { ResolveContext, Resolved } from './kind.js';
import { type ListName, nounOf } from './references.js';

/** How the members of a set are looked up. `joined` means that several lists of one set are looked up. */
export interface SetLookup {
  readonly noun: string;
  lookUp(list: readonly Value[], joined: boolean): LookupResult;
}

export interface LookupResult {
  readonly elements: readonly Fields[];
  readonly reasons: readonly string[];
  /** Whether a list of the server confirmed every name. */
  readonly confirmed: boolean;
  readonly warnings?: readonly string[];
}

/** The fields with the members of declared sets resolved. */
export function resolveSets(
  fields: Fields,
  lookups: { readonly [field: string]: SetLookup },
  { locationOf }: ResolveContext,
): Resolved {
  const resolved: Fields = { ...fields };
  const reasons: string[] = [];
  const confirmed: string[] = [];
  const warnings: Resolved['warnings'][number][] = [];
  for (const [field, { noun, lookUp }] of Object.entries(lookups)) {
    const { [field]: declared } = fields;
    const found = listsOf(declared).map(({ path, list }) => ({ path, ...lookUp(list, isMap(declared)) }));
    const [only] = found;
    if (only === undefined) continue;
    reasons.push(...found.flatMap((one) => one.reasons));
    for (const message of found.flatMap((one) => one.warnings ?? []))
      warnings.push({ code: 'stale-name', message, field });
    if (found.every((one) => one.confirmed)) confirmed.push(field);
    if (Array.isArray(declared)) resolved[field] = [...only.elements];
    else {
      const parts = Object.fromEntries(found.map(({ path, elements }) => [path[0] ?? '', elements]));
      reasons.push(...contradictions(field, noun, parts, locationOf));
      // Several documents may declare the same element.
      resolved[field] = mapValues(parts, (all) => [
        ...new Map(all.map((one) => [elementKey(one), one])).values(),
      ]);
    }
  }
  return { fields: resolved, reasons: [...new Set(reasons)], confirmed, warnings };
}

/**
 * Looks up the members of a field in a list of the server. A document's names must be those of the server. `live` tells whether the present
 * members are live.
 */
export function inList(
  field: string,
  name: ListName,
  { present, isDeclared, references }: ResolveContext,
  live = true,
): SetLookup {
  const noun = nounOf(name);
  const { [name]: catalog } = references;
  // Without a list, only an empty set has confirmed names.
  if (catalog == null) {
    const isEmpty = (list: readonly Value[]) => live && catalog === undefined && list.length === 0;
    return {
      noun,
      lookUp: (list) => ({ elements: list.map(asReference), reasons: [], confirmed: isEmpty(list) }),
    };
  }
  // The server certainly has the object's present elements.
  const own = asElements(present[field]);
  const strict = isDeclared(field);
  // A shared name is ambiguous, in removals too.
  const isShared = (name: string): boolean => catalog.byName(name).length > 1;
  const byId = (id: string): Fields | string | undefined => {
    const row = catalog.byId(id) ?? own.find((one) => one.id === id);
    // It may be a row without an id.
    if (row !== undefined || catalog.isIncomplete) return row;
    if (!strict) return `the server has no ${noun} with the id ${id} any more, so it can't be restored`;
    return catalog.noSuchId(id);
  };
  const byName = (name: string): Fields | string => {
    const listed = catalog.byNameOrLiveName(name);
    const found = listed.length > 0 ? listed : own.filter((one) => one.name === name);
    const ids = [...new Set(idsIn(found))];
    const [row] = found;
    if (row !== undefined && ids.length === 1) return row;
    if (ids.length > 1)
      return `${ids.length} ${noun}s are called "${name}" (${ids.join(', ')}): refer to one by its id`;
    const unsure = catalog.isIncomplete ? ' (its list has rows without an id)' : '';
    if (!strict) return `the server has no ${noun} "${name}"${unsure} any more, so it can't be restored`;
    return String(catalog.findNamed(name));
  };
  return {
    noun,
    // If lists are joined, only the declared members are managed.
    lookUp(list, joined) {
      const reasons: string[] = [];
      let confirmed = joined || own.every(({ name }) => typeof name !== 'string' || !isShared(name));
      const elements = list.map(asReference).map((element) => {
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
    },
  };
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
