import { error, type Problem, ProblemsError } from '../base/problems.js';
import { type Fields, holdsSensitive } from '../base/values.js';
import { asItWillBe, contrast, lackOf, value } from '../kinds/fields.js';
import { kindOf } from '../kinds/index.js';
import type { Kind } from '../kinds/kind.js';
import { labelled, type Names } from '../plan/label.js';
import type { Change, FieldChange } from '../plan/plan.js';
import { type Profile, profiles } from '../server/profiles.js';
import type { RunStore } from '../state/backend.js';
import type { JournalContent, RunLine } from '../state/journal.js';
import { Hasher } from '../state/secrets.js';
import { eachWithSlowHashes } from '../state/slow-hash.js';
import type { State } from '../state/state.js';
import { type Entry, entriesOf, fieldsOf } from './entries.js';
import type { ChangeResult } from './result.js';
import { knowsOf, withoutFirstLine } from './resume.js';

/** One change of a past run: what it was to do, and what became of it. */
export interface PastChange {
  readonly change: Pick<Change, 'address' | 'label' | 'kind' | 'action' | 'fields'>;
  /** The address by ids alone, which a rename doesn't change. */
  readonly key: string;
  /** What it was called when the run was through with it, where that is known. */
  readonly called?: string;
  readonly at: string;
  /** Null where the run ended before there was an answer. */
  readonly result: ChangeResult | null;
}

/** A past run, as its journal tells it. */
export interface PastRun {
  readonly run: RunLine;
  /** `unfinished`: it was killed, and no later run has settled it yet. */
  readonly ended: 'finished' | 'interrupted' | 'unfinished';
  readonly changes: readonly PastChange[];
}

/** Reads all runs, oldest first; the problems are those of journals that can't be used, the state's own ones among them. */
export async function readRuns(
  store: RunStore,
  state?: State,
): Promise<{ runs: PastRun[]; problems: Problem[] }> {
  const runs: PastRun[] = [];
  const problems: Problem[] = [];
  for (const name of await store.list()) {
    try {
      const content = await store.read(name);
      if (content !== null) runs.push(await pastRun(content));
      else if (knowsOf(state, name)) problems.push(withoutFirstLine(name));
    } catch (failure) {
      if (!(failure instanceof ProblemsError)) throw failure;
      problems.push(...failure.problems);
    }
  }
  return { runs, problems };
}

/**
 * Finds a run by its name, or by the beginning of it where that is enough.
 * Throws a ProblemsError (`no-such-run`) where none or several have it.
 */
export async function findRun(store: RunStore, name: string): Promise<JournalContent> {
  const names = await store.list();
  const found = names.includes(name) ? [name] : names.filter((one) => name !== '' && one.startsWith(name));
  const [only] = found;
  const content = only !== undefined && found.length === 1 ? await store.read(only) : null;
  if (content !== null) return content;
  if (only !== undefined && found.length === 1) throw new ProblemsError([withoutFirstLine(only)]);
  const why = found.length > 1 ? `${found.length} runs begin with "${name}"` : `there is no run "${name}"`;
  throw new ProblemsError([error('no-such-run', why, [], 'idops runs lists them')]);
}

/** What a journal tells, as people look at it. */
export async function pastRun(content: JournalContent): Promise<PastRun> {
  const hasher = new Hasher(content.run);
  const last = content.lines.at(-1);
  const profile = profiles[content.run.profile] ?? profiles.documented;
  const entries = entriesOf(content);
  const names = namesTold(entries);
  return {
    run: content.run,
    ended: last?.type !== 'end' ? 'unfinished' : last.interrupted ? 'interrupted' : 'finished',
    changes: await eachWithSlowHashes(entries, (entry) => pastChange(entry, hasher, profile, names)),
  };
}

