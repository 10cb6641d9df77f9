import type { KeepRule, Safety } from '../base/safety.js';
import { type Fields, holdsSensitive, type Value, withoutUndefined } from '../base/values.js';
import { wrongNameMessage } from '../kinds/by-name.js';
import { displayElement } from '../kinds/fields.js';
import type { Holding } from '../kinds/holdings.js';
import { kindOf, kinds } from '../kinds/index.js';
import type { Discovery, FoundObject, Kind } from '../kinds/kind.js';
import type { References } from '../kinds/references.js';
import type { State } from '../state/state.js';
import { deletedIn, textsOf } from './create.js';
import { contextOf } from './observe.js';
import type { BuildOptions } from './options.js';
import { formerHolders, takesOver } from './order.js';
import { blockedFor, type Change, isChanging, type PlanWarning } from './plan.js';
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
 * Adds to each change the privileged scopes and roles that it grants. What is privileged now or after the plan counts, because a rename
 * or another change may fail, or be left out. Blocks a change that declares a harmless name with the id of a scope or role that is
 * recorded with a privileged name.
 */
export function markPrivileged(
  changes: readonly Change[],
  { safety: { privileged }, state }: Pick<BuildOptions, 'safety' | 'state'>,
  lists: Lists,
): readonly Change[] {
  if (privileged.length === 0) return changes;
  const given = changes.map((change) =>
    [lists.planned, lists.now].flatMap((references) => newHoldings(change, references)),
  );
  const recorded = given.some((holdings) => holdings.length > 0) ? namesById(state) : new Map();
  return changes.map((change, at) => {
    const misnamed = (given[at] ?? []).find(({ id, type, name, listed, element }) => {
      const called = recorded.get(id);
      if (listed || called === undefined || name === undefined || called.has(name)) return false;
      if (holdsSensitive(element.name ?? null)) return false;
      return isPrivilegedHolding(privileged, type, called);
    });
    if (misnamed !== undefined) {
      const { type, id = '', name = '' } = misnamed;
      return blockedFor(change, wrongNameMessage(type, id, [...(recorded.get(id) ?? [])].join('", "'), name));
    }
    const privileges = (given[at] ?? []).flatMap((holding) => {
      const { type, id, listed } = holding;
      const names = namesOf(holding, lists);
      const others = listed ? [] : (recorded.get(id) ?? []);
      if (!isPrivilegedHolding(privileged, type, [...names, ...others])) return [];
      const name = names.find((one) => isPrivilegedHolding(privileged, type, [one])) ?? holding.name;
      return describeHolding({ ...holding, name }, change);
    });
    return privileges.length === 0 ? change : { ...change, privileges: [...new Set(privileges)] };
  });
}

