import { error, type Problem, ProblemsError } from '../base/problems.js';
import { isOfRun, partCalled, partOfRun, runOf, type Shard } from '../base/shard.js';
import { type Fields, holdsSensitive } from '../base/values.js';
import { asItWillBe, contrast, lackOf, value } from '../kinds/fields.js';
import { kindOf } from '../kinds/index.js';
import type { Kind } from '../kinds/kind.js';
import { labelled, type Names } from '../plan/label.js';
import type { Change, FieldChange } from '../plan/plan.js';
import { Hasher, restoreFields } from '../secrets/hash.js';
import { eachWithSlowHashes } from '../secrets/slow-hash.js';
import { type Profile, profiles } from '../server/profiles.js';
import type { RunStore } from '../state/backend.js';
import type { JournalContent, RunLine } from '../state/journal.js';
import type { State } from '../state/state.js';
import { type Entry, entriesOf } from './entries.js';
import { together } from './parts.js';
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
  /** The parts of it that have journals, where shards did it; one that was begun again has one for each time. */
  readonly parts?: readonly PastPart[];
}

/** What one shard did of a run, as its journal tells it. */
export interface PastPart extends Pick<PastRun, 'run' | 'ended' | 'changes'> {
  readonly shard: Shard;
}

/** Reads all runs, oldest first; the problems are those of journals that can't be used, the state's own ones among them. */
export async function readRuns(
  store: RunStore,
  state?: State,
): Promise<{ runs: PastRun[]; problems: Problem[] }> {
  const byRun = new Map<string, [JournalContent, ...JournalContent[]]>();
  const problems: Problem[] = [];
  for (const name of await store.list()) {
    try {
      const content = await store.read(name);
      if (content !== null) {
        const others = byRun.get(runOf(name));
        if (others === undefined) byRun.set(runOf(name), [content]);
        else others.push(content);
      } else if (knowsOf(state, name)) problems.push(withoutFirstLine(name));
    } catch (failure) {
      if (!(failure instanceof ProblemsError)) throw failure;
      problems.push(...failure.problems);
    }
  }
  const runs: PastRun[] = [];
  for (const [name, contents] of byRun) runs.push(await pastRun({ name, contents }));
  return { runs, problems };
}

/**
 * Finds a run by its name, or by the beginning of it where that is enough: its journal, those of all its shards together, or that of one of
 * them by its own name. Throws a ProblemsError (`no-such-run`) where none or several have it.
 */
export async function findRun(store: RunStore, name: string): Promise<JournalContent> {
  return asOne(await findParts(store, name));
}

/** The journals of a run, or of a part of one, and what it is called. */
export interface Found {
  readonly name: string;
  readonly contents: readonly [JournalContent, ...JournalContent[]];
}

/** The same as the journals that there are of it: of a run all of its parts, of a part each time that it was begun. */
export async function findParts(store: RunStore, given: string): Promise<Found> {
  const names = await store.list();
  const name = meant(names, given);
  const found = names.filter((one) => isOfRun(one, name));
  const contents: JournalContent[] = [];
  for (const one of found) {
    const content = await store.read(one);
    if (content !== null) contents.push(content);
  }
  const [first, ...others] = contents;
  if (first === undefined) throw new ProblemsError(found.map(withoutFirstLine));
  return { name, contents: [first, ...others] };
}

/**
 * The journals of a run, or of a part of one, that can't be used. Throws a ProblemsError (`no-such-run`) if there is no such run, or
 * (`journal-readable`) if all of them can be used.
 */
export async function unusableJournals(store: RunStore, given: string): Promise<string[]> {
  const names = await store.list();
  const name = meant(names, given);
  const unusable: string[] = [];
  for (const one of names.filter((journal) => isOfRun(journal, name))) {
    const content = await store.read(one).catch((failure: unknown) => {
      if (failure instanceof ProblemsError && failure.problems[0]?.code === 'journal-unreadable') return null;
      throw failure;
    });
    if (content === null) unusable.push(one);
  }
  if (unusable.length > 0) return unusable;
  throw new ProblemsError([
    error(
      'journal-readable',
      `the journal of run ${name} can be read`,
      [],
      'idops runs prune removes journals that nobody needs any more',
    ),
  ]);
}

/** The run, the part or the journal that a name means, or the beginning of one. Throws a ProblemsError (`no-such-run`). */
function meant(names: readonly string[], name: string): string {
  const levels = [names.map(runOf), names.map(partCalled), names].map((level) => [...new Set(level)]);
  const exact = levels.flat().find((one) => one === name);
  if (exact !== undefined) return exact;
  // The shortest that begins so is meant: a run before its parts.
  const found = levels.map((level) => level.filter((one) => name !== '' && one.startsWith(name)));
  const first = found.find((level) => level.length > 0) ?? [];
  const [only] = first;
  if (only !== undefined && first.length === 1) return only;
  const why =
    first.length > 1
      ? `${first.length} runs begin with "${name}": ${first.slice(0, NAMED).join(', ')}${first.length > NAMED ? ` and ${first.length - NAMED} more` : ''}`
      : `there is no run "${name}"`;
  throw new ProblemsError([error('no-such-run', why, [], 'idops runs lists them')]);
}

/** How many runs that may be meant are named. */
const NAMED = 5;

/** Journals as one, under the name of what they are of. */
function asOne({ name, contents }: Found): JournalContent {
  const [first, ...others] = contents;
  return others.length === 0 && first.run.run === name ? first : together(contents, name);
}

/** What the journals of a run tell, as people look at it. */
export async function pastRun(found: Found): Promise<PastRun> {
  const { contents } = found;
  const whole = await pastOf(asOne(found));
  const parts: PastPart[] = [];
  for (const content of contents) {
    const part = partOfRun(content.run.run);
    if (part !== undefined) parts.push({ ...(await pastOf(content)), shard: part.shard });
  }
  return parts.length === 0 ? whole : { ...whole, parts };
}

async function pastOf(content: JournalContent): Promise<PastRun> {
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
    entries.flatMap(({ sending: { kind, identity, label, before }, answered }) => {
      const { names, within = '' } = kindOf(kind);
      const { [within]: whole } = identity;
      return [
        ...(whole === undefined || label === undefined ? [] : [[whole, label] as const]),
        ...[before.fields, answered?.after?.fields ?? {}].flatMap((fields) =>
          Object.entries(names?.(fields) ?? {}),
        ),
      ];
    }),
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
  const before = restoreFields(sending.before, hasher);
  if (sending.action === 'delete') {
    return profile === undefined
      ? []
      : (kind.deletion?.verdict(sending.identity, before, profile).fields ?? []);
  }
  const made =
    sending.action === 'regenerate'
      ? madeAnew(kind, before, answered?.after == null ? {} : restoreFields(answered.after, hasher))
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
  return Object.entries(restoreFields(sending.expected, hasher))
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
