import { identifierKey } from '../base/identifiers.js';
import { type Fields, isMap, lazy, mapValues, withoutUndefined } from '../base/values.js';
import { findReference } from '../kinds/by-name.js';
import type { OtherNames } from '../kinds/catalog.js';
import { desired } from '../kinds/desired.js';
import { value } from '../kinds/fields.js';
import { addressOf, kindOf } from '../kinds/index.js';
import type { Declared, KindName, Live } from '../kinds/kind.js';
import { unusableId } from '../kinds/limits.js';
import type { PendingRestore } from '../kinds/loss.js';
import { type ListedField, listNames, listsAfter, type References } from '../kinds/references.js';
import { type Hasher, restoreFields } from '../secrets/hash.js';
import type { Profile } from '../server/profiles.js';
import type { ResourceRecord, State } from '../state/state.js';
import { type BodyChecks, templateWarnings } from './body-checks.js';
import { type CompareInput, compare, type Recorded } from './compare.js';
import { namesake } from './create.js';
import type { BuildOptions } from './options.js';
import { blockedFor, type Change, emptyChange } from './plan.js';
import { type Addressed, placeholderDocument } from './subjects.js';

/** Decides what to do for each object, with the same lists for all. */
export class Decider {
  readonly #options: BuildOptions;
  /** The lists as they are after the documents are applied. */
  readonly references: References;

  /** `earlier` are the lists of a plan that is being applied. While it runs, both names of a renamed object are accepted. */
  constructor(options: BuildOptions, references: References, earlier: References = {}) {
    this.#options = options;
    const known = listNames.flatMap((name) => earlier[name]?.others ?? []);
    const { former, recreated = [] } = otherNames(options.state);
    const others = {
      live: new Map(known.flatMap(({ live }) => [...live])),
      former,
      recreated: new Map([...known.flatMap((one) => [...(one.recreated ?? [])]), ...recreated]),
    };
    this.references = listsAfter(references, options.declared, others, valuesIn(options.profile));
  }

