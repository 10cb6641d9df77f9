import type { Safety } from '../base/safety.js';
import {
  type Fields,
  holdsSensitive,
  lazy,
  mapValues,
  revealReadable,
  type Value,
  withoutUndefined,
} from '../base/values.js';
import { wrongNameMessage } from '../kinds/by-name.js';
import { displayElement, textOf } from '../kinds/fields.js';
import type { Holding } from '../kinds/holdings.js';
import { kindOf, kinds } from '../kinds/index.js';
import type { Discovery, FoundObject } from '../kinds/kind.js';
import type { References } from '../kinds/references.js';
import type { State } from '../state/state.js';
import { deletedIn, textsOf } from './create.js';
import { contextOf } from './observe.js';
import type { BuildOptions } from './options.js';
import { formerHolders, takesOver } from './order.js';
import { blockedFor, type Change, isChanging } from './plan.js';
import { matchesPattern, mayMatchKind, protectingPattern } from './select.js';
import { addresses } from './subjects.js';

const ROLE = 'role:';

/** The lists of the server, as they are now and as they will be after the plan. */
export interface Lists {
  readonly now: References;
  readonly planned: References;
}

/** Whether a pattern of `safety.privileged` matches a name of a scope or a role. Without a known name, any pattern of its type does. */
export function isPrivilegedHolding(
  patterns: readonly string[],
  type: Holding['type'],
  names: Iterable<string>,
): boolean {
  const own = patterns.flatMap((pattern) => {
    if (type === 'scope') return pattern.startsWith(ROLE) ? [] : [pattern];
    return pattern.startsWith(ROLE) ? [pattern.slice(ROLE.length)] : [];
  });
  const all = [...names];
  if (all.length === 0) return own.length > 0;
  return own.some((pattern) => all.some((one) => matchesPattern(pattern, one)));
}

/**
 * Blocks changes that declare another name than the recorded one beside the id of a scope or role, if no list of the server has that id. Names
 * in live objects are the server's, so there only a new privileged member counts.
 */
export function blockMisnamed(
  changes: readonly Change[],
  { safety: { privileged }, state }: Pick<BuildOptions, 'safety' | 'state'>,
  references: References,
): readonly Change[] {
  const recorded = lazy(() => namesById(state));
  return changes.map((change) => {
    const isLive = change.observed === 'live';
    const held = isLive ? [] : (kindOf(change.kind).grants?.(change.apply.expected, references) ?? []);
    for (const { id, type, name, listed, element } of [...held, ...newHoldings(change, references)]) {
      if (listed || id === undefined || name === undefined || holdsSensitive(element.name ?? null)) continue;
      const called = recorded().get(id);
      if (called === undefined || called.has(name)) continue;
      if (!isLive || isPrivilegedHolding(privileged, type, called))
        return blockedFor(change, wrongNameMessage(type, id, [...called].join('", "'), name));
    }
    return change;
  });
}

/**
 * Adds to each change the privileged scopes and roles that it grants. What is privileged now or after the plan counts, because a rename
 * or another change may fail, or be left out.
 */
export function markPrivileged(
  changes: readonly Change[],
  { safety: { privileged }, state }: Pick<BuildOptions, 'safety' | 'state'>,
  lists: Lists,
): readonly Change[] {
  if (privileged.length === 0) return changes;
  const recorded = lazy(() => namesById(state));
  return changes.map((change) => {
    const given = [lists.planned, lists.now].flatMap((references) => newHoldings(change, references));
    const privileges = given.flatMap((holding) => {
      const { type, id, listed } = holding;
      const names = namesOf(holding, lists);
      const others = listed ? [] : (recorded().get(id) ?? []);
      if (!isPrivilegedHolding(privileged, type, [...names.map(textOf), ...others])) return [];
      const name = names.find((one) => isPrivilegedHolding(privileged, type, [textOf(one)])) ?? holding.name;
      return describeHolding({ ...holding, name: typeof name === 'string' ? name : undefined }, change);
    });
    return privileges.length === 0 ? change : { ...change, privileges: [...new Set(privileges)] };
  });
}

/** The names of a scope or a role: after the plan, and now. */
function namesOf({ type, id = '', name }: Holding, { now, planned }: Lists): Value[] {
  const listed = [planned, now].map((lists) => lists[`${type}s`]?.byId(id)?.name);
  return [...listed, name].flatMap((one) => (one === undefined || textOf(one) === '' ? [] : [one]));
}

/** What a change grants, without what the object has or a pending restore returns. If the present list is unknown, all of it counts. */
function newHoldings({ kind, action, fields, requests, apply }: Change, references: References): Holding[] {
  const { grants, creation } = kindOf(kind);
  if (grants === undefined || requests.length === 0 || action === 'delete') return [];
  const givenBy = (changed: typeof fields, side: Parameters<typeof fieldsOf>[1]): Holding[] =>
    grants(fieldsOf(changed, side), references);
  const known = fields.filter(({ before }) => before !== undefined);
  // `apply.before` includes what a pending restore returns.
  const had = [
    ...givenBy(known, ({ before }) => before),
    ...givenBy(known, ({ path }) => apply.before[path]),
  ];
  const keys = new Set(
    had.flatMap(({ id, element, ...at }) => [key(at, 'id', id), key(at, 'name', element.name)]),
  );
  const own = givenBy(fields, ({ after }) => after).filter(
    ({ id, name, ...at }) => !keys.has(id === undefined ? key(at, 'name', name) : key(at, 'id', id)),
  );
  return action === 'create' ? [...own, ...(creation?.grants?.(apply.identity, references) ?? [])] : own;
}

