import { parsePartName } from '../base/shard.js';
import type { Fields } from '../base/values.js';
import type { KnownObject } from '../kinds/kind.js';
import { type Hasher, restoreFields } from '../secrets/hash.js';
import type { RunStore } from '../state/backend.js';
import type { AnsweredLine, JournalContent, JournalLine, SendingLine } from '../state/journal.js';

/** A change in the journal of a run. */
export interface Entry {
  /** The last request, or the adoption. */
  readonly sending: SendingLine;
  /** The answer that settled the change; undefined if the run ended before it. */
  readonly answered: AnsweredLine | undefined;
  /** Whether a request has no answer. */
  readonly open: boolean;
}

/** A change in a journal, with its fields: the secrets in them can be compared and not read. */
export interface RestoredEntry extends Entry, KnownObject {
  /** The known fields before the change. */
  readonly before: Fields;
  /** The declared fields, and those sent with them. */
  readonly asked: Fields;
  /** What the server showed afterwards; undefined if it showed nothing. */
  readonly after: Fields | undefined;
}

export function restoreEntry(entry: Entry, hasher: Hasher): RestoredEntry {
  const { sending, answered } = entry;
  return {
    ...entry,
    kind: sending.kind,
    identity: sending.identity,
    before: restoreFields(sending.before, hasher),
    asked: restoreFields(sending.expected, hasher),
    after: answered?.after == null ? undefined : restoreFields(answered.after, hasher),
  };
}

/** The changes of a run, in the order of their first requests. */
export function entriesOf({ lines }: JournalContent): Entry[] {
  const byKey = new Map<string, { sending: SendingLine; answers: AnsweredLine[] }>();
  const bySequence = new Map<number, { sending: SendingLine; answers: AnsweredLine[] }>();
  for (const line of lines) {
    if (line.type === 'sending') {
      const entry = { sending: line, answers: [] };
      // A later request of the same change replaces the earlier one.
      byKey.set(line.key, entry);
      bySequence.set(line.seq, entry);
    } else if (line.type === 'answered') {
      bySequence.get(line.seq)?.answers.push(line);
    }
  }
  return [...byKey.values()].map(({ sending, answers }) => {
    const answer = answers.at(-1);
    // An answer to an earlier request of a change decides only if it is a failure.
    const settles = answer !== undefined && (sending.last || answer.status !== 'applied');
    return { sending, answered: settles ? answer : undefined, open: answer === undefined };
  });
}

/** Adds missing answers and an end to a journal. */
export async function completeJournal(
  runs: Pick<RunStore, 'reopen'>,
  content: JournalContent,
  answers: readonly AnsweredLine[],
  end: { readonly interrupted: boolean; readonly by: string },
): Promise<void> {
  const journal = await runs.reopen(content);
  try {
    for (const line of answers) await journal.write(line);
    await journal.write({ type: 'end', at: new Date().toISOString(), ...end });
  } finally {
    await journal.close();
  }
}

/** Merges the journals of a run, or of a part, oldest first. Repeated attempts at an object become one change. */
export function mergeJournals(contents: readonly JournalContent[], name: string): JournalContent {
  const [first] = contents;
  if (first === undefined) throw new TypeError('a run has a journal');
  const oldest = contents.reduce((one, other) => (other.run.at < one.run.at ? other : one), first);
  const entries = new Map<string, Entry>();
  for (const content of contents) {
    for (const entry of entriesOf(content)) {
      const { key } = entry.sending;
      const former = entries.get(key);
      const one = former === undefined ? entry : mergeEntries(former, entry);
      // Ordered by the last attempts.
      entries.delete(key);
      entries.set(key, one);
    }
  }
  const lines = [...entries.values()].flatMap(({ sending, answered }, index): JournalLine[] => {
    const seq = index + 1;
    return [{ ...sending, seq }, ...(answered === undefined ? [] : [{ ...answered, seq }])];
  });
  const open = contents.filter(({ ended }) => !ended);
  const ends = contents.flatMap(({ lines }) => lines.filter((line) => line.type === 'end'));
  const end = ends.toSorted((a, b) => (a.at < b.at ? -1 : 1)).at(-1);
  const isEnded = open.length === 0 && end !== undefined;
  const isCut = contents.some((content) => {
    const last = content.lines.at(-1);
    return last?.type === 'end' && last.interrupted && !wasRepeated(content, contents);
  });
  return {
    run: { ...oldest.run, run: name },
    lines: isEnded ? [...lines, { ...end, interrupted: isCut }] : lines,
    bytes: contents.reduce((sum, { bytes }) => sum + bytes, 0),
    ended: isEnded,
  };
}

/** Merges two consecutive attempts at an object. */
function mergeEntries(former: Entry, entry: Entry): Entry {
  if (!mayHaveEffect(former)) return entry;
  if (!mayHaveEffect(entry)) return former;
  const { before, existed, expected, until_before: untilBefore } = former.sending;
  const { fields, hashes } = entry.sending.expected;
  const remainingHashes = Object.entries(expected.hashes).filter(
    ([pointer]) => !Object.hasOwn(fields, pointer.split('/')[1] ?? ''),
  );
  const merged = {
    fields: { ...expected.fields, ...fields },
    hashes: { ...Object.fromEntries(remainingHashes), ...hashes },
  };
  const sending = { ...entry.sending, before, existed, expected: merged };
  return {
    ...entry,
    sending: untilBefore === undefined ? sending : { ...sending, until_before: untilBefore },
  };
}

/** Whether a change may have had an effect on the server. */
function mayHaveEffect({ sending, answered }: Entry): boolean {
  if (sending.action === 'adopt') return false;
  if (answered === undefined) return true;
  if (answered.status === 'failed') return answered.ambiguous || answered.after !== null;
  return answered.status !== 'skipped';
}

function wasRepeated({ run }: JournalContent, contents: readonly JournalContent[]): boolean {
  const part = parsePartName(run.run);
  return contents.some((other) => {
    const again = parsePartName(other.run.run);
    return again?.shard.index === part?.shard.index && (again?.attempt ?? 0) > (part?.attempt ?? 0);
  });
}
