import { identifierKey } from '../base/identifiers.js';
import type { Place } from '../base/problems.js';
import { type Fields, isMap, mapValues, same, type Value } from '../base/values.js';
import type { Catalog } from './catalog.js';
import { asReference, endOf, idOrName, listsOf, memberKey, partPath, setParts, value } from './fields.js';
import { kindOf } from './index.js';
import type { Declared, Identity, Kind } from './kind.js';
import type { References } from './references.js';

/** Two documents that declare different values for one object. */
export interface Contradiction {
  /** The field, or the key of a map. */
  readonly path: string;
  readonly places: readonly [Place, Place];
  /** The member of a set that the second document removes. */
  readonly removed?: string;
}

/** What each of several documents declares in a field. */
type Parts = readonly { readonly document: Declared; readonly declared: Value }[];

/** A document and the path of a value in it. */
interface Source {
  readonly document: Declared;
  readonly path: readonly (string | number)[];
}

type Sources = Map<string, Source>;

function placeOf({ document, path }: Source): Place {
  return document.places.of(...path);
}

/**
 * Merges several documents about the same object into one; a document about only this object is the first. Sets are joined, maps are
 * merged by key, and other values must be equal. Without `references`, a name may be that of an id. Pure.
 */
export function mergeDocuments(identity: Identity, documents: readonly Declared[], references?: References) {
  const [first] = documents;
  if (first === undefined) throw new Error('no document to merge');
  const kind = kindOf(first.kind);
  const sources: Sources = new Map();
  const contradictions: Contradiction[] = [];
  const fields: Fields = {};
  for (const field of new Set(documents.flatMap(({ fields }) => Object.keys(fields)))) {
    const parts = documents.flatMap((document) => {
      const declared = document.fields[field];
      return declared === undefined ? [] : [{ document, declared }];
    });
    const [one] = parts;
    if (one === undefined) continue;
    sources.set(field, { document: one.document, path: [field] });
    fields[field] =
      parts.length === 1 ? one.declared : mergeField(kind, field, parts, sources, contradictions, references);
  }
  const conditions = documents.flatMap((document) => document.conditions ?? []);
  const sourceOf = (path: readonly (string | number)[]): Source => {
    for (let length = path.length; length > 0; length -= 1) {
      const source = sources.get(path.slice(0, length).join('\0'));
      if (source !== undefined) return { ...source, path: [...source.path, ...path.slice(length)] };
    }
    return { document: first, path };
  };
  const document: Declared = {
    kind: first.kind,
    identity,
    fields,
    absent: first.absent,
    ...(first.creates === undefined ? {} : { creates: first.creates }),
    whole: union(documents.map(({ whole }) => whole)),
    ignored: union(documents.map(({ ignored }) => ignored)),
    ...(conditions.length === 0 ? {} : { conditions }),
    places: {
      get line() {
        return first.places.line;
      },
      of: (...path) => placeOf(sourceOf(path)),
      within: (field, part) => sourceOf([field]).document.places.within(field, part),
      all: (path) =>
        documents.flatMap(({ fields, places }) =>
          Object.entries(fields).flatMap(([field, declared]) => {
            if (field === path) return [places.of(field)];
            const keys = isMap(declared) ? Object.keys(declared) : [];
            const key = keys.find((one) => partPath(field, one) === path);
            return key === undefined ? [] : [places.of(field, key)];
          }),
        ),
    },
  };
  return { document, contradictions };
}

/** The document of one object that a bulk document selects. */
export function documentFor(many: Declared, identity: Identity, condition: Fields | undefined): Declared {
  const { kind, fields, absent, whole, ignored, places } = many;
  const conditions = condition === undefined ? {} : { conditions: [condition] };
  return { kind, identity, fields, absent, whole, ignored, ...conditions, places };
}

function mergeField(
  kind: Kind,
  field: string,
  parts: Parts,
  sources: Sources,
  contradictions: Contradiction[],
  references: References | undefined,
) {
  const { type } = kind.fields[field] ?? value;
  const differs: Differs = (path, one, other, removed) => {
    const places = [placeOf(one), placeOf(other)] as const;
    contradictions.push({ path, places, ...(removed === undefined ? {} : { removed }) });
  };
  if (type === 'set') {
    const name = kind.setLists?.[field];
    const list = references && ((name && references[name]) ?? null);
    const isSame: Same = (one, other) => isSameSet(one, other, list);
    return mergeSets(field, parts, sources, differs, isSame);
  }
  const isPartwise = (type === 'map' || type === 'members') && parts.every(({ declared }) => isMap(declared));
  const merged: Fields = {};
  const seen = new Map<string, Source>();
  for (const { document, declared } of parts) {
    const own: [string, Value][] =
      isPartwise && isMap(declared) ? Object.entries(declared) : [['', declared]];
    for (const [key, wanted] of own) {
      const path = key === '' ? [field] : [field, key];
      const source = { document, path };
      const before = seen.get(key);
      if (before === undefined) {
        seen.set(key, source);
        sources.set(path.join('\0'), source);
        merged[key] = wanted;
      } else if (!same(merged[key] ?? null, wanted)) differs(path.join('.'), before, source);
    }
  }
  return isPartwise ? merged : (merged[''] ?? null);
}

