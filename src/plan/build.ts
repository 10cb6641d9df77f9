import { allSettled, interrupted, Pauses } from '../base/concurrency.js';
import { noProgress } from '../base/progress.js';
import { type Fields, withoutUndefined } from '../base/values.js';
import { firstFew } from '../base/words.js';
import { addressOf, kindOf, kinds, regenerated } from '../kinds/index.js';
import type { Declared, Live } from '../kinds/kind.js';
import { unusableId } from '../kinds/limits.js';
import { describeLoss, missingElements, type PendingRestore, stillLost } from '../kinds/loss.js';
import {
  awaitLists,
  type ListName,
  listNames,
  listsAfter,
  type ReadLists,
  type References,
  withListScopes,
} from '../kinds/references.js';
import { regenerate } from '../kinds/regeneration.js';
import { secretsIn } from '../secrets/hash.js';
import { eachWithSlowHashes, withSlowHashes } from '../secrets/slow-hash.js';
import { operations, type Scope } from '../server/operations.js';
import type { Profile } from '../server/profiles.js';
import { blockReferencedDeletions, blockWithoutDependencies, plannedIds } from './create.js';
import { Decider, otherNames, valuesIn } from './decider.js';
import { planDigest } from './digest.js';
import { expand } from './expand.js';
import { blockMisnamed, blockProtected, blockProtectedLosses, markPrivileged } from './guards.js';
import { blockLosses, type Find, uselessKeeps } from './keep.js';
import { listsFor, listsOfNames, listsOfWholeSets, observe, partOfNewObject } from './observe.js';
import type { BuildOptions, PlanHeader } from './options.js';
import { inStages, orderChanges } from './order.js';
import { blockedFor, type Change, emptyChange, type Plan, type PlanWarning } from './plan.js';
import { guardProfile, observedProfile } from './profile-guard.js';
import { orderRenames } from './renames.js';
import { noReplan, type Replan, referring, replanOf } from './replan.js';
import { warnOfMixedScripts } from './review-warnings.js';
import { isInShard, isSelected } from './select.js';
import {
  type Addressed,
  addresses,
  blockedAsDuplicate,
  candidates,
  checkTargets,
  restoresLeftOut,
  type Subject,
  sameObjects,
  withoutDeclared,
} from './subjects.js';
import { endsOf, removeEndedAccess } from './until.js';

/** A plan, and how its changes are planned again after a wait or a failure. */
export interface Planned {
  readonly plan: Plan;
  readonly replan: Replan;
  /** The server's answers, by the state's keys. */
  readonly observed: ReadonlyMap<string, Live>;
}

/**
 * The one planner: observes what the manifests declare and compares. Sends only GETs.
 * Throws an AggregateError of the reader's failures, and a ProblemsError for a target that matches nothing.
 */
