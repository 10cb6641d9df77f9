import { regeneration } from '../kinds/client.js';
import { deletion, templateText } from '../kinds/email-template.js';
import { kindOf, kinds } from '../kinds/index.js';
import type { Declared, Identity, KindName, Live } from '../kinds/kind.js';
import { idTrouble } from '../kinds/limits.js';
import { type Owed, stillLost } from '../kinds/loss.js';
import type { OrganizationIndex } from '../kinds/organizations.js';
import { catalogNames, type References } from '../kinds/references.js';
import { ignoredFields } from '../kinds/rules.js';
import { templateWarnings } from '../mail/findings.js';
import type { ChecksSettings } from '../mail/settings.js';
import { error, ProblemsError } from '../problems.js';
import { noProgress, type Progress } from '../progress.js';
import type { Reader } from '../server/client.js';
import { operations, type Scope } from '../server/operations.js';
import type { Profile } from '../server/profiles.js';
import { type Hasher, restoreFields, secretsIn } from '../state/secrets.js';
import { eachWithSlowHashes, withSlowHashes } from '../state/slow-hash.js';
import type { ResourceRecord, State } from '../state/state.js';
import type { Fields } from '../values.js';
import { compare, type Recorded } from './compare.js';
import { planDigest } from './digest.js';
import { makeSure, type Recognise, seenProfile } from './fit.js';
import { interrupted, type Lists, listsFor, observe } from './observe.js';
import { arrange } from './order.js';
import type { Change, Plan, PlanWarning } from './plan.js';
import { noReplan, type Replan } from './replan.js';
import { listScope } from './scopes.js';
import { isSelected, matchesPattern, mayMatchKind, type Selection } from './select.js';

/** What every plan says of itself. */
export interface PlanHeader {
  readonly server: string;
  readonly profile: Profile;
  readonly environment: string | null;
  readonly toolVersion: string;
  readonly now: Date;
  /** How to find out what the server is; null where the configuration says it. */
  readonly recognise: Recognise | null;
}

export interface BuildOptions extends PlanHeader {
  readonly declared: readonly Declared[];
  readonly reader: Reader;
  readonly state: State;
  readonly hasher: Hasher;
  readonly selection: Selection;
  /** Delete templates that idops applied and no manifest names any more. */
  readonly prune: boolean;
  /** Send even where the recorded value already matches. */
  readonly assert: boolean;
  /** The clients whose DID is taken as it is, by their ids. */
  readonly acceptDids?: readonly string[];
  readonly concurrency: number;
  readonly progress: Progress;
  /** What the checks of email bodies count for. */
  readonly checks: ChecksSettings;
  /** Whose losses are put back although no document names the object: all, those of one run, or none. */
  readonly restores: 'all' | { readonly run: string } | 'none';
  /** Changes a document in the light of what is there now, before the two are compared. */
  readonly adjust?: (document: Declared, now: Fields) => Declared;
  /** Aborted where nothing more may be asked. */
  readonly signal?: AbortSignal;
}

/** An object that the plan speaks of: a document, or what none names and the state does. */
interface Subject {
  readonly kind: KindName;
  readonly identity: Identity;
  readonly declared: Declared | undefined;
  /** Whether it is here only since something was taken away from it. */
  readonly owed?: true;
}

/** A plan, and what makes its changes anew where time has passed or something went wrong. */
export interface Planned {
  readonly plan: Plan;
  readonly replan: Replan;
}

/**
 * The one planner: observes what the manifests name and compares. Sends GETs alone.
 * Throws an AggregateError of what went wrong on the way, and a ProblemsError for a target that matches nothing.
 */
