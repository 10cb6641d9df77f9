import { plannedId } from '../base/identifiers.js';
import { assign, type Fields, mapValues, Sensitive } from '../base/values.js';
import { desired } from '../kinds/desired.js';
import { contrast, isBlank, isCleared, value } from '../kinds/fields.js';
import { addressOf, kindOf } from '../kinds/index.js';
import type { Declared, Live } from '../kinds/kind.js';
import { listNames, type References } from '../kinds/references.js';
import { declaredPlaces, fieldChange } from './field-changes.js';
import { type Change, withReason } from './plan.js';
import type { Subject } from './subjects.js';

/** Why an object can't be found; with the id of the one that replaces it, if a run created it again. */
export function lacking(live: Live | undefined, replacedBy: string | undefined): string | undefined {
  if (live?.trouble === undefined) return undefined;
  if (live.exists || replacedBy === undefined) return `${live.trouble}${live.proposal?.() ?? ''}`;
  return `${live.trouble}; it was deleted and created again with the id ${replacedBy}: declare that one`;
}

/** The creation of an object that the server doesn't have. */
export function createChange(
  {
    declared,
    creating,
    references,
  }: {
    readonly declared: Declared;
    readonly creating?: string | undefined;
    readonly references: References;
  },
  resolved: Fields,
  {
    base,
    blocked,
    confirmed,
  }: {
    readonly base: (expected: Fields) => Change;
    readonly blocked: (reason: string) => Change;
    readonly confirmed: readonly string[];
  },
): Change {
  const kind = kindOf(declared.kind);
  const { creation } = kind;
  const { identity } = declared;
  if (creation === undefined) return blocked(`no operation creates a ${kind.noun}`);
  if (identity.id !== undefined && creation.withoutId !== undefined) return blocked(creation.withoutId);
  const wanted = mapValues(resolved, (asked, field) => {
    const whole = desired(kind.fields[field] ?? value, asked, null, true);
    return whole ?? null;
  });
  const lacks = creation.needs.flatMap((need) => {
    const all = [need].flat();
    const isGiven = (field: string): boolean => {
      const given = wanted[field] ?? identity[field] ?? null;
      return !isCleared(given) && !isBlank(given);
    };
    return all.some(isGiven) ? [] : all.slice(0, 1);
  });
  if (lacks.length > 0) {
    return blocked(
      `a new ${kind.noun} needs ${lacks.join(' and ')}: declare ${lacks.length === 1 ? 'it' : 'them'}`,
    );
  }
  const {
    fields,
    warnings = [],
    trouble,
  } = creation.prepare?.(identity, wanted, references) ?? { fields: wanted };
  if (trouble !== undefined) return blocked(trouble);
  const planned = identity.id === undefined ? plannedId(addressOf(declared.kind, identity)) : undefined;
  const chosen = planned === undefined ? identity : assign(identity, { id: planned });
  const { once = [] } = creation;
  const change = base(Object.fromEntries(Object.entries(fields).filter(([field]) => !once.includes(field))));
  const parts = Object.entries(fields).flatMap(([field, goal]) =>
    contrast(kind.fields[field] ?? value, field, goal, null),
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
    requests: [creation.request(chosen, fields), ...(creation.after?.(chosen.id ?? '', fields) ?? [])],
    fields: changes,
    destructions: kind.destructions(changes),
    apply: {
      ...change.apply,
      identity: creation.takesId ? chosen : identity,
      existed: false,
      ...(planned === undefined ? {} : { plannedId: planned }),
      ...(creating === undefined ? {} : { chosenId: creating }),
      ...(declared.replaces === undefined ? {} : { replaces: declared.replaces }),
    },
  };
}

/** The ids that new objects have in the plan, if their creator chooses them. */
export function comingIds(live: ReadonlyMap<Subject, Live>): ReadonlySet<string> {
  return new Set(
    [...live].flatMap(([{ kind, identity, declared }, { missing }]) =>
      missing === true && declared?.creates === true && kindOf(kind).creation?.takesId === true
        ? [identity.id ?? plannedId(addressOf(kind, identity))]
        : [],
    ),
  );
}

/** Blocks what refers to objects that the plan doesn't create. */
export function blockDependents(changes: readonly Change[], references: References): readonly Change[] {
  const created = new Map(listNames.flatMap((name) => [...(references[name]?.created ?? [])]));
  if (created.size === 0) return changes;
  let settled = changes;
  for (;;) {
    const coming = new Set(settled.flatMap((change) => (change.action === 'create' ? idInPlan(change) : [])));
    const lacking = [...created].filter(([id]) => !coming.has(id));
    if (lacking.length === 0) return settled;
    const next = settled.map((change) => {
      if (change.action === 'blocked' || change.action === 'unchanged') return change;
      const ids = textsIn(change);
      const lost = lacking.filter(([id]) => ids.has(id)).map(([, address]) => address);
      if (lost.length === 0) return change;
      return withReason(change, `it needs ${lost.join(' and ')}, which this plan doesn't create`);
    });
    const isStable = next.every((change, index) => change === settled[index]);
    settled = next;
    if (isStable) break;
  }
  return settled;
}

/** The id that a new object has in its plan. */
export function idInPlan({ apply: { plannedId: planned, identity } }: Change): string[] {
  const id = planned ?? identity.id;
  return id === undefined ? [] : [id];
}

/** All texts in what a change sends and in its identity, among them the ids that it refers to. */
export function textsIn({ requests, apply: { identity } }: Change): ReadonlySet<string> {
  const texts = new Set<string>();
  const collect = (value: unknown): void => {
    if (typeof value === 'string') texts.add(value);
    else if (typeof value === 'object' && value !== null && !(value instanceof Sensitive))
      for (const part of Object.values(value)) collect(part);
  };
  collect(requests);
  collect(identity);
  return texts;
}
