import { identifierKey } from '../base/identifiers.js';
import type { KeepRule } from '../base/safety.js';
import { type Fields, withoutUndefined } from '../base/values.js';
import type { Holding } from '../kinds/holdings.js';
import { kindOf, kinds } from '../kinds/index.js';
import type { FoundObject, Kind } from '../kinds/kind.js';
import type { ListName, References } from '../kinds/references.js';
import { idInPlan } from './create.js';
import { findAll, type Lists } from './guards.js';
import { contextOf } from './observe.js';
import type { BuildOptions } from './options.js';
import { cycles } from './order.js';
import { blockedFor, type Change, isChanging, type PlanWarning } from './plan.js';

/** The lists in which holders are counted. */
export const countedLists: readonly ListName[] = ['scopes', 'roles'];

/** Finds all objects of a kind on the server. */
export type Find = (kind: Kind) => Promise<readonly FoundObject[]>;

/** A warning for each rule of `safety.keep` with a scope or role that the server's lists don't have: the rule has no effect. */
export function uselessKeeps(keeps: readonly KeepRule[], { scopes, roles }: References): PlanWarning[] {
  return keeps.flatMap((keep) => {
    const [noun, list, named = ''] =
      keep.scope === undefined ? ['role', roles, keep.role] : ['scope', scopes, keep.scope];
    if (list == null || list.isIncomplete || list.byId(named) !== undefined) return [];
    if (list.byNameOrLiveName(named).length > 0) return [];
    const message = `safety.keep names the ${noun} "${named}", which the server doesn't have, so it keeps nothing${list.suggestion(named)}`;
    return [{ code: 'no-such-name', message }];
  });
}

/** Blocks changes that take access if a rule has no effect, since what it should keep is unknown. */
async function blockIfUseless(changes: readonly Change[], options: BuildOptions, now: References) {
  const takes = (change: Change): boolean =>
    isChanging(change) &&
    (kindOf(change.kind).revokes === undefined ? mayTake(change) : taken(change).length > 0);
  const { keep } = options.safety;
  if (keep.length === 0 || !changes.some(takes)) return changes;
  const { list } = contextOf({ ...options, lists: options.read?.lists ?? {} });
  const { scopes = await list('scopes'), roles = await list('roles') } = now;
  const planned = listsAfter({ ...now, scopes, roles }, changes.filter(isChanging));
  const [useless] = uselessKeeps(keep, planned);
  if (useless === undefined) return changes;
  const reason = `this change takes access, and ${useless.message}`;
  return changes.map((change) => (takes(change) ? blockedFor(change, reason) : change));
}

/** Whether a change may take a scope or role from somebody. */
export function mayTake({ kind, destructions }: Change): boolean {
  const { access, revokes } = kindOf(kind);
  return revokes !== undefined || (access !== undefined && destructions.length > 0);
}

/**
 * Blocks changes that would leave too few users with a scope or role of `safety.keep`, and lets those that remove one await the changes
 * that others need to have it. If a rule names nothing, blocks every change that takes access. `now` are the present lists. What the
 * changes `elsewhere` take counts, and what they give doesn't.
 */
export async function blockLosses(
  asked: readonly Change[],
  options: BuildOptions,
  now: References,
  elsewhere: (find: Find) => Promise<readonly Change[]>,
): Promise<readonly Change[]> {
  const given = await blockIfUseless(asked, options, now);
  const rules = options.safety.keep.filter((keep) => given.some((change) => mayLose(keep, change, now)));
  if (rules.length === 0) return given;
  const find: Find = async ({ discovery }) =>
    discovery === undefined ? [] : await findAll(discovery, options);
  const others = await elsewhere(find);
  let changes = given;
  for (const kind of kinds) {
    if (kind.access === undefined || kind.grants === undefined) continue;
    const found = await find(kind);
    for (const keep of rules) {
      const count = new HolderCount(keep, kind, [...changes, ...others], now);
      const own = new Set(changes.map(({ apply }) => apply.key));
      const needs = count.holders(found).filter((keys) => keys.every((key) => own.has(key)));
      const awaited = needs.filter((keys) => keys.length > 0).flat();
      if (needs.filter((keys) => keys.length === 0).length >= keep.at_least) continue;
      const what = keep.scope === undefined ? `role "${keep.role}"` : `scope "${keep.scope}"`;
      const reason = `this plan would leave ${needs.length} with the ${what}, and safety.keep asks for at least ${keep.at_least}`;
      changes = changes.map((change) => {
        if (!count.isLoss(change)) return change;
        if (needs.length < keep.at_least) return blockedFor(change, reason);
        const { awaits = [], apply } = change;
        const all = new Set([...awaits, ...awaited].filter((key) => key !== apply.key));
        return all.size === 0 ? change : { ...change, awaits: [...all] };
      });
    }
  }
  const cyclic = cycles(changes);
  return changes.map((change) => {
    const members = cyclic.get(change)?.map(({ address }) => address);
    const reason = `it and ${members?.join(' and ')} must each come first, because of safety.keep: grant in one run, and remove in the next`;
    return members === undefined ? change : blockedFor(change, reason);
  });
}

/** Who has a scope or role of a rule, before and after changes. */
class HolderCount {
  readonly #keep: KeepRule;
  readonly #kind: Kind;
  readonly #lists: Lists;
  readonly #byId: ReadonlyMap<string, Change>;
  readonly #changes: readonly Change[];
  /** The ids of what changes of scopes and roles take from everybody who has it. */
  readonly #gone: ReadonlySet<string>;