  /** Ids in the state: of creations with an unknown outcome by address, of replacements by the id of the deleted object, and of all objects by their last name. */
  readonly #creations = lazy(() => {
    const creating = new Map<string, string>();
    const replacedBy = new Map<string, string>();
    const lastNamed = new Map<string, string>();
    for (const record of Object.values(this.#options.state.resources)) {
      const { kind, creating: part, replaces, left } = record;
      const { id } = record.identity;
      const name = left?.fields.name;
      if (id !== undefined && typeof name === 'string') lastNamed.set(`${kind}/${name}`, id);
      if (id !== undefined && part !== undefined) creating.set(`${kind}/${part}`, id);
      if (id !== undefined && replaces !== undefined) replacedBy.set(`${kind}/${replaces}`, id);
    }
    return { creating, replacedBy, lastNamed };
  });

  /** The records of creations with an unknown outcome and an unknown id. */
  readonly #lostCreations = lazy(() =>
    Object.entries(this.#options.state.resources).filter(
      ([, { creating, identity }]) => creating !== undefined && identity.id === undefined,
    ),
  );

  /** If this is the only object that a creation with an unknown outcome can have made, the change records it as created by that run. */
  #withLostCreation(change: Change, live: Live | undefined): Change {
    const { kind: name, action, apply } = change;
    const isKept = action === 'unchanged' || action === 'adopt' || action === 'update';
    if (!isKept || live?.exists !== true || this.#options.adjust !== undefined) return change;
    const { byName, noun } = kindOf(name);
    const lost = this.#lostCreations().find(([, { kind, identity }]) => {
      if (kind !== name) return false;
      const found =
        byName?.find(identity, this.references) ?? findReference(noun, { ...identity }, this.references);
      return typeof found !== 'string' && found.id === live.identity.id;
    });
    const [key, { run = null } = {}] = lost ?? [];
    if (key === undefined || run === null) return change;
    const message = `run ${run} tried to create it and didn't learn the outcome: it is the only ${noun} of that name, so it is recorded as created by that run`;
    return {
      ...change,
      action: action === 'unchanged' ? 'adopt' : action,
      warnings: [...change.warnings, { code: 'creation-found', message }],
      apply: { ...apply, lostCreation: { key, run } },
    };
  }

  /** The instant that decides which access has ended. */
  get #now(): Date {
    return this.#options.asOf ?? this.#options.now;
  }

  recorded(key: string): Recorded | undefined {
    const record = recordIn(this.#options.state, key);
    if (record === undefined) return undefined;
    const { hasher } = this.#options;
    const { kind, deleted, left, owed, until, given, recorded_at: at, run } = record;
    return {
      fields: restoreFields(record, hasher),
      uncertain: new Set(record.uncertain),
      at,
      run,
      matchesDeleteResponse: (live) => deleted !== undefined && deleted === deletedHash(kind, live, hasher),
      ...withoutUndefined({
        until,
        given,
        lastShown: left && { run: left.run, fields: restoreFields(left, hasher) },
        restore: owed && withoutEndedAccess(restorePending(owed, hasher), record, this.#now),
        generation: record.did_generation,
        pendingRun: record.pending_regeneration,
      }),
    };
  }

  /** What an unfinished update removed from an object; undefined if nothing. */
  pendingRestore(key: string): PendingRestore | undefined {
    return recordIn(this.#options.state, key)?.owed && this.recorded(key)?.restore;
  }

  /** The change of an object; undefined if the plan has nothing to show for it. */
  decide(one: Addressed, live: Live | undefined): Change | undefined {
    const { subject, key } = one;
    if (subject.declared === undefined) {
      // The record may be from another profile.
      const change = this.#pruned(one, live);
      return change && blockedFor(change, unusableId(subject.identity, this.#options.profile));
    }
    const recorded = this.recorded(key);
    const compared = this.compare(one, live, recorded, this.adjusted(one, live, recorded));
    const change = this.#withLostCreation(compared, live);
    if (!subject.onlyRestore) return checked(change, subject.declared, this.#options.checks);
    return change.action === 'unchanged' || live?.exists === false
      ? undefined
      : { ...change, declaredAt: null };
  }

  /** The document to compare, or its substitute. `shown` is what it will be compared with. */
  adjusted(one: Addressed, live?: Live, recorded = this.recorded(one.key), shown = live): Declared {
    const { subject } = one;
    const { declared = placeholderDocument(subject.kind, subject.identity), onlyRestore } = subject;
    const { adjust } = this.#options;
    if (onlyRestore || adjust === undefined) return declared;
    const other = live?.missing === true ? namesake(declared, this.references) : undefined;
    const shownFields = live?.exists === false ? {} : live?.fields;
    return adjust(declared, { ...recorded?.fields, ...shownFields, ...other }, (document) => {
      const { action, reason } = this.compare(one, shown, recorded, document);
      return action === 'blocked' ? (reason ?? '') : undefined;
    });
  }

  compare(
    { address, key }: Addressed,
    live: Live | undefined,
    recorded: Recorded | undefined,
    declared: Declared,
  ): Change {
    const { profile, assert } = this.#options;
    const { references } = this;
    const earlier = live?.missing === true ? this.#earlier(declared) : {};
    return compare({ live, recorded, declared, references, profile, assert, address, key, ...earlier });
  }

  #pruned({ subject, address, key }: Addressed, live: Live | undefined): Change | undefined {
    const { kind, identity } = subject;
    const { deletion } = kindOf(kind);
    if (live === undefined || deletion?.exists(live) !== true) return undefined;
    const message = 'declared by no manifest any more; idops applied or created it';
    return {
      ...emptyChange,
      ...deletion.verdict(identity, live.fields, this.#options.profile),
      address,
      kind,
      observed: 'live',
      declaredAt: null,
      warnings: [{ code: 'pruned', message }],
      apply: { key, identity, expected: {}, before: live.fields, existed: true, managed: [] },
    };
  }

  /** What earlier runs did to an object that the server doesn't have. */
  #earlier({ kind, identity }: Declared): Pick<CompareInput, 'creating' | 'replacedBy' | 'renamed'> {
    const { creating, replacedBy, lastNamed } = this.#creations();
    const { listedIn = 'own' } = kindOf(kind);
    const id = identity.id === undefined ? lastNamed.get(`${kind}/${identity.name}`) : undefined;
    const name = id === undefined || listedIn === 'own' ? undefined : this.references[listedIn]?.liveName(id);
    const isRenamed = id !== undefined && name !== undefined && name !== identity.name;
    return {
      ...(isRenamed ? { renamed: { id, name } } : {}),
      creating: creating.get(addressOf(kind, identity)),
      replacedBy: replacedBy.get(`${kind}/${identity.id}`),
    };
  }
}

/** Computes the values that documents give to rows of lists, with references resolved. */
export function valuesIn(profile: Profile): ListedField {
  return ({ kind: name, fields }, field, row, references) => {
    const kind = kindOf(name);
    const { [field]: declared = null } = fields;
    const context = { references, profile, present: row, isDeclared: () => true, locationOf: () => '' };
    const { [field]: asked = declared } = kind.resolve?.({ [field]: declared }, context).fields ?? {};
    return desired(kind.fields[field] ?? value, asked, row[field] ?? null, false) ?? declared;
  };
}

/** The change with the findings of the body checks; an error blocks it. */
function checked(change: Change, declared: Declared, checks: BodyChecks): Change {
  const { warnings, errors } = templateWarnings(change, declared, checks);
  if (warnings.length === 0 && errors.length === 0) return change;
  const warned = { ...change, warnings: [...change.warnings, ...warnings, ...errors] };
  if (errors.length === 0) return warned;
  const reason = errors.map(({ code, message }) => `${message} (${code} is an error here)`).join('; ');
  return blockedFor(warned, reason);
}

/** Hash of the server's DELETE response. */
export function deletedHash(kind: KindName, answer: Fields, hasher: Hasher): string {
  return hasher.hash([...(kindOf(kind).deletion?.fingerprint(answer) ?? [])]);
}

/** The former names and ids of objects in a state. */
export function otherNames(state: Pick<State, 'resources'>): OtherNames {
  const replaced = Object.values(state.resources).flatMap(({ identity: { id }, replaces }) =>
    id === undefined || replaces === undefined ? [] : [[identifierKey(replaces), id] as const],
  );
  return { live: new Map(), former: formerNames(state), recreated: new Map(replaced) };
}

/** The last recorded names and the former names of objects, by id. */
export function formerNames({ resources }: Pick<State, 'resources'>): ReadonlyMap<string, readonly string[]> {
  return new Map(
    Object.values(resources).flatMap(({ kind, identity: { id }, left, former_names: former = [] }) => {
      if (kindOf(kind).keepsFormerNames !== true || id === undefined) return [];
      const last = left?.fields.name;
      return [[identifierKey(id), typeof last === 'string' ? [...former, last] : former] as const];
    }),
  );
}

export function pendingRestoreIn(state: State, key: string, hasher: Hasher): PendingRestore | undefined {
  const record = recordIn(state, key);
  return record?.owed && restorePending(record.owed, hasher);
}

function recordIn({ resources }: State, key: string): ResourceRecord | undefined {
  return Object.hasOwn(resources, key) ? resources[key] : undefined;
}

/** A pending restore without members whose access has ended since. */
function withoutEndedAccess(restore: PendingRestore, { until = {} }: ResourceRecord, now: Date) {
  const current = (fields: Fields): Fields =>
    mapValues(fields, (set, field) => {
      const { [field]: ends } = until;
      if (ends === undefined || !Array.isArray(set)) return set;
      return set.filter((element) => {
        const at = isMap(element) && typeof element.id === 'string' ? ends[element.id]?.at : undefined;
        return at === undefined || Date.parse(at) > now.getTime();
      });
    });
  return 'before' in restore
    ? { ...restore, before: current(restore.before) }
    : { ...restore, lost: current(restore.lost) };
}

function restorePending(record: NonNullable<ResourceRecord['owed']>, hasher: Hasher): PendingRestore {
  const { run } = record;
  return 'before' in record
    ? { run, before: restoreFields(record.before, hasher), asked: restoreFields(record.asked, hasher) }
    : { run, lost: restoreFields(record.lost, hasher), seen: restoreFields(record.seen, hasher) };
}