export async function buildPlan(options: BuildOptions): Promise<Planned> {
  const { selection, profile } = options;
  const observedAt = performance.now();
  const subjects = candidates(options);
  const documents = subjects.flatMap((subject) => subject.declared ?? []);
  const { live, references } = await whileHashing(documents, options, () =>
    observe(subjects, listsFor(referring(subjects, options), profile), options),
  );
  const decider = new Decider(options, references);
  const addressed = subjects.map((subject) => ({
    subject,
    ...addresses(subject, live.get(subject), decider.references.organizations),
  }));
  const selected = addressed.filter(({ subject, all }) => isSelected(selection, subject.kind, all));
  checkTargets(
    selection.targets,
    addressed.flatMap(({ all }) => all),
  );
  const twice = sameObjects(selected.map(({ subject, key }) => ({ subject, key })));
  const decided = await eachWithSlowHashes(selected, (one) => ({
    one,
    change: decider.decide(one, live.get(one.subject)),
    settled: isSettled(one.subject, live.get(one.subject), decider.recorded(one.key)),
  }));
  const compared = decided.flatMap(({ one: { subject }, change }): Change[] => {
    const others = subject.declared === undefined ? undefined : twice.get(subject.declared);
    if (change === undefined) return [];
    return [others === undefined ? change : { ...change, ...blockedAsTwice(others) }];
  });
  const reads = kinds
    .filter((kind) => kind.readable(profile) && subjects.some((subject) => subject.kind === kind.name))
    .map((kind) => kind.scopes.read);
  const lists = (['organizations', ...catalogNames] as const).filter(
    (name) => references[name] !== undefined,
  );
  const listing = lists.flatMap((name) => listScope(name, profile) ?? []);
  const fitting = await makeSure(
    compared.map((change) => (isUnlisted(change) ? { ...change, warnings: [] } : change)),
    {
      profile,
      seen: seenProfile(profile, live),
      recognise: options.recognise,
    },
  );
  const warnings = [
    ...fitting.warnings,
    ...missingLists(references),
    ...selected.flatMap(({ subject, address }) => ignored(subject, address, profile)),
    ...compared
      .filter(isUnlisted)
      .flatMap(({ address, warnings }) =>
        warnings.map(({ code, message }) => ({ code, message: `${address}: ${message}` })),
      ),
  ];
  const settled = decided.filter((one) => one.settled).map(({ one: { key } }) => key);
  const made = await assemble(arrange(fitting.changes), [...reads, ...listing], options);
  const plan = { ...made, warnings, settled };
  return {
    plan,
    replan: replanOf(options, new Map(selected.map((one) => [one.key, one])), decider, observedAt),
  };
}

/** Observes; the secrets of the documents, which are all compared or sent, are hashed in the meantime. */
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
    if (secrets.length > 0 && signal?.aborted) throw interrupted();
    return observed;
  } catch (failure) {
    // The process would not end before the last of them.
    failed.abort();
    throw failure;
  }
}

/** What may refer to other things: the documents, and what is owed to objects. */
function referring(subjects: readonly Subject[], { state, hasher }: BuildOptions): Declared[] {
  return subjects.flatMap(({ kind, identity, declared }) => {
    if (declared === undefined) return [];
    const { owed } = recordOf(state, `${kind}/${kindOf(kind).addressPart(identity)}`, hasher) ?? {};
    if (owed === undefined) return [declared];
    const fields = 'before' in owed ? owed.before : owed.lost;
    return [declared, { ...undocumented(kind, identity), fields }];
  });
}

/** Whether a change isn't shown, so that its warnings are the plan's. */
function isUnlisted({ action }: Change): boolean {
  return action === 'unchanged';
}

/** A subject and what it is called. */
type Addressed = Addresses & { readonly subject: Subject };

/** Compares one object after the other with the same lists. */
class Decider {
  readonly #options: BuildOptions;
  /** The lists, the organizations in theirs under the names that they will have. */
  readonly references: References;

  constructor(options: BuildOptions, references: References) {
    this.#options = options;
    const { organizations } = references;
    const names = organizations?.renamed(renames(options.declared, organizations));
    this.references = { ...references, ...(names === undefined ? {} : { organizations: names }) };
  }

