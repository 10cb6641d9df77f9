import { partOfRun } from '../base/shard.js';
import type { JournalContent, JournalLine, SendingLine } from '../state/journal.js';

/**
 * Journals of one run, or of one part of it, as one journal of that name, oldest first. What a shard did to an object before it was begun
 * again counts as one change with what it did then.
 */
export function together(contents: readonly JournalContent[], name: string): JournalContent {
  const [first] = contents;
  if (first === undefined) throw new TypeError('a run has a journal');
  const oldest = contents.reduce((one, other) => (other.run.at < one.run.at ? other : one), first);
  const lines: JournalLine[] = [];
  const begun = new Map<string, SendingLine>();
  let last = 0;
  for (const content of contents) {
    const before = last;
    for (const line of content.lines) {
      if (line.type === 'end' || line.type === 'run') continue;
      const seq = line.seq + before;
      last = Math.max(last, seq);
      if (line.type !== 'sending') {
        lines.push({ ...line, seq });
        continue;
      }
      const former = begun.get(line.key);
      const one = former === undefined ? line : { ...line, before: former.before, existed: former.existed };
      begun.set(line.key, one);
      lines.push({ ...one, seq });
    }
  }
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