  constructor(keep: KeepRule, kind: Kind, changes: readonly Change[], now: References) {
    this.#keep = keep;
    this.#kind = kind;
    this.#changes = changes.filter(isChanging);
    this.#lists = { now, planned: listsAfter(now, this.#changes) };
    this.#byId = new Map(
      this.#changes.flatMap((change) => idInPlan(change).map((id) => [identifierKey(id), change] as const)),
    );
    // A renamed role stays with its users; only a rule with the old name loses it.
    this.#gone = new Set(
      this.#changes.flatMap(taken).flatMap((one) => (one.id === undefined ? [] : holdingKey(one))),
    );
  }

  /** For each holder after the changes, the keys of the changes without which it isn't one: none if it is one in any case. */
  holders(found: readonly FoundObject[]): (readonly string[])[] {
    const present = found.map(({ identity: { id = '' }, live }) =>
      this.#needs(live.fields, this.#byId.get(identifierKey(id))),
    );
    const created = this.#changes.filter(
      ({ kind, action }) => kind === this.#kind.name && action === 'create',
    );
    return [...present, ...created.map((change) => this.#needs({}, change))].flatMap((keys) =>
      keys === undefined ? [] : [keys],
    );
  }

  /** Whether a change takes what the rule keeps from an object, and the object doesn't have it in another way in any case. */
  isLoss(change: Change): boolean {
    const { kind, apply } = change;
    if (!isChanging(change)) return false;
    if (kind !== this.#kind.name) return taken(change).some((holding) => isKept(this.#keep, holding));
    if (!drops(this.#keep, change, this.#lists.now)) return false;
    return this.#needs(apply.before, change)?.every((key) => key === apply.key) !== true;
  }

  /** The keys of the changes that an object with these fields needs to be a holder; undefined if it won't be one. */
  #needs(fields: Fields, change: Change | undefined): readonly string[] | undefined {
    const { now, planned } = this.#lists;
    const after = afterwards(fields, change);
    const kept = (lists: References): Holding[] =>
      holdings(this.#kind, after, lists).filter((one) => isKept(this.#keep, one));
    const had = new Set(holdings(this.#kind, fields, now).map(rootKey));
    const withoutOthers = new Set(kept(now).map(holdingKey));
    const ways = kept(planned)
      .filter((one) => !this.#isGone(one))
      .map((one) => {
        const own = change === undefined || had.has(rootKey(one)) ? [] : [change];
        const ids = withoutOthers.has(holdingKey(one)) ? [] : [one.id, one.role?.id];
        const others = ids.flatMap((id) => this.#byId.get(identifierKey(id ?? '')) ?? []);
        return [...own, ...others].map(({ apply }) => apply.key);
      });
    return ways.sort((a, b) => a.length - b.length)[0];
  }

  #isGone(holding: Holding): boolean {
    const keys = [holdingKey(holding), holding.id, holding.role?.id];
    return keys.some((key) => key !== undefined && this.#gone.has(key));
  }
}

function isKept(keep: KeepRule, { type, id, name }: Holding): boolean {
  return keep[type] !== undefined && [id, name].includes(keep[type]);
}

/** The scopes and roles of an object. A blocked user can't sign in, so it has none. */
function holdings({ access, grants }: Kind, fields: Fields, lists: References): Holding[] {
  return access?.blocked(fields) === true ? [] : (grants?.(fields, lists) ?? []);
}

/** What a change of a scope or role takes from everybody who has it. */
function taken({ kind, action, apply }: Change): readonly Holding[] {
  const { revokes } = kindOf(kind);
  if (revokes === undefined || action === 'create') return [];
  return revokes(apply.before, action === 'delete' ? null : apply.expected);
}

/** Whether a change of an object takes something of a rule from it. */
function drops(keep: KeepRule, change: Change, now: References): boolean {
  const kind = kindOf(change.kind);
  const { before } = change.apply;
  const left = new Set(holdings(kind, afterwards(before, change), now).map(holdingKey));
  return holdings(kind, before, now).some((one) => isKept(keep, one) && !left.has(holdingKey(one)));
}

function mayLose(keep: KeepRule, change: Change, now: References): boolean {
  if (!isChanging(change)) return false;
  const { access, revokes } = kindOf(change.kind);
  if (revokes !== undefined) return taken(change).some((holding) => isKept(keep, holding));
  return access !== undefined && drops(keep, change, now);
}

/** The lists as they are after changes. */
function listsAfter(now: References, changes: readonly Change[]): References {
  const next = kinds.flatMap(({ name, listedIn = 'own', revokes }) => {
    const list = listedIn === 'own' || revokes === undefined ? undefined : now[listedIn];
    if (list == null) return [];
    const own = changes.filter(({ kind }) => kind === name);
    const rows = (wanted: Change['action']) =>
      own
        .filter(({ action }) => action === wanted)
        .flatMap((change) => idInPlan(change).map((id) => ({ id, ...change })));
    const changed = new Map(rows('update').map(({ id, apply }) => [id, apply.expected]));
    const created = new Map(
      rows('create').map(({ id, address, apply }) => [address, { ...apply.expected, id }]),
    );
    return [[listedIn, list.afterPlan({ changed, created })] as const];
  });
  return { ...now, ...withoutUndefined(Object.fromEntries(next)) };
}

/** The key of a holding: a scope in a role has the ids of both, anything else its own id. */
function holdingKey({ id = '', role }: Holding): string {
  return role === undefined ? id : `${role.id}/${id}`;
}

/** The key of the object's own element with which it has something. */
function rootKey(holding: Holding): string {
  const { path, id } = holding.role ?? holding;
  return `${path}/${id}`;
}

function afterwards(now: Fields, change: Pick<Change, 'action' | 'apply'> | undefined): Fields {
  return change?.action === 'delete' ? {} : { ...now, ...change?.apply.expected };
}