export async function buildPlan(given: BuildOptions): Promise<Planned> {
  const { options, names, warnings, covered } = await withDocumentsById(given);
  const { selection, profile } = options;
  const subjects = candidates(options, await awaitLists(options.read?.lists ?? {}));
  const { live, references, read, newIds: plannedIds } = await observeSubjects(subjects, names, options);
  const decider = new Decider(options, references);
  const addressed = withoutDeclared(
    subjects.map((subject) => ({ subject, ...addresses(subject, live.get(subject), decider.references) })),
  );
  const all = addressed.flatMap(({ all }) => all);
  checkTargets(selection, [...all, ...covered], options);
  const matching = addressed.filter(({ subject, all }) => isSelected(selection, subject.kind, all));
  const selected = matching.filter(({ subject }) => !subject.inOtherShard);
  const decided = await decideAll(selected, sameObjects(matching), decider, live, options.signal);
  const ends = endsOf(decided.changes, given.asOf ?? given.now);
  const byKey = new Map(selected.map((one) => [one.key, one]));
  const unprotected = blockProtected(
    blockMisnamed(decided.changes.map(withoutIdleWarnings), options, decider.references),
    options.safety,
    ({ apply }) => byKey.get(apply.key)?.all ?? [],
    decider.references,
  );
  const guarded = await guardProfile(unprotected, observedProfile(profile, live), options);
  const created = blockWithoutDependencies(guarded.changes, decider.references);
  const held = await blockProtectedLosses(orderChanges(created), options, decider.references);
  const kept = await blockLosses(orderRenames(held, references), options, references, (find) =>
    decideElsewhere(find, decider, options),
  );
  // An undo has its own documents, which say nothing about what the manifests still refer to.
  const documents = options.adjust === undefined ? options.declared : [];
  const referred = blockReferencedDeletions(kept, documents, decider.references, profile);
  const plan = await assemble(
    markPrivileged(inStages(referred), options, { now: references, planned: decider.references }),
    readScopes(subjects, references, profile),
    options,
  );
  const { targets, kinds: asked, shard } = selection;
  const isPartial =
    targets.length > 0 || asked.length > 0 || shard !== undefined || options.endedOnly === true;
  return {
    plan: {
      ...plan,
      ...withoutUndefined({ shard, asOf: given.asOf?.toISOString(), holdsUntil: ends.holdsUntil }),
      ...(isPartial ? { partial: true } : {}),
      warnings: [
        ...warnings,
        ...ends.warnings,
        ...guarded.warnings,
        ...leftOutRestores(restoresLeftOut(options)),
        ...missingLists(references),
        ...uselessKeeps(options.safety.keep, references),
        ...decided.dropped,
        ...idleWarnings(decided.changes),
      ],
      settled: decided.settled,
      ...(selected.length === 0 && given.declared.length > 0
        ? { leavesOut: options.endedOnly === true ? 'ended' : true }
        : {}),
    },
    replan: replanOf({ ...options, plannedIds }, byKey, decider, read, plan.changes),
    observed: new Map(
      addressed.flatMap(({ subject, key }) => {
        const shown = live.get(subject);
        return shown === undefined ? [] : [[key, shown]];
      }),
    ),
  };
}

/** The options with one document for each object, by id, and the lists that were read to find the ids. */
async function withDocumentsById(options: BuildOptions) {
  const { declared, selection, profile, state } = options;
  // The documents of an undo have ids and no ended access.
  if (options.adjust !== undefined) return { options, names: [], warnings: [], covered: [] };
  const named = listsOfNames(declared, selection.targets, profile);
  const names = [...new Set([...named, ...listsOfWholeSets(declared, profile)])];
  const read = reusableLists([], names, options.read);
  const references =
    names.length === 0 ? {} : (await observe([], names, { ...options, lists: read.lists })).references;
  const expanded = expand(
    declared,
    listsAfter(references, declared, otherNames(state), valuesIn(profile)),
    options,
  );
  const now = options.asOf ?? options.now;
  const dated = removeEndedAccess(expanded.declared, declared, {
    state,
    now,
    endedOnly: options.endedOnly === true,
  });
  const lists = { ...options.read?.lists, ...read.lists };
  return {
    options: {
      ...options,
      declared: dated.declared,
      ...(names.length === 0 ? {} : { read: { at: read.at, lists } }),
    },
    names,
    warnings: [...expanded.warnings, ...dated.warnings],
    // With --ended, objects of which nothing has ended are targets too.
    covered: options.endedOnly
      ? expanded.declared.flatMap((one) => addresses(one, undefined, references).all)
      : [],
  };
}

/** Reads the subjects, and the lists that they refer to unless these were just read. */
async function observeSubjects(subjects: Subject[], names: readonly ListName[], options: BuildOptions) {
  const own = subjects.filter(({ inOtherShard }) => !inOtherShard);
  const documents = own.flatMap(({ declared }) => declared ?? []);
  // The lists of objects that may refer to an object that pruning deletes.
  const using = own.flatMap(({ kind, declared }) =>
    declared === undefined ? (kindOf(kind).usedBy ?? []).map(({ list }) => list) : [],
  );
  const needed = [...names, ...using, ...listsFor(referring(own, options), options.profile)];
  const read = reusableLists(subjects, needed, options.read);
  const known = subjects.filter(({ declared }) => declared?.reason === undefined);
  const observed = await whileHashing(documents, options, () =>
    observe(known, needed, { ...options, lists: read.lists }),
  );
  const newIds = plannedIds(observed.live);
  const live = [...observed.live].map(
    ([one, shown]) => [one, partOfNewObject(one, newIds) ?? shown] as const,
  );
  return { ...observed, live: new Map(live), read, newIds };
}