  recorded(key: string): Recorded | undefined {
    return recordOf(this.#options.state, key, this.#options.hasher);
  }

  /** What is to be done about an object; undefined where there is nothing to say of it. */
  decide(one: Addressed, live: Live | undefined): Change | undefined {
    const { subject, address, key } = one;
    if (subject.declared === undefined) {
      const change = pruned(subject, { address, key, live, profile: this.#options.profile });
      // A record may have been written with another profile.
      const reason = idTrouble(subject.identity, this.#options.profile);
      if (change === undefined || reason === undefined) return change;
      return { ...change, action: 'blocked', requests: [], destructions: [], reason };
    }
    const change = this.compare(one, live, this.recorded(key), this.adjusted(one, live));
    if (!subject.owed) return checked(change, this.#options.checks);
    return change.action === 'unchanged' || live?.exists === false
      ? undefined
      : { ...change, declaredAt: null };
  }

  /** A document as it is to be compared; what stands in for one where there is none. */
  adjusted({ subject, key }: Addressed, live: Live | undefined): Declared {
    const { declared = undocumented(subject.kind, subject.identity), owed } = subject;
    const now = { ...this.recorded(key)?.fields, ...live?.fields };
    return (owed ? undefined : this.#options.adjust?.(declared, now)) ?? declared;
  }

  compare(
    { address, key }: Addressed,
    live: Live | undefined,
    recorded: Recorded | undefined,
    declared: Declared,
  ): Change {
    const { profile, assert, acceptDids = [] } = this.#options;
    const accepted = declared.kind === 'Client' && acceptDids.includes(declared.identity.id ?? '');
    const { references } = this;
    return compare({ live, recorded, declared, references, profile, assert, accepted, address, key });
  }
}

function replanOf(
  options: BuildOptions,
  byKey: ReadonlyMap<string, Addressed>,
  planned: Decider,
  observedAt: number,
): Replan {
  let decider = planned;
  let held: { readonly at: number; readonly lists: Lists } | undefined;
  return {
    observedAt,
    async again({ apply: { key } }, notBefore) {
      const one = byKey.get(key);
      if (one === undefined || !kindOf(one.subject.kind).readable(options.profile)) return undefined;
      // The lists serve all objects that are planned anew in their time.
      if (held === undefined || held.at < notBefore) held = { at: performance.now(), lists: {} };
      const needed = listsFor(referring([one.subject], options), options.profile);
      const { live, references } = await observe([one.subject], needed, {
        ...options,
        lists: held.lists,
        progress: noProgress,
      });
      decider = new Decider(options, { ...decider.references, ...references });
      return await withSlowHashes(() => decider.decide(one, live.get(one.subject)));
    },
    repair({ apply }, owed, live, aim) {
      const one = byKey.get(apply.key);
      if (one === undefined) return undefined;
      const known = planned.recorded(apply.key) ?? NO_RECORD;
      const asked = decider.adjusted(one, undefined);
      const before: Declared = {
        ...asked,
        fields: picked(apply.before, Object.keys(apply.expected)),
        absent: false,
        remembered: true,
      };
      const declared = aim === 'asked' ? asked : { ...before, whole: Object.keys(before.fields) };
      const change = decider.compare(one, live, { ...known, owed }, declared);
      if (change.action !== 'update' || change.requests.length === 0) return undefined;
      // What the object had before the first of the requests, which is what undoing leads back to.
      return { ...change, apply: { ...change.apply, before: apply.before, managed: apply.managed } };
    },
  };
}

const NO_RECORD: Recorded = { fields: {}, uncertain: new Set(), at: '', run: '', asDeleted: () => false };

function picked(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(
    names.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])),
  );
}

/** Whether the state says that something was taken away from an object, and it no longer is. */
function isSettled(
  { kind, declared }: Subject,
  live: Live | undefined,
  recorded: Recorded | undefined,
): boolean {
  if (recorded?.owed === undefined || live === undefined) return false;
  // A template that is to be pruned is gone already.
  const gone = !live.exists || declared === undefined || declared.absent;
  return gone || Object.keys(stillLost(kindOf(kind), recorded.owed, live.fields)).length === 0;
}

/** What stands in for the document of an object that no manifest names and that something was taken away from. */
function undocumented(kind: KindName, identity: Identity): Declared {
  const nowhere = { file: '', line: 1, column: 1, length: 1 };
  return { kind, identity, fields: {}, absent: false, whole: [], place: nowhere, placeOf: () => nowhere };
}

/** A change with what the checks of email bodies say; one that the settings make an error blocks it. */
function checked(change: Change, settings: ChecksSettings): Change {
  const { warnings, errors } = templateWarnings(change, settings);
  const told = { ...change, warnings: [...change.warnings, ...warnings, ...errors] };
  if (errors.length === 0) return told;
  const reason = errors.map(({ code, message }) => `${message} (${code} is an error here)`).join('; ');
  return { ...told, action: 'blocked', requests: [], destructions: [], reason };
}

/** Lists that the profile has a read for and the server doesn't offer. */
function missingLists(references: References): PlanWarning[] {
  return catalogNames
    .filter((name) => references[name] === null)
    .map((name) => ({
      code: 'no-list',
      message: `the server offers no list of ${name}, so nothing could check that the ids of ${name} in the manifests exist and mean what their names say: compare the ids`,
    }));
}

/** What a document declares and the server does nothing with. */
function ignored({ declared }: Subject, address: string, profile: Profile): PlanWarning[] {
  if (declared === undefined) return [];
  return ignoredFields(declared, profile).map((field) => {
    const { file, line } = declared.placeOf(field);
    return {
      code: 'ignored-field',
      message: `${address}: the server takes no notice of "${field}" (${file}:${line}), so it is neither sent nor compared`,
    };
  });
}

/** A plan that regenerates one client's DID, whatever was recorded of it; the client is read where that can be done. */
export async function regenerationPlan(
  clientId: string,
  options: PlanHeader & Pick<BuildOptions, 'reader' | 'concurrency' | 'progress'>,
): Promise<Planned> {
  const observedAt = performance.now();
  const { change, reads } = await regenerationOf(clientId, options);
  const again = async (): Promise<Change> =>
    (await regenerationOf(clientId, { ...options, progress: noProgress })).change;
  const readable = kindOf('Client').readable(options.profile);
  const { profile, recognise } = options;
  const { changes, warnings } = await makeSure([change], { profile, seen: undefined, recognise });
  return {
    plan: { ...(await assemble(changes, reads, options)), warnings },
    replan: { ...noReplan, observedAt, ...(readable ? { again } : {}) },
  };
}

async function regenerationOf(
  clientId: string,
  options: PlanHeader & Pick<BuildOptions, 'reader' | 'concurrency' | 'progress'>,
): Promise<{ change: Change; reads: readonly Scope[] }> {
  const address = `Client/${clientId}`;
  const identity = { id: clientId };
  const subject = { kind: 'Client', identity } as const;
  const unfit = idTrouble(identity, options.profile);
  const { live } = await observe(unfit === undefined ? [subject] : [], [], options);
  const shown = live.get(subject);
  const before = shown?.fields ?? {};
  const trouble = unfit ?? shown?.trouble;
  const change: Change = {
    ...regeneration(identity, before),
    ...(trouble === undefined ? {} : { action: 'blocked', requests: [], destructions: [] }),
    address,
    kind: 'Client',
    observed: shown === undefined ? 'unknown' : 'live',
    warnings: [],
    reason: trouble ?? null,
    declaredAt: null,
    apply: { key: address, identity, expected: {}, before, existed: shown?.exists ?? null, managed: [] },
  };
  return { change, reads: shown === undefined ? [] : [kindOf('Client').scopes.read] };
}

async function assemble(
  changes: readonly Change[],
  reads: readonly Scope[],
  header: PlanHeader,
): Promise<Plan> {
  const writes = changes.flatMap(({ requests }) =>
    requests.map(({ operation }) => operations[operation].scope),
  );
  return {
    toolVersion: header.toolVersion,
    createdAt: header.now.toISOString(),
    server: header.server,
    profile: header.profile.name,
    environment: header.environment,
    changes,
    requiredScopes: [...new Set<Scope>([...reads, ...writes])].sort(),
    warnings: [],
    digest: await withSlowHashes(() => planDigest(header, changes)),
  };
}

/** What has to be looked at: the documents that a target may mean, what was taken away, and what pruning may delete. */
function candidates(options: BuildOptions): Subject[] {
  const { declared, selection, prune, state } = options;
  const documents = declared
    .filter((document) => mayBeSelected(document, selection))
    .map((document) => ({ kind: document.kind, identity: document.identity, declared: document }));
  const named = new Set(
    declared.map((document) => `${document.kind}/${kindOf(document.kind).addressPart(document.identity)}`),
  );
  const others = Object.entries(state.resources).filter(
    ([address, { kind }]) => !named.has(address) && isSelected(selection, kind, [address]),
  );
  const orphans = others.flatMap(([, record]): Subject[] => {
    const { kind, identity, deleted, managed } = record;
    // What manages nothing was put back by an undo: it is somebody else's again.
    if (prune && kind === 'EmailTemplate' && deleted === undefined && managed.length > 0) {
      return [{ kind, identity, declared: undefined }];
    }
    return isOwed(record, options)
      ? [{ kind, identity, declared: undocumented(kind, identity), owed: true }]
      : [];
  });
  return [...documents, ...orphans];
}

function isOwed({ kind, owed }: ResourceRecord, { restores, profile }: BuildOptions): boolean {
  if (owed === undefined || restores === 'none' || !kindOf(kind).readable(profile)) return false;
  return restores === 'all' || restores.run === owed.run;
}

/** An organization's address takes its name from the server, so it is decided after reading. */
function mayBeSelected(document: Declared, selection: Selection): boolean {
  if (document.kind === 'Organization') return mayMatchKind(selection, document.kind);
  return isSelected(selection, document.kind, [
    `${document.kind}/${kindOf(document.kind).addressPart(document.identity)}`,
  ]);
}

/** The names that organizations will have, by id. */
function renames(
  declared: readonly Declared[],
  organizations: OrganizationIndex,
): ReadonlyMap<string, string> {
  return new Map(
    declared.flatMap(({ kind, identity, fields }) =>
      kind === 'Organization' &&
      identity.id !== undefined &&
      typeof fields.name === 'string' &&
      organizations.byId(identity.id) !== undefined
        ? [[identity.id, fields.name] as const]
        : [],
    ),
  );
}

interface Addresses {
  readonly address: string;
  /** The address by id, under which the state records the object. */
  readonly key: string;
  /** Everything that a target may call it. */
  readonly all: readonly string[];
}

function addresses(
  { kind, identity }: Subject,
  live: Live | undefined,
  names: OrganizationIndex | undefined,
): Addresses {
  if (kind !== 'Organization') {
    const address = `${kind}/${kindOf(kind).addressPart(identity)}`;
    return { address, key: address, all: [address] };
  }
  const id = live?.identity.id ?? identity.id;
  const row = id === undefined ? undefined : names?.byId(id);
  const name = typeof row?.name === 'string' ? row.name : identity.name;
  const unique = name !== undefined && (names?.byName(name).length ?? 0) <= 1;
  const byName = name === undefined ? [] : [`${kind}/${name}`];
  const byId = id === undefined ? [] : [`${kind}/${id}`];
  const address = (unique || id === undefined ? byName[0] : undefined) ?? byId[0] ?? kind;
  return { address, key: byId[0] ?? address, all: [...byName, ...byId] };
}

function checkTargets(targets: readonly string[], all: readonly string[]): void {
  const lost = targets.filter((target) => !all.some((address) => matchesPattern(target, address)));
  if (lost.length === 0) return;
  throw new ProblemsError(
    lost.map((target) =>
      error(
        'no-such-target',
        `--target ${target} matches nothing that the manifests declare`,
        [],
        'an address is KIND/ID, such as User/9b1d…; * stands for any characters',
      ),
    ),
  );
}

/** Documents that turned out to be one object, each with the places of the others. */
function sameObjects(
  subjects: readonly { subject: Subject; key: string }[],
): ReadonlyMap<Declared, Declared[]> {
  const byKey = new Map<string, Declared[]>();
  for (const { subject, key } of subjects) {
    if (subject.declared === undefined) continue;
    const others = byKey.get(key);
    if (others === undefined) byKey.set(key, [subject.declared]);
    else others.push(subject.declared);
  }
  const twice = [...byKey.values()].filter((group) => group.length > 1);
  return new Map(
    twice.flatMap((group) => group.map((one) => [one, group.filter((other) => other !== one)] as const)),
  );
}

function blockedAsTwice(others: readonly Declared[]): Partial<Change> {
  const places = others.map(({ place }) => `${place.file}:${place.line}`).join(', ');
  return {
    action: 'blocked',
    requests: [],
    fields: [],
    destructions: [],
    reason: `this is the same object as the one declared at ${places}: keep one document`,
  };
}

function recordOf(state: State, key: string, hasher: Hasher): Recorded | undefined {
  const record = Object.hasOwn(state.resources, key) ? state.resources[key] : undefined;
  return record === undefined ? undefined : recorded(record, hasher);
}

function recorded(record: ResourceRecord, hasher: Hasher): Recorded {
  return {
    fields: restoreFields(record, hasher),
    uncertain: new Set(record.uncertain),
    at: record.recorded_at,
    run: record.run,
    asDeleted: (live) => record.deleted !== undefined && record.deleted === hasher.hash(templateText(live)),
    ...(record.owed === undefined ? {} : { owed: owed(record.owed, hasher) }),
    ...(record.did_generation === undefined ? {} : { generation: record.did_generation }),
    ...(record.pending_regeneration === undefined ? {} : { pendingRun: record.pending_regeneration }),
  };
}

function owed(record: NonNullable<ResourceRecord['owed']>, hasher: Hasher): Owed {
  const { run } = record;
  return 'before' in record
    ? { run, before: restoreFields(record.before, hasher), asked: restoreFields(record.asked, hasher) }
    : { run, lost: restoreFields(record.lost, hasher), seen: restoreFields(record.seen, hasher) };
}

function pruned(
  { kind, identity }: Subject,
  {
    address,
    key,
    live,
    profile,
  }: Pick<Addresses, 'address' | 'key'> & { readonly live: Live | undefined; readonly profile: Profile },
): Change | undefined {
  if (live === undefined || !live.exists || typeof live.fields.id !== 'string') return undefined;
  return {
    ...deletion(identity, live.fields, profile),
    address,
    kind,
    observed: 'live',
    warnings: [{ code: 'pruned', message: 'no manifest names it any more, and idops applied it' }],
    reason: null,
    declaredAt: null,
    apply: { key, identity, expected: {}, before: live.fields, existed: true, managed: [] },
  };
}
