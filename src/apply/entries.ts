import type { AnsweredLine, JournalContent, SendingLine } from '../state/journal.js';

/** One change of a run, as its journal tells it. */
export interface Entry {
  /** The last request that was begun, or the adoption. */
  readonly sending: SendingLine;
  /** The answer that settled the change; undefined where the run ended before it. */
  readonly answered: AnsweredLine | undefined;
  /** Whether a request was begun that has no answer. */
  readonly open: boolean;
}

/** The changes of a run, in the order in which they were begun. */
export function entriesOf({ lines }: JournalContent): Entry[] {
  const byKey = new Map<string, { sending: SendingLine; answers: AnsweredLine[] }>();
  const bySequence = new Map<number, { sending: SendingLine; answers: AnsweredLine[] }>();
  for (const line of lines) {
    if (line.type === 'sending') {
      const entry = { sending: line, answers: [] };
      // A later request of the same change takes the place of the earlier one.
      byKey.set(line.key, entry);
      bySequence.set(line.seq, entry);
    } else if (line.type === 'answered') {
      bySequence.get(line.seq)?.answers.push(line);
    }
  }
  return [...byKey.values()].map(({ sending, answers }) => {
    const answer = answers.at(-1);
    // An answer to a request before the last settles nothing, unless it says that the change failed.
    const settles = answer !== undefined && (sending.last || answer.status !== 'applied');
    return {
      sending,
      answered: settles ? answer : undefined,
      open: answer === undefined,
    };
  });
}
