import { error, refuse } from '../base/problems.js';
import { matchesJournal } from '../base/shard.js';
import { assign } from '../base/values.js';
import { addressOf, isAddressedByName, kindOf } from '../kinds/index.js';
import type { Declared, Identity, KindName, Live } from '../kinds/kind.js';
import { unrecordedField } from '../kinds/lifecycle.js';
import type { References } from '../kinds/references.js';
import type { ResourceRecord } from '../state/state.js';
import type { ObjectRef } from './observe.js';
import type { BuildOptions } from './options.js';
import type { Change } from './plan.js';
import { isInShard, isSelected, matchesTarget, mayMatchKind, type Selection } from './select.js';

/** An object of the plan: a document, or an undeclared object from the state. */
export interface Subject {
  readonly kind: KindName;
  readonly identity: Identity;
  readonly declared: Declared | undefined;
  /** Whether it is in the plan only for a pending restore. */
  readonly onlyRestore?: true;
  /** Whether it belongs to another shard. It is read because it may be the same object as one of this shard. */
  readonly inOtherShard?: true;
}

export type Addressed = Addresses & { readonly subject: Subject };

/** A substitute for the document of an object that no manifest declares. */
export function placeholderDocument(
  kind: KindName,
  identity: Identity,
  parts: Partial<Declared> = {},
  file = '',
): Declared {
  const place = { file, line: 1, column: 1, length: 1 };
  return {
    kind,
    identity,
    fields: {},
    absent: false,
    whole: [],
    ignored: [],
    places: { line: { file, line: 1 }, of: () => place, within: () => place },
    ...parts,
  };
}

/** The subjects to read: documents that a target may match, pending restores, and objects that pruning may delete. */
export function candidates(options: BuildOptions, references: References): Subject[] {
  const { declared, selection, state } = options;
  const documents = ownAndRelated(
    declared.filter(({ kind, identity }) => mayBeSelected(selection, kind, identity, references)),
    selection,
  );
  const named = new Set(declared.map((document) => addressOf(document.kind, document.identity)));
  const others = Object.entries(state.resources).filter(
    ([address, record]) =>
      !named.has(address) &&
      !knownNames(record).some((one) => named.has(one)) &&
      isSelected(selection, record.kind, [address]) &&
      isInShard(selection, record.kind, record.identity),
  );
  const orphans = others.flatMap(([, record]): Subject[] => {
    const { kind, identity, run, created = run, deleted, managed } = record;
    // idops owns an object that a run wrote, unless an undo restored it, which manages no field.
    const isPutBack = managed.length === 0 && created === run && unrecordedField(kindOf(kind)) === undefined;
    const isOwn = run !== null && !isPutBack;
    // A document without a found object may declare it.
    const isSure = declared.every((document) => document.kind !== kind || document.reason === undefined);
    if (isPruned(record, options) && deleted === undefined && isOwn && isSure)
      return [{ kind, identity, declared: undefined }];
    return hasRestore(record, options)
      ? [{ kind, identity, declared: placeholderDocument(kind, identity), onlyRestore: true }]
      : [];
  });
  return [...documents, ...orphans];
}

/** The addresses of a record by all names that its object has or had, since a document may use any of them. */
function knownNames({ kind, identity, left, former_names: former = [] }: ResourceRecord): string[] {
  const { name } = left?.fields ?? {};
  const names = typeof name === 'string' ? [name, ...former] : former;
  return [identity, ...names.map((one) => ({ name: one }))].map((one) => addressOf(kind, one));
}

/** The subjects without undeclared ones whose object a document declares after all. */
export function withoutDeclared(addressed: readonly Addressed[]): readonly Addressed[] {
  const own = new Set(addressed.flatMap(({ subject, key }) => (isOrphan(subject) ? [] : [key])));
  return addressed.filter(({ subject, key }) => !isOrphan(subject) || !own.has(key));
}

function isOrphan({ declared, onlyRestore }: Subject): boolean {
  return declared === undefined || onlyRestore === true;
}

/** The documents of this shard, and those of other shards that may be the same objects. */
function ownAndRelated(documents: readonly Declared[], selection: Selection): Subject[] {
  const subjects = documents.map((document): Subject => {
    const { kind, identity } = document;
    const own = isInShard(selection, kind, identity);
    return { kind, identity, declared: document, ...(own ? {} : { inOtherShard: true }) };
  });
  const ownKinds = new Set(subjects.flatMap(({ kind, inOtherShard }) => (inOtherShard ? [] : [kind])));
  return subjects.filter(
    ({ kind, inOtherShard }) => !inOtherShard || (isAddressedByName(kind) && ownKinds.has(kind)),
  );
}