/** The names of a scope or a role: after the plan, and now. */
function namesOf({ type, id = '', name }: Holding, { now, planned }: Lists): string[] {
  const listed = [planned, now].map((lists) => lists[`${type}s`]?.byId(id)?.name);
  return [...listed, name].filter((one) => typeof one === 'string');
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
): readonly Change[] {
  if (patterns.length === 0) return changes;
  const guarded = (change: Change, pattern: string, why: string) =>
    protectedChange(change, pattern, why, approvers);
  return changes.map((change) => {
    const { kind } = change;
    if (!isChanging(change)) return change;
    const name = kindOf(kind).displayName?.(change.apply.before);
    const named = name === undefined ? [] : [`${kind}/${name}`];
    const own = protectingPattern(patterns, [...addressesOf(change), ...named]);
    if (own !== undefined) return guarded(change, own, `safety.protect has ${own}: no plan changes it`);
    const { succession } = kindOf(kind);
    if (succession === undefined || !takesOver(change) || change.destructions.length === 0) return change;
    const former = formerHolders(change, changes);
    const taken =
      former === undefined
        ? patterns.find((pattern) => mayMatchKind({ targets: [pattern], kinds: [] }, kind))
        : protectingPattern(patterns, former);
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

/** A warning for each rule of `safety.keep` with a scope or role that the server's lists don't have: the rule has no effect. */
export function uselessKeeps(keeps: readonly KeepRule[], { scopes, roles }: References): PlanWarning[] {
  return keeps.flatMap((keep) => {
    const [noun, list, named = ''] =
      keep.scope === undefined ? ['role', roles, keep.role] : ['scope', scopes, keep.scope];
    if (list == null || list.isIncomplete || list.byId(named) !== undefined || list.byName(named).length > 0)
      return [];
    const message = `safety.keep names the ${noun} "${named}", which the server doesn't have, so it keeps nothing${list.suggestion(named)}`;
    return [{ code: 'no-such-name', message }];
  });
}

/** Blocks changes that would leave too few users with a scope or role of `safety.keep`. */
export async function blockLosses(
  given: readonly Change[],
  options: BuildOptions,
  references: References,
  elsewhere: (found: readonly FoundObject[], kind: Kind) => readonly Change[],
): Promise<readonly Change[]> {
  let changes = given;
  const keptBy = (keep: KeepRule, { type, id, name }: Holding): boolean =>
    keep[type] !== undefined && [id, name].includes(keep[type]);
  // What changes of scopes and roles take from every user who has them.
  const taken = new Map(
    given.flatMap(({ kind, action, requests, apply }): [string, readonly Holding[]][] => {
      const { revokes } = kindOf(kind);
      if (revokes === undefined || requests.length === 0 || action === 'create') return [];
      return [[apply.key, revokes(apply.before, action === 'delete' ? null : apply.expected)]];
    }),
  );
  // A renamed role stays with its users; only a rule with the old name loses it.
  const gone = new Set(
    [...taken.values()].flat().flatMap((one) => (one.id === undefined ? [] : holdingKey(one))),
  );
  const isGone = (holding: Holding): boolean =>
    [holdingKey(holding), holding.id, holding.role?.id].some((key) => key !== undefined && gone.has(key));
  for (const kind of kinds) {
    const { access, discovery, grants } = kind;
    if (access === undefined || discovery === undefined || grants === undefined) continue;
    const held = (keep: KeepRule, fields: Fields): Holding[] =>
      // A blocked user can't sign in, so it doesn't count.
      access.blocked(fields) === true
        ? []
        : grants(fields, references).filter((holding) => keptBy(keep, holding));
    const has = (keep: KeepRule, fields: Fields): boolean =>
      held(keep, fields).some((holding) => !isGone(holding));
    const loses = (keep: KeepRule, change: Change): boolean => {
      const { action, apply } = change;
      if (action === 'blocked') return false;
      if (change.kind !== kind.name)
        return taken.get(apply.key)?.some((holding) => keptBy(keep, holding)) === true;
      const after = afterwards(apply.before, change);
      const kept = new Set(held(keep, after).map(holdingKey));
      // Counts as a loss even if another change takes the same from every user.
      return !has(keep, after) && held(keep, apply.before).some((one) => !kept.has(holdingKey(one)));
    };
    const threatened = options.safety.keep.filter((keep) => changes.some((change) => loses(keep, change)));
    if (threatened.length === 0) continue;
    const found = await findAll(discovery, options);
    const others = elsewhere(found, kind);
    for (const keep of threatened) {
      const byId = new Map(
        [...changes, ...others]
          .filter(({ action }) => action !== 'blocked')
          .map((change) => [change.apply.identity.id, change]),
      );
      const holders = found.filter(({ identity, live }) =>
        has(keep, afterwards(live.fields, byId.get(identity.id))),
      );
      const left = holders.length;
      if (left >= keep.at_least) {
        const gains = holders.flatMap(({ identity, live }) => {
          const change = byId.get(identity.id);
          return change === undefined || has(keep, live.fields) ? [] : [change.apply.key];
        });
        if (left - gains.length >= keep.at_least) continue;
        changes = changes.map((change) =>
          loses(keep, change) ? { ...change, awaits: [...(change.awaits ?? []), ...gains] } : change,
        );
        continue;
      }
      const what = keep.scope === undefined ? `role "${keep.role}"` : `scope "${keep.scope}"`;
      const reason = `this plan would leave ${left} with the ${what}, and safety.keep asks for at least ${keep.at_least}`;
      changes = changes.map((change) => (loses(keep, change) ? blockedFor(change, reason) : change));
    }
  }
  return changes;
}

/** The key of a holding: a scope in a role has the ids of both, anything else its own id. */
function holdingKey({ id = '', role }: Holding): string {
  return role === undefined ? id : `${role.id}/${id}`;
}

function afterwards(now: Fields, change: Pick<Change, 'action' | 'apply'> | undefined): Fields {
  return change?.action === 'delete' ? {} : { ...now, ...change?.apply.expected };
}

/** All objects of a kind, as the server lists them. */
async function findAll({ find }: Discovery, options: BuildOptions): Promise<readonly FoundObject[]> {
  const context = contextOf({ ...options, lists: options.read?.lists ?? {} });
  return (await find({ ...context, filters: {}, known: [] })).found;
}