function key({ type, path }: Pick<Holding, 'type' | 'path'>, by: 'id' | 'name', value?: Value) {
  return value === undefined ? undefined : JSON.stringify([type, path, by, String(value)]);
}

function fieldsOf(changes: Change['fields'], side: (field: Change['fields'][number]) => Value | undefined) {
  return withoutUndefined(Object.fromEntries(changes.map((field) => [field.path, side(field)]))) as Fields;
}

function describeHolding({ type, element, name, path, role, giver }: Holding, { fields }: Change): string {
  // What the server adds to a new object comes from its lists.
  const confirmed =
    giver !== undefined || fields.find((field) => path.startsWith(field.path))?.confirmed === true;
  const isHidden = name === undefined || holdsSensitive(element);
  const called = displayElement(isHidden ? element : { ...element, name }, confirmed);
  const roleName = role && `the role${displayElement(role.element, confirmed)}`;
  const givers = [roleName, giver].filter((one) => one !== undefined).join(' of ');
  return `gives the ${type}${called}${givers && ` by ${givers}`}`;
}

/** The recorded names of scopes and roles, by id. */
function namesById({ resources }: State): ReadonlyMap<string | undefined, Set<string>> {
  const names = new Map<string | undefined, Set<string>>();
  for (const { kind, fields, left } of Object.values(resources)) {
    const { grants } = kindOf(kind);
    const recorded = grants === undefined ? [] : [fields, left?.fields ?? {}];
    for (const { id, name } of recorded.flatMap((one) => grants?.(one as Fields, {}) ?? []))
      if (id !== undefined && name !== undefined) names.set(id, (names.get(id) ?? new Set()).add(name));
  }
  return names;
}

/**
 * Blocks changes of protected objects (`safety.protect`), and changes that take the default from one. If the configuration has approvers
 * for protected objects, marks the changes instead.
 */
export function blockProtected(
  changes: readonly Change[],
  { protect: patterns, approvers }: Pick<Safety, 'protect' | 'approvers'>,
  addressesOf: (change: Change) => readonly string[],
  references: References,
): readonly Change[] {
  if (patterns.length === 0) return changes;
  const guarded = (change: Change, pattern: string, why: string) =>
    protectedChange(change, pattern, why, approvers);
  return changes.map((change) => {
    const { kind, apply } = change;
    if (!isChanging(change)) return change;
    const named = [apply.before, { ...apply.before, ...apply.expected }].flatMap((fields) => {
      const name = kindOf(kind).displayName?.(mapValues(fields, revealReadable));
      return name === undefined ? [] : [`${kind}/${name}`];
    });
    const own = protectingPattern(patterns, [...addressesOf(change), ...named]);
    if (own !== undefined) return guarded(change, own, `safety.protect has ${own}: no plan changes it`);
    const { succession } = kindOf(kind);
    if (succession === undefined || !takesOver(change) || change.destructions.length === 0) return change;
    const former = formerHolders(change, changes);
    const holders = (succession.holders(apply.before) ?? [])
      .filter((id) => id !== apply.identity.id)
      .flatMap((id) => addresses({ kind, identity: { id } }, undefined, references).all);
    const taken =
      former === undefined
        ? patterns.find((pattern) => mayMatchKind({ targets: [pattern], kinds: [] }, kind))
        : protectingPattern(patterns, [...former, ...holders]);
    if (taken === undefined) return change;
    const unsure = former === undefined ? '; which one has it now is unknown' : '';
    return guarded(
      change,
      taken,
      `it ${succession.describeMove(former)}, and safety.protect has ${taken}${unsure}`,
    );
  });
}

/** Blocks a change, or marks it if an approver may approve it. */
function protectedChange(change: Change, pattern: string, why: string, approvers: Safety['approvers']) {
  if (!approvers.some((entry) => entry.for === 'protected')) return blockedFor(change, why);
  const message = `${why}, unless an approver of safety.approvers approves it`;
  return {
    ...change,
    protectedBy: pattern,
    warnings: [...change.warnings, { code: 'protected' as const, message }],
  };
}

/** Blocks or marks deletions of what a protected object refers to. */
export async function blockProtectedLosses(changes: Change[], options: BuildOptions, references: References) {
  const { protect, approvers } = options.safety;
  const deleted = deletedIn(changes);
  if (protect.length === 0 || deleted.size === 0) return changes;
  const losers = new Map<string, { readonly address: string; readonly pattern: string }>();
  for (const { name, discovery } of kinds) {
    const mayBeProtected = protect.some((pattern) => mayMatchKind({ targets: [pattern], kinds: [] }, name));
    if (discovery === undefined || !mayBeProtected) continue;
    for (const { identity, live, displayName } of await findAll(discovery, options)) {
      const { all } = addresses({ kind: name, identity }, live, references);
      const address = displayName === null ? (all[0] ?? name) : `${name}/${displayName}`;
      const pattern = protectingPattern(protect, [...all, address]);
      if (pattern === undefined) continue;
      for (const id of textsOf(live.fields))
        if (deleted.has(id) && deleted.get(id) !== name) losers.set(id, { address, pattern });
    }
  }
  return changes.map((change) => {
    const loser = losers.get(change.apply.identity.id ?? '');
    if (loser === undefined || change.action !== 'delete') return change;
    const { address, pattern } = loser;
    const why = `it would be taken from ${address}, and safety.protect has ${pattern}`;
    return protectedChange(change, pattern, why, approvers);
  });
}

/** All objects of a kind, as the server lists them. */
export async function findAll({ find }: Discovery, options: BuildOptions): Promise<readonly FoundObject[]> {
  const context = contextOf({ ...options, lists: options.read?.lists ?? {} });
  return (await find({ ...context, filters: {}, known: [] })).found;
}