function pastChange(entry: Entry, hasher: Hasher, profile: Profile | undefined, names: Names): PastChange {
  const { sending, answered } = entry;
  const { address, kind, action } = sending;
  return {
    change: { address, ...labelIn(entry, names), kind, action, fields: fieldChanges(entry, hasher, profile) },
    key: sending.key,
    ...calledAfter(entry),
    at: answered?.at ?? sending.at,
    result:
      answered === undefined
        ? null
        : {
            address,
            action,
            status: answered.status,
            httpStatus: answered.http_status,
            attempts: answered.attempts,
            unverified: answered.unverified,
            error: answered.error,
            ...(answered.notes === undefined ? {} : { notes: answered.notes }),
          },
  };
}

/** The names of other things that the answers of a run told, by their ids. */
export function namesTold(entries: readonly Entry[]): Names {
  return new Map(
    entries.flatMap(({ sending: { kind, before }, answered }) =>
      [before.fields, answered?.after?.fields ?? {}].flatMap((fields) =>
        Object.entries(kindOf(kind).names?.(fields) ?? {}),
      ),
    ),
  );
}

/** What an object was called when a run was through with it, as far as the journal tells. */
export function labelIn({ sending, answered }: Entry, names: Names): { readonly label?: string } {
  const { kind, address, identity, before } = sending;
  const { called, naming } = kindOf(kind);
  // What takes its address from its name goes by the one that it had.
  const after = naming === undefined ? (answered?.after?.fields ?? {}) : {};
  const told = called?.(before.fields) ?? called?.(after) ?? sending.label;
  return labelled({ kind, address, apply: { identity } }, told, names);
}

/** The object's own name afterwards, which a rename of the run makes another one. */
function calledAfter({ sending, answered }: Entry): { readonly called?: string } {
  const made = answered?.status === 'applied' ? sending.expected.fields : {};
  const called = kindOf(sending.kind).called?.({
    ...sending.before.fields,
    ...made,
    ...answered?.after?.fields,
  });
  return called === undefined ? {} : { called };
}

/** What a regeneration made, against what was there before it, where it is something else. */
function madeAnew({ regeneration }: Kind, was: Fields, is: Fields): FieldChange[] {
  if (regeneration === undefined) return [];
  const { [regeneration.field]: before } = was;
  const { [regeneration.field]: after } = is;
  return typeof after === 'string' && after !== before
    ? [{ path: regeneration.field, type: 'value', before, after, sensitive: false }]
    : [];
}

/** What the run asked for, against what was there before it. */
function fieldChanges(
  { sending, answered }: Entry,
  hasher: Hasher,
  profile: Profile | undefined,
): readonly FieldChange[] {
  const kind = kindOf(sending.kind);
  const before = fieldsOf(sending.before, hasher);
  if (sending.action === 'delete') {
    return profile === undefined
      ? []
      : (kind.deletion?.verdict(sending.identity, before, profile).fields ?? []);
  }
  const made =
    sending.action === 'regenerate'
      ? madeAnew(kind, before, answered?.after == null ? {} : fieldsOf(answered.after, hasher))
      : [];
  if (sending.generation !== undefined) {
    return [
      ...made,
      {
        path: 'did_generation',
        type: 'value',
        before: sending.recorded_generation,
        after: sending.generation,
        sensitive: false,
      },
    ];
  }
  if (sending.action === 'regenerate') return made;
  return Object.entries(fieldsOf(sending.expected, hasher))
    .flatMap(([name, wanted]) =>
      contrast(
        kind.fields[name] ?? value,
        name,
        wanted,
        Object.hasOwn(before, name) ? before[name] : sending.existed === false ? null : undefined,
      ),
    )
    .filter(({ verdict }) => verdict !== 'same')
    .map((part) => {
      const { path, type, wanted, got } = part;
      const sensitive = holdsSensitive(wanted) || (got !== undefined && holdsSensitive(got));
      return { path, type: type.type, before: got, after: asItWillBe(part), sensitive, ...lackOf(part) };
    });
}
