import { plannedId, sameIdentifier } from '../base/identifiers.js';
import {
  assign,
  type Fields,
  groupBy,
  isMap,
  mapValues,
  Sensitive,
  type Value,
  withoutUndefined,
} from '../base/values.js';
import { firstFew } from '../base/words.js';
import { desired } from '../kinds/desired.js';
import { asElements, compareField, type FieldTypes, isBlank, isNullOrEmpty, value } from '../kinds/fields.js';
import { addressOf, kindOf } from '../kinds/index.js';
import type { Declared, Identity, KindName, Live } from '../kinds/kind.js';
import { deletionRefusal, usesOf } from '../kinds/lifecycle.js';
import { listNames, type References } from '../kinds/references.js';
import type { Profile } from '../server/profiles.js';
import { declaredPlaces, fieldChange } from './field-changes.js';
import { blockedFor, type Change, type FieldChange } from './plan.js';
import type { Subject } from './subjects.js';

/** Why an object can't be found. If a run created it again, the message has the new id. */
export function notFoundReason(live: Live | undefined, replacedBy: string | undefined): string | undefined {
  if (live?.reason === undefined) return undefined;
  if (live.exists || replacedBy === undefined) return `${live.reason}${live.suggestion?.() ?? ''}`;
  return `${live.reason}; it was deleted and created again with the id ${replacedBy}: declare that one`;
}

/** A new object, and functions that build its change. */
interface NewObject {
  readonly declared: Declared;
  readonly references: References;
  /** The id of a creation with an unknown outcome in an earlier run. */
  readonly creating?: string | undefined;
  readonly resolved: Fields;
  readonly confirmed: readonly string[];
  base(expected: Fields): Change;
  blocked(reason: string): Change;
}

/** The creation of an object that the server doesn't have. */
export function createChange(given: NewObject): Change {
  const { declared, references, creating, resolved, confirmed, base, blocked } = given;
  const kind = kindOf(declared.kind);
  const { creation } = kind;
  const { identity } = declared;
  if (creation === undefined) return blocked(`no operation creates a ${kind.noun}`);
  if (identity.id !== undefined && creation.idRefusal !== undefined) return blocked(creation.idRefusal);
  const other = namesake(declared, references);
  if (other !== undefined)
    return blocked(
      `the server has another ${kind.noun} "${identity.name}", with the id ${String(other.id)}: declare that id, or another name`,
    );
  const wanted = mapValues(
    resolved,
    (asked, field) => desired(kind.fields[field] ?? value, asked, null, true) ?? null,
  );
  const lacks = creation.required.flatMap((need) => {
    const all = [need].flat();
    const isGiven = (field: string): boolean => {
      const given = wanted[field] ?? identity[field] ?? null;
      return !isNullOrEmpty(given) && !isBlank(given);
    };
    return all.some(isGiven) ? [] : all.slice(0, 1);
  });
  if (lacks.length > 0) {
    return blocked(
      `a new ${kind.noun} needs ${lacks.join(' and ')}: declare ${lacks.length === 1 ? 'it' : 'them'}`,
    );
  }
  const { fields, warnings = [], reason } = creation.prepare(identity, wanted, references);
  if (reason !== undefined) return blocked(reason);
  const planned = identity.id === undefined ? plannedId(addressOf(declared.kind, identity)) : undefined;
  const chosen = planned === undefined ? identity : assign(identity, { id: planned });
  const { createOnly = [] } = creation;
  const change = base(
    Object.fromEntries(Object.entries(fields).filter(([field]) => !createOnly.includes(field))),
  );
  const parts = Object.entries(fields).flatMap(([field, goal]) =>
    compareField(kind.fields[field] ?? value, field, goal, null),
  );
  const changes = parts
    .filter(({ verdict }) => verdict !== 'same')
    .map((part) => ({
      ...fieldChange(part, undefined),
      was: 'new' as const,
      ...declaredPlaces(declared, part),
      ...(confirmed.includes(part.path) ? { confirmed: true } : {}),
    }));
  return {
    ...change,
    action: 'create',
    warnings: [...change.warnings, ...warnings],
    requests: [creation.request(chosen, fields), ...(creation.followUps?.(chosen.id ?? '', fields) ?? [])],
    fields: [...backendField(identity, references), ...changes],
    destructions: kind.destructions?.(changes) ?? [],
    apply: {
      ...change.apply,
      identity: creation.acceptsId ? chosen : identity,
      existed: false,
      ...withoutUndefined({ plannedId: planned, chosenId: creating, replaces: declared.replaces }),
    },
  };
}

/** The backend of a new object as a field, since its address doesn't contain it. */
function backendField({ backend }: Identity, { backends }: References): FieldChange[] {
  if (backend === undefined) return [];
  const { name = backend } = backends?.byId(backend) ?? {};
  return [{ path: 'backend', type: 'value', before: null, after: name, sensitive: false, was: 'new' }];
}

/** The row of another object with the same name, for an object with a declared id; undefined if there is none. */
export function namesake({ kind, identity }: Declared, references: References): Fields | undefined {
  const { id, name } = identity;
  const { listedIn } = kindOf(kind);
  if (id === undefined || name === undefined || listedIn === undefined || listedIn === 'own')
    return undefined;
  const list = references[listedIn];
  const isOther = (other: string): boolean => !sameIdentifier(other, id) && list?.created.has(other) !== true;
  return list?.byName(name).find((row) => isOther(String(row.id)));
}