/** Whether `--prune` may delete a recorded object that no manifest declares. */
function isPruned({ kind, created }: ResourceRecord, { prune, prunes }: BuildOptions): boolean {
  const { deletion } = kindOf(kind);
  if (!prune || deletion === undefined) return false;
  if (deletion.prunesOnlyCreated !== true) return prunes?.includes(kind) ?? deletion.prunedByDefault === true;
  return created !== undefined && prunes?.includes(kind) === true;
}

function hasRestore({ kind, owed }: ResourceRecord, { restores, profile }: BuildOptions): boolean {
  if (owed === undefined || restores === 'none' || !kindOf(kind).readable(profile)) return false;
  return restores === 'all' || matchesJournal(owed.run, restores.run);
}

/** The objects with pending restores that the selection leaves out. */
export function restoresLeftOut(options: BuildOptions): string[] {
  const { selection, state, restores } = options;
  if (restores !== 'all') return [];
  return Object.entries(state.resources)
    .filter(
      ([address, record]) =>
        hasRestore(record, options) &&
        !isSelected(selection, record.kind, [address]) &&
        isInShard(selection, record.kind, record.identity),
    )
    .map(([address]) => address);
}

/** Whether an object may be selected. For some kinds, only reading can tell. */
function mayBeSelected(
  selection: Selection,
  kind: KindName,
  identity: Identity,
  references: References = {},
) {
  if (isAddressedByName(kind)) return mayMatchKind(selection, kind);
  const { all } = addresses({ kind, identity }, undefined, references);
  return isSelected(selection, kind, all);
}

export interface Addresses {
  readonly address: string;
  /** The address by id, under which the state records the object. */
  readonly key: string;
  /** All addresses that a target may match. */
  readonly all: readonly string[];
}

export function addresses({ kind, identity }: ObjectRef, live: Live | undefined, references: References) {
  // Reading may have found the id for a name.
  const known = live === undefined ? identity : assign(identity, live.identity);
  const { address, key, all } = kindOf(kind).naming?.(known, references) ?? {
    address: identity,
    key: identity,
    all: [identity],
  };
  return {
    address: addressOf(kind, address),
    key: addressOf(kind, key),
    all: all.map((one) => addressOf(kind, one)),
  };
}

/** Throws a ProblemsError for targets that match none of these addresses, nor anything of another shard. */
export function checkTargets(
  { targets, kinds, shard }: Selection,
  all: readonly string[],
  { declared, state }: Pick<BuildOptions, 'declared' | 'state'>,
): void {
  const elsewhere = shard === undefined ? [] : [...declared, ...Object.values(state.resources)];
  const lost = targets.filter(
    (target) =>
      !all.some((address) => matchesTarget(target, address)) &&
      !elsewhere.some(({ kind, identity }) => mayBeSelected({ targets: [target], kinds }, kind, identity)),
  );
  const among = kinds.length === 0 ? '' : ` among ${kinds.join(' and ')}`;
  const hint = 'an address is KIND/ID, such as User/9b1d…; * matches any characters';
  refuse(
    lost.map((target) => {
      const message = `--target ${target} matches nothing that the manifests declare${among}`;
      return error('no-such-target', message, [], hint);
    }),
  );
}

/** The documents that share their object with others, each with those others. */
export function sameObjects(subjects: readonly { subject: Subject; key: string }[]) {
  const byKey = new Map<string, Declared[]>();
  for (const { subject, key } of subjects)
    if (subject.declared !== undefined) byKey.set(key, [...(byKey.get(key) ?? []), subject.declared]);
  const twice = [...byKey.values()].filter((group) => group.length > 1);
  return new Map(
    twice.flatMap((group) => group.map((one) => [one, group.filter((other) => other !== one)] as const)),
  );
}

export function blockedAsDuplicate(others: readonly Declared[]): Partial<Change> {
  const places = others.map(({ places: { line: at } }) => `${at.file}:${at.line}`).join(', ');
  return {
    action: 'blocked',
    requests: [],
    fields: [],
    destructions: [],
    reason: `this is the same object as the one declared at ${places}: keep one document`,
  };
}
