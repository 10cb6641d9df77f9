import { partOfRun } from '../base/shard.js';
import type { JournalContent, JournalLine } from '../state/journal.js';
import { type Entry, entriesOf } from './entries.js';

/**
 * Journals of one run, or of one part of it, as one journal of that name, oldest first. What a shard did to an object before it was begun
 * again counts as one change with what it did then.
 */
export function together(contents: readonly JournalContent[], name: string): JournalContent {
  const [first] = contents;
  if (first === undefined) throw new TypeError('a run has a journal');
  const oldest = contents.reduce((one, other) => (other.run.at < one.run.at ? other : one), first);
  const entries = new Map<string, Entry>();
  for (const content of contents) {
    for (const entry of entriesOf(content)) {
      const { key } = entry.sending;
      const former = entries.get(key);
      const one = former === undefined ? entry : after(former, entry);
      // In the order in which they were begun last.
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
  const isCut = contents.some((content) => isInterrupted(content) && !wasBegunAgain(content, contents));
  return {
    run: { ...oldest.run, run: name },
    lines: isEnded ? [...lines, { ...end, interrupted: isCut }] : lines,
    bytes: contents.reduce((sum, { bytes }) => sum + bytes, 0),
    ended: isEnded,
  };
}

/** What was done to an object by two attempts, one after the other, as one change. */
function after(former: Entry, entry: Entry): Entry {
  if (!mayBeDone(former)) return entry;
  if (!mayBeDone(entry)) return former;
  const { before, existed, expected } = former.sending;
  const { fields, hashes } = entry.sending.expected;
  const stays = Object.entries(expected.hashes).filter(
    ([pointer]) => !Object.hasOwn(fields, pointer.split('/')[1] ?? ''),
  );
  const asked = {
    fields: { ...expected.fields, ...fields },
    hashes: { ...Object.fromEntries(stays), ...hashes },
  };
  return { ...entry, sending: { ...entry.sending, before, existed, expected: asked } };
}

/** Whether something of a change may be on the server. */
function mayBeDone({ sending, answered }: Entry): boolean {
  if (sending.action === 'adopt') return false;
  if (answered === undefined) return true;
  if (answered.status === 'failed') return answered.ambiguous || answered.after !== null;
  return answered.status !== 'skipped';
}

function isInterrupted({ lines }: JournalContent): boolean {
  const last = lines.at(-1);
  return last?.type === 'end' && last.interrupted;
}

function wasBegunAgain({ run }: JournalContent, contents: readonly JournalContent[]): boolean {
  const part = partOfRun(run.run);
  return contents.some((other) => {
    const again = partOfRun(other.run.run);
    return again?.shard.index === part?.shard.index && (again?.attempt ?? 0) > (part?.attempt ?? 0);
  });
}