/** The ids that new objects have in the plan, for kinds whose new objects can be given an id. */
export function plannedIds(live: ReadonlyMap<Subject, Live>): ReadonlySet<string> {
  return new Set(
    [...live].flatMap(([{ kind, identity, declared }, { missing }]) =>
      missing === true && declared?.creates === true && kindOf(kind).creation?.acceptsId === true
        ? [identity.id ?? plannedId(addressOf(kind, identity))]
        : [],
    ),
  );
}

/** Blocks changes that refer to objects that the plan was to create and doesn't. */
export function blockWithoutDependencies(
  changes: readonly Change[],
  references: References,
): readonly Change[] {
  const created = listNames.flatMap((name) => [...(references[name]?.created ?? [])]);
  if (created.length === 0) return changes;
  let settled = changes;
  for (;;) {
    const coming = new Set(
      settled.flatMap((change) =>
        change.action === 'create' ? idInPlan(change).map((id) => `${change.kind} ${id}`) : [],
      ),
    );
    const lacking = created.filter(([id, address]) => !coming.has(`${address.split('/', 1)[0]} ${id}`));
    if (lacking.length === 0) return settled;
    const next = settled.map((change) => {
      if (change.action === 'blocked' || change.action === 'unchanged') return change;
      const ids = textsIn(change);
      const lost = lacking.filter(([id]) => ids.has(id)).map(([, address]) => address);
      if (lost.length === 0) return change;
      return blockedFor(change, `it needs ${lost.join(' and ')}, which this plan doesn't create`);
    });
    if (next.every((change, index) => change === settled[index])) return settled;
    settled = next;
  }
}

/** The ids of the objects that a plan deletes permanently, with their kinds. */
export function deletedIn(changes: readonly Change[]): ReadonlyMap<string, KindName> {
  return new Map(
    changes.flatMap(({ action, kind, apply: { identity } }): [string, KindName][] =>
      action === 'delete' && kindOf(kind).creation !== undefined && identity.id !== undefined
        ? [[identity.id, kind]]
        : [],
    ),
  );
}

/** Blocks deletions of objects to which other documents or objects on the server still refer. */
export function blockReferencedDeletions(
  changes: readonly Change[],
  declared: readonly Declared[],
  references: References,
  profile: Profile,
): readonly Change[] {
  const deleted = deletedIn(changes);
  if (deleted.size === 0) return changes;
  const named = declared.flatMap((document) => {
    const by = addressOf(document.kind, document.identity);
    return document.absent ? [] : referencedIds(document, references, profile).map((id) => ({ id, by }));
  });
  const referring = groupBy(named, ({ id }) => id);
  return changes.map((change) => {
    const { id } = change.apply.identity;
    if (id === undefined || change.action !== 'delete' || !deleted.has(id)) return change;
    const by = [...new Set(referring.get(id)?.map((one) => one.by))];
    if (by.length > 0)
      return blockedFor(change, `still referred to by ${firstFew(by)}: remove the reference first`);
    const { usedBy = [] } = kindOf(change.kind);
    return blockedFor(change, deletionRefusal(usesOf(usedBy, id, references, (_, row) => deleted.has(row))));
  });
}

/** The ids to which a document refers. A name that isn't found has none. */
function referencedIds({ kind: name, identity, fields }: Declared, references: References, profile: Profile) {
  const kind = kindOf(name);
  const context = { references, profile, present: {}, isDeclared: () => true, locationOf: () => '' };
  const { fields: resolved } = kind.resolve?.(fields, context) ?? { fields };
  // Members that the document removes don't count.
  const wanted = mapValues(resolved, (asked, field) =>
    desired(kind.fields[field] ?? value, asked, null, true),
  );
  return [...idsIn(kind.fields, wanted), ...Object.values(identity).filter((one) => one !== undefined)];
}

/** The ids of elements and references in fields, without ids that these contain. */
function idsIn(types: FieldTypes, fields: { readonly [name: string]: Value | undefined }): string[] {
  return Object.entries(fields).flatMap(([name, one]): string[] => {
    const type = types[name] ?? value;
    if (type.type === 'set') return asElements(one ?? null).flatMap((element) => idsIn(type.nested, element));
    const id = type.type === 'reference' && one !== undefined && isMap(one) ? one.id : one;
    return typeof id === 'string' ? [id] : [];
  });
}

/** The id that a new object has in its plan. */
export function idInPlan({ apply: { plannedId: planned, identity } }: Change): string[] {
  const id = planned ?? identity.id;
  return id === undefined ? [] : [id];
}

/** All texts in a change's requests and identity, which include the ids that it refers to. */
export function textsIn({ requests, apply: { identity } }: Change): ReadonlySet<string> {
  return textsOf([requests, identity]);
}

/** All texts in a value, except secrets. */
export function textsOf(value: unknown): ReadonlySet<string> {
  const texts = new Set<string>();
  const collect = (one: unknown): void => {
    if (typeof one === 'string') texts.add(one);
    else if (typeof one === 'object' && one !== null && !(one instanceof Sensitive))
      for (const part of Object.values(one)) collect(part);
  };
  collect(value);
  return texts;
}