/** The changes of the selected objects, and the keys of those that need their pending restore no longer. */
async function decideAll(
  selected: readonly Addressed[],
  twice: ReadonlyMap<Declared, Declared[]>,
  decider: Decider,
  observed: ReadonlyMap<Subject, Live>,
  signal: AbortSignal | undefined,
) {
  const decided = await eachWithSlowHashes(
    selected,
    (one) => {
      const live = observed.get(one.subject);
      const change = decider.decide(one, live);
      const others = one.subject.declared && twice.get(one.subject.declared);
      const restore = decider.pendingRestore(one.key);
      return {
        one,
        live,
        restore,
        change: change && others ? { ...change, ...blockedAsDuplicate(others) } : change,
        isSettled: isSettled(one.subject, live, restore),
      };
    },
    new Pauses(signal),
  );
  return {
    changes: decided.flatMap(({ change }) => change ?? []),
    settled: decided.flatMap(({ one, isSettled }) => (isSettled ? [one.key] : [])),
    dropped: decided.flatMap(({ one, live, restore }) =>
      live?.exists === true && restore !== undefined ? droppedRestore(one, live.fields, restore) : [],
    ),
  };
}

/** The changes of access that other shards make. */
async function decideElsewhere(find: Find, decider: Decider, { declared, selection }: BuildOptions) {
  const changes = await allSettled(
    kinds.map(async (kind) => {
      const { name, access, revokes } = kind;
      const documents = declared.filter(
        (one) => one.kind === name && !isInShard(selection, name, one.identity),
      );
      if (documents.length === 0 || (access ?? revokes) === undefined) return [];
      const found = await find(kind);
      const live = new Map(found.map((finding) => [addressOf(name, finding.identity), finding.live]));
      return documents.flatMap((document) => {
        const subject = { kind: name, identity: document.identity, declared: document };
        const one = { subject, ...addresses(subject, undefined, decider.references) };
        return decider.decide(one, live.get(one.key)) ?? [];
      });
    }),
  );
  return changes.flat();
}

/** The scopes that observing needs. */
function readScopes(subjects: readonly Subject[], references: References, profile: Profile) {
  const own = new Set(subjects.map(({ kind }) => kind));
  const readable = kinds.filter((kind) => own.has(kind.name) && kind.readable(profile));
  const lists = listNames.filter((name) => references[name] !== undefined);
  return withListScopes(
    readable.map(({ scope }) => scope),
    lists,
    profile,
  );
}

/** The warnings of unchanged objects, which the plan doesn't list, with their addresses. */
function idleWarnings(changes: readonly Change[]): PlanWarning[] {
  return changes.flatMap(({ action, address, warnings }) =>
    action === 'unchanged'
      ? warnings.map((warning) => ({ ...warning, message: `${address}: ${warning.message}` }))
      : [],
  );
}

function withoutIdleWarnings(change: Change): Change {
  const isIdle = change.action === 'unchanged' && change.warnings.length > 0;
  return isIdle ? { ...change, warnings: [] } : change;
}

/** The lists that are needed and were read already, and when. */
function reusableLists(
  subjects: readonly Subject[],
  needed: readonly ListName[],
  read?: ReadLists,
): ReadLists {
  const listed = new Set(subjects.map(({ kind }) => kindOf(kind).listedIn));
  const names = listNames.filter(
    (name) => read?.lists[name] !== undefined && (needed.includes(name) || listed.has(name)),
  );
  if (read === undefined || names.length === 0) return { at: performance.now(), lists: {} };
  return { at: read.at, lists: Object.fromEntries(names.map((name) => [name, read.lists[name]])) };
}

/** Observes while the secrets of the documents are hashed. */
async function whileHashing<T>(
  documents: readonly Declared[],
  { hasher, signal }: BuildOptions,
  observing: () => Promise<T>,
): Promise<T> {
  const failed = new AbortController();
  const stop = signal === undefined ? failed.signal : AbortSignal.any([failed.signal, signal]);
  const secrets = documents.flatMap(({ fields }) => secretsIn(fields));
  const hashing = hasher.prepare(secrets, stop);
  try {
    const observed = await observing();
    await hashing;
    if (secrets.length > 0 && signal?.aborted) throw interrupted('nothing more was asked');
    return observed;
  } catch (failure) {
    // Otherwise the process would wait for the last hash.
    failed.abort();
    throw failure;
  }
}

