import { parseJson } from '../base/json.js';
import { error, ProblemsError } from '../base/problems.js';
import {
  COPY_BACK,
  JOURNAL_FORMAT,
  type JournalContent,
  type JournalLine,
  journalLineSchema,
} from './journal.js';

/**
 * What the text of a run's journal says, wherever it was kept; `place` is what a message calls that. A last line that a crash cut
 * off doesn't count; a text without a whole first line gives null. Throws a ProblemsError (`journal-unreadable`) where it is no
 * journal of this run.
 */
export function journalOf(text: string, run: string, place: string): JournalContent | null {
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  const [first, ...lines] = whole
    .split('\n')
    .slice(0, -1)
    .map((line, index) => parseLine(line, place, index + 1));
  if (first === undefined) return null;
  if (first.type !== 'run' || first.run !== run)
    throw unusableJournal(place, 'line 1 does not name this run');
  return { run: first, lines, bytes: Buffer.byteLength(whole), ended: lines.at(-1)?.type === 'end' };
}

function parseLine(line: string, place: string, number: number): JournalLine {
  let data: unknown;
  try {
    data = parseJson(line);
  } catch {
    throw unusableJournal(place, `line ${number} is not JSON`);
  }
  const version = (data as { format_version?: unknown } | null)?.format_version;
  if (typeof version === 'number' && version > JOURNAL_FORMAT) {
    throw unusableJournal(
      place,
      `it has format ${version}, this idops knows formats up to ${JOURNAL_FORMAT}`,
    );
  }
  const parsed = journalLineSchema.safeParse(data);
  if (parsed.success) return parsed.data;
  throw unusableJournal(place, `line ${number} is not a line of a journal`);
}

/** The refusal of a journal that says nothing which could be relied on. */
export function unusableJournal(place: string, why: string): ProblemsError {
  return new ProblemsError([
    error('journal-unreadable', `the journal ${place} can't be used: ${why}`, [], COPY_BACK),
  ]);
}