type Same = (one: Value, other: Value) => boolean;

type Differs = (path: string, one: Source, other: Source, removed?: string) => void;

/** The parts of a set that several documents declare. The resolver checks them again after it resolved names. */
function mergeSets(field: string, parts: Parts, sources: Sources, differs: Differs, isSame: Same): Value {
  const merged: { [part: string]: Member[] } = {};
  let whole: { readonly source: Source; readonly list: Value } | undefined;
  for (const { document, declared } of parts) {
    const { whole: own } = setParts(declared);
    if (own !== undefined) {
      const source = { document, path: [field] };
      if (whole === undefined) {
        whole = { source, list: own };
        merged.whole = [];
      } else if (!isSame(whole.list, own)) differs(field, whole.source, source);
      else continue;
    }
    for (const { path, list } of listsOf(declared)) {
      const [part = 'whole'] = path;
      merged[part] ??= [];
      const joining = merged[part];
      list.forEach((element, index) => {
        const source = { document, path: [field, ...path, index] };
        sources.set([field, part, joining.length].join('\0'), source);
        joining.push({ element, source });
      });
    }
  }
  const { remove = [], ...others } = merged;
  const removed = new Map(remove.map(({ element, source }) => [memberKey(element), source]));
  const first = new Map<string | undefined, Member>();
  for (const member of Object.values(others).flat()) {
    const key = memberKey(member.element);
    const other = removed.get(key);
    if (other !== undefined) differs(field, member.source, other, idOrName(member.element));
    const before = first.get(key);
    if (before === undefined) first.set(key, member);
    else if (endOf(before.element) !== endOf(member.element))
      differs(`${field}.until`, before.source, member.source);
  }
  return mapValues(merged, (members) => members.map(({ element }) => element));
}

interface Member {
  readonly element: Value;
  readonly source: Source;
}

/** Whether two declared sets are the same, with the server's list; null if there is none. Without it, they may be the same. */
function isSameSet(one: Value, other: Value, list: Catalog | null | undefined): boolean {
  const [left, right] = [identified(one, list), identified(other, list)];
  const isIn = (set: readonly Fields[], element: Fields): boolean =>
    set.some((two) => isSameMember(two, element, list === undefined));
  const onlyLeft = left.filter((element) => !isIn(right, element));
  const onlyRight = right.filter((element) => !isIn(left, element));
  if (onlyLeft.length === 0 && onlyRight.length === 0) return true;
  const named = (set: readonly Fields[]): number => set.filter(({ id }) => id === undefined).length;
  return (
    list === undefined &&
    onlyLeft.length === onlyRight.length &&
    named(onlyLeft) + named(onlyRight) === onlyLeft.length
  );
}

/** Whether two members are the same. Offline, one with an id may have the name of the other with that id. */
function isSameMember(a: Fields, b: Fields, offline: boolean): boolean {
  if (same(a, b)) return true;
  if (!offline || a.id === undefined || b.id === undefined) return false;
  return (a.name === undefined || b.name === undefined) && same({ ...a, name: null }, { ...b, name: null });
}

/** The members of a declared set, with ids instead of names of a list. */
function identified(set: Value, list: Catalog | null | undefined): Fields[] {
  const members = Array.isArray(set) ? set : [];
  return members.map(asReference).map((element) => {
    const { id, name, ...rest } = element;
    if (typeof id === 'string') {
      const isRight = list?.byId(id)?.name === name;
      return { ...rest, id: identifierKey(id), ...(name === undefined || isRight ? {} : { name }) };
    }
    const row = typeof name === 'string' ? list?.find(name) : undefined;
    return typeof row === 'object' ? { ...rest, id: identifierKey(String(row.id)) } : element;
  });
}

function union(lists: readonly (readonly string[])[]): readonly string[] {
  return [...new Set(lists.flat())];
}