/** Whether an object no longer needs the pending restore that the state has for it. */
function isSettled({ kind, declared }: Subject, live: Live | undefined, restore: PendingRestore | undefined) {
  if (restore === undefined || live === undefined) return false;
  // Nothing is restored to an object that doesn't exist or that the plan deletes.
  const gone = !live.exists || declared === undefined || declared.absent;
  return gone || Object.keys(stillLost(kindOf(kind), restore, live.fields)).length === 0;
}

/** A warning about lost values that someone has set since, so they aren't restored. */
function droppedRestore({ subject, address }: Addressed, now: Fields, restore: PendingRestore) {
  const back = stillLost(kindOf(subject.kind), restore, now);
  const dropped = Object.entries(missingElements(restore, now)).filter(
    ([field]) => !Object.hasOwn(back, field),
  );
  if (dropped.length === 0) return [];
  const names = describeLoss(Object.fromEntries(dropped));
  const message = `${address}: an update in run ${restore.run} did not finish and took away ${names}; somebody has set that since, so it isn't restored: declare it if it is needed`;
  return [{ code: 'restores-dropped' as const, message }];
}

/** A warning about pending restores that the selection leaves out. */
function leftOutRestores(addresses: readonly string[]): PlanWarning[] {
  if (addresses.length === 0) return [];
  const objects = addresses.length === 1 ? '1 object' : `${addresses.length} objects`;
  const message = `what an update took away from ${objects} that --kind or --target leave out is still to be restored (${firstFew(addresses)}): an apply without --kind and --target restores it`;
  return [{ code: 'restores-left-out', message }];
}

/** Warnings about lists that the profile can read and the server doesn't offer. */
function missingLists(references: References): PlanWarning[] {
  return listNames
    .filter((name) => references[name] === null)
    .map((name) => ({
      code: 'no-list',
      message: `the server offers no list of ${name}, so nothing could check that the ids of ${name} in the manifests exist and mean what their names say: compare the ids`,
    }));
}

type RegenerationOptions = PlanHeader &
  Pick<BuildOptions, 'reader' | 'concurrency' | 'progress' | 'state' | 'signal'>;

/** A plan that regenerates a value of one object, whatever is recorded. Reads the object if the profile can. */
export async function regenerationPlan(id: string, options: RegenerationOptions): Promise<Planned> {
  const observedAt = performance.now();
  const { change, live } = await regenerationOf(id, options);
  const again = async (): Promise<Change> =>
    (await regenerationOf(id, { ...options, progress: noProgress })).change;
  const readable = regenerated.kind.readable(options.profile);
  const unprotected = blockProtected([change], options.safety, ({ address }) => [address], {});
  const { changes, warnings } = await guardProfile(unprotected, undefined, options);
  return {
    plan: {
      ...(await assemble(changes, live === undefined ? [] : [regenerated.kind.scope], options)),
      warnings,
    },
    replan: { ...noReplan, observedAt, ...(readable ? { again } : {}) },
    observed: new Map(live?.exists === true ? [[change.apply.key, live]] : []),
  };
}

async function regenerationOf(id: string, options: RegenerationOptions) {
  const { kind, regeneration } = regenerated;
  const identity = { id };
  const subject = { kind: kind.name, identity };
  const address = addressOf(kind.name, identity);
  const unusable = unusableId(identity, options.profile);
  const { live } = await observe(unusable === undefined ? [subject] : [], [], options);
  const shown = live.get(subject);
  const before = shown?.fields ?? {};
  const change: Change = {
    ...emptyChange,
    ...regenerate(regeneration, identity, { fields: before, live: before }),
    address,
    kind: kind.name,
    declaredAt: null,
    observed: shown === undefined ? 'unknown' : 'live',
    apply: { key: address, identity, expected: {}, before, existed: shown?.exists ?? null, managed: [] },
  };
  return { change: blockedFor(change, unusable ?? shown?.reason), live: shown };
}

async function assemble(changes: readonly Change[], reads: readonly Scope[], header: PlanHeader) {
  const writes = changes.flatMap(({ requests }) =>
    requests.map(({ operation }) => operations[operation].scope),
  );
  return {
    toolVersion: header.toolVersion,
    createdAt: header.now.toISOString(),
    server: header.server,
    profile: header.profile.name,
    environment: header.environment,
    changes: changes.map(warnOfMixedScripts),
    requiredScopes: [...new Set<Scope>([...reads, ...writes])].sort(),
    warnings: [],
    digest: await withSlowHashes(() => planDigest(header, changes)),
  };
}
