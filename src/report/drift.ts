import { escapeText } from '../base/escape.js';
import { holdsSensitive, type Value } from '../base/values.js';
import { countDrift, type Shared } from '../plan/drift.js';
import type { Change, FieldChange, Plan } from '../plan/plan.js';
import type { Share } from '../plan/share.js';
import { compareBodies, countLines } from './bodies.js';
import { compareSets } from './sets.js';
import { inlinePair, shorten } from './values.js';
import { actionWords, plural } from './words.js';

/** How many characters of a set are shown as what it was. */
const shownSet = 60;

/** That the server was changed since a run left a field, and what that left; null where it was not. Harmless, on one line. */
export function driftText(field: FieldChange, whole: boolean): string | null {
  const { drift } = field;
  if (drift === undefined) return null;
  const was =
    field.sensitive || holdsSensitive(drift.recorded) ? '' : ` (${wasText(field, drift.recorded, whole)})`;
  const declared = drift.declared === 'changed' ? ', and in the manifest' : '';
  return `changed on the server since run ${escapeText(drift.run)}${was}${declared}`;
}

function wasText({ type, before, confirmed = false }: FieldChange, recorded: Value, whole: boolean): string {
  if (type === 'body' && typeof recorded === 'string' && [recorded, before].some(isLong)) {
    return typeof before === 'string'
      ? sinceThen(recorded, before)
      : `was ${plural(countLines(recorded), 'line')}`;
  }
  const elements = type === 'set' ? compareSets(undefined, recorded, confirmed)?.elements : undefined;
  if (elements === undefined) return `was ${inlinePair(recorded, before ?? null, whole).before}`;
  const texts = elements.map(({ text }) => text).join(', ');
  return `was ${texts === '' ? 'none' : whole ? texts : shorten(texts, '', shownSet)}`;
}

function isLong(value: Value | undefined): boolean {
  return typeof value === 'string' && value.includes('\n');
}

/** How much of a text was changed since. */
function sinceThen(recorded: string, now: string): string {
  const { notes, hunks, tooDifferent } = compareBodies(recorded, now);
  const lines = hunks.flatMap((hunk) => hunk.lines);
  const count = (mark: string) => lines.filter((line) => line.startsWith(mark)).length;
  if (lines.length > 0) return `since then ${plural(count('+'), 'line')} added, ${count('-')} removed`;
  return tooDifferent === null
    ? `since then ${notes.join('; ')}`
    : `was ${plural(countLines(recorded), 'line')}`;
}

/** What of a change the server changed, for a line that names the change; null where nothing. */
export function driftNote({ fields }: Pick<Change, 'fields'>): string | null {
  const drifted = fields.filter(({ drift }) => drift !== undefined);
  const [first] = drifted;
  if (first?.drift === undefined) return null;
  if (fields.length === 1) return driftText(first, false);
  const since = `changed on the server since run ${escapeText(first.drift.run)}`;
  return `${drifted.length === fields.length ? 'all' : drifted.length} of ${plural(fields.length, 'field')} ${since}`;
}

/** How much of a plan is drift, in one sentence; null where nothing is. */
export function driftSentence(plan: Plan): string | null {
  const { fields, objects } = countDrift(plan);
  if (fields === 0) return null;
  const since = fields === 1 ? 'it was last applied' : 'they were last applied';
  return `Drift: ${plural(fields, 'field')} of ${plural(objects, 'object')} changed on the server since ${since}.`;
}

/** What `--only` leaves out, in one sentence; null where it leaves out nothing. */
export function leftOutSentence({ leftOut, losesLeftOut }: Shared, only: Share | undefined): string | null {
  if (only === undefined || leftOut.size === 0) return null;
  const counts = [...leftOut].map(([action, count]) => `${count} ${actionWords[action]}`);
  const all = [...leftOut.values()].reduce((sum, count) => sum + count, 0);
  const lost =
    losesLeftOut === 0 ? '' : all === 1 ? ', which is destructive' : `; ${losesLeftOut} of them destructive`;
  return `Left out by --only ${only}: ${counts.join(', ')}${lost}.`;
}
