import { regeneration } from '../kinds/client.js';
import { deletion, templateText } from '../kinds/email-template.js';
import { kindOf, kinds } from '../kinds/index.js';
import type { Declared, Identity, KindName, Live } from '../kinds/kind.js';
import { idTrouble } from '../kinds/limits.js';
import type { OrganizationIndex } from '../kinds/organizations.js';
import { catalogNames, type References } from '../kinds/references.js';
import { ignoredFields } from '../kinds/rules.js';
import { templateWarnings } from '../mail/findings.js';
import type { ChecksSettings } from '../mail/settings.js';
import { error, ProblemsError } from '../problems.js';
import type { Progress } from '../progress.js';
import type { Reader } from '../server/client.js';
import { operations, type Scope } from '../server/operations.js';
import type { Profile } from '../server/profiles.js';
import { type Hasher, restoreFields } from '../state/secrets.js';
import type { ResourceRecord, State } from '../state/state.js';
import type { Fields } from '../values.js';
import { compare, type Recorded } from './compare.js';
import { planDigest } from './digest.js';
import { makeSure, type Recognise, seenProfile } from './fit.js';
import { listsFor, observe } from './observe.js';
import { arrange } from './order.js';
import type { Change, Plan, PlanWarning } from './plan.js';
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
  readonly concurrency: number;
  readonly progress: Progress;
  /** What the checks of email bodies count for. */
  readonly checks: ChecksSettings;
  /** Changes a document in the light of what is there now, before the two are compared. */
  readonly adjust?: (document: Declared, now: Fields) => Declared;
}

/** An object that the plan speaks of: a document, or a template that none names any more. */
interface Subject {
  readonly kind: KindName;
  readonly identity: Identity;
  readonly declared: Declared | undefined;
}

/**
 * The one planner: observes what the manifests name and compares. Sends GETs alone.
 * Throws an AggregateError of what went wrong on the way, and a ProblemsError for a target that matches nothing.
 */
export async function buildPlan(options: BuildOptions): Promise<Plan> {
  const { declared, selection, state, profile } = options;
  const subjects = candidates(options);
  const documents = subjects.flatMap((subject) => subject.declared ?? []);
  const { live, references } = await observe(subjects, listsFor(documents, profile), options);
  const { organizations } = references;
  const names = organizations?.renamed(renames(declared, organizations));
  const addressed = subjects.map((subject) => ({ subject, ...addresses(subject, live.get(subject), names) }));
  const selected = addressed.filter(({ subject, all }) => isSelected(selection, subject.kind, all));
  checkTargets(
    selection.targets,
    addressed.flatMap(({ all }) => all),
  );
  const twice = sameObjects(selected.map(({ subject, key }) => ({ subject, key })));
  const compared = selected.flatMap(({ subject, address, key }): Change[] => {
    const known = { live: live.get(subject), recorded: recordOf(state, key, options.hasher) };
    if (subject.declared === undefined) {
      // A record may have been written with another profile.
      const reason = idTrouble(subject.identity, profile);
      return pruned(subject, address, key, known.live).map((change) =>
        reason === undefined
          ? change
          : { ...change, action: 'blocked', requests: [], destructions: [], reason },
      );
    }
    const now = { ...known.recorded?.fields, ...known.live?.fields };
    const change = compare({
      ...known,
      declared: options.adjust?.(subject.declared, now) ?? subject.declared,
      references: { ...references, ...(names === undefined ? {} : { organizations: names }) },
      profile,
      assert: options.assert,
      address,
      key,
    });
    const others = twice.get(subject.declared);
    return [
      others === undefined ? checked(change, options.checks) : { ...change, ...blockedAsTwice(others) },
    ];
  });
  const reads = kinds
    .filter((kind) => kind.readable(profile) && subjects.some((subject) => subject.kind === kind.name))
    .map((kind) => kind.scopes.read);
  const lists = (['organizations', ...catalogNames] as const).filter(
    (name) => references[name] !== undefined,
  );
  const listing = lists.flatMap((name) => listScope(name, profile) ?? []);
  const fitting = await makeSure(compared, {
    profile,
    seen: seenProfile(profile, live),
    recognise: options.recognise,
  });
  const warnings = [
    ...fitting.warnings,
    ...missingLists(references),
    ...selected.flatMap(({ subject, address }) => ignored(subject, address, profile)),
  ];
  return { ...assemble(arrange(fitting.changes), [...reads, ...listing], options), warnings };
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
): Promise<Plan> {
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
  const { profile, recognise } = options;
  const { changes, warnings } = await makeSure([change], { profile, seen: undefined, recognise });
  const reads = shown === undefined ? [] : [kindOf('Client').scopes.read];
  return { ...assemble(changes, reads, options), warnings };
}

function assemble(changes: readonly Change[], reads: readonly Scope[], header: PlanHeader): Plan {
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
    digest: planDigest(header.server, changes),
  };
}

/** What has to be looked at: the documents that a target may mean, and what pruning may delete. */
function candidates({ declared, selection, prune, state }: BuildOptions): Subject[] {
  const documents = declared
    .filter((document) => mayBeSelected(document, selection))
    .map((document) => ({ kind: document.kind, identity: document.identity, declared: document }));
  if (!prune) return documents;
  const named = new Set(
    declared.map((document) => `${document.kind}/${kindOf(document.kind).addressPart(document.identity)}`),
  );
  const orphans = Object.entries(state.resources)
    .filter(
      // What manages nothing was put back by an undo: it is somebody else's again.
      ([address, { kind, deleted, managed }]) =>
        kind === 'EmailTemplate' && deleted === undefined && managed.length > 0 && !named.has(address),
    )
    .filter(([address, { kind }]) => isSelected(selection, kind, [address]))
    .map(([, { kind, identity }]) => ({ kind, identity, declared: undefined }));
  return [...documents, ...orphans];
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
    asDeleted: (live) => record.deleted !== undefined && record.deleted === hasher.hash(templateText(live)),
    takenAway: (live) =>
      record.taken_away === undefined || typeof live.id === 'string' ? {} : { ...record.taken_away },
    ...(record.did_generation === undefined ? {} : { generation: record.did_generation }),
    ...(record.pending_regeneration === undefined ? {} : { pendingRun: record.pending_regeneration }),
  };
}

function pruned({ kind, identity }: Subject, address: string, key: string, live: Live | undefined): Change[] {
  if (live === undefined || !live.exists || typeof live.fields.id !== 'string') return [];
  return [
    {
      ...deletion(identity, live.fields),
      address,
      kind,
      observed: 'live',
      warnings: [{ code: 'pruned', message: 'no manifest names it any more, and idops applied it' }],
      reason: null,
      declaredAt: null,
      apply: { key, identity, expected: {}, before: live.fields, existed: true, managed: [] },
    },
  ];
}
