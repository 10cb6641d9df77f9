import { escapeText } from '../base/escape.js';
import { holdsSensitive, type Value } from '../base/values.js';
import { countDrift, isUnplanned, type PlanShare } from '../plan/drift.js';
import type { Change, FieldChange, Plan, Share } from '../plan/plan.js';
import { countLines } from './bodies.js';
import { compareSets } from './set-difference.js';
import { inlinePair } from './values.js';
import { actionWords, plural } from './words.js';

/** How a field changed on the server, and its recorded value unless it is secret; null without drift. */
export function driftText(field: FieldChange, whole: boolean): string | null {
  const { drift } = field;
  if (drift === undefined) return null;
  const since = sinceText(drift);
  if (isUnplanned(field)) return `${since}, and no manifest declares it: idops leaves it unchanged`;
  const previous =
    field.sensitive || holdsSensitive(drift.recorded)
      ? ''
      : ` (${recordedText(field, drift.recorded, whole)})`;
  const declared = drift.declared === 'changed' ? ', and in the manifest' : '';
  return `${since}${previous}${declared}`;
}

function sinceText({ run }: NonNullable<FieldChange['drift']>): string {
  return `changed on the server since ${run === null ? 'idops read it' : `run ${escapeText(run)}`}`;
}

function recordedText(
  { type, before, confirmed = false }: FieldChange,
  recorded: Value,
  whole: boolean,
): string {
  if (type === 'body' && typeof recorded === 'string' && [recorded, before].some(isLong)) {
    return `was ${plural(countLines(recorded), 'line')}`;
  }
  const elements = type === 'set' ? compareSets(undefined, recorded, confirmed, whole)?.elements : undefined;
  if (elements === undefined) return `was ${inlinePair(recorded, before ?? null, whole).before}`;
  return `was ${elements.map(({ text }) => text).join(', ') || 'none'}`;
}

function isLong(value: Value | undefined): boolean {
  return typeof value === 'string' && value.includes('\n');
}

/** The drift of a change in one phrase; null without drift. */
export function driftNote({ fields }: Pick<Change, 'fields'>): string | null {
  const drifted = fields.filter(({ drift }) => drift !== undefined);
  const [first] = drifted;
  if (first?.drift === undefined) return null;
  if (fields.length === 1) return driftText(first, false);
  const count = drifted.length === fields.length ? 'all' : drifted.length;
  const unplanned = drifted.every(isUnplanned) ? ', and no manifest declares them' : '';
  return `${count} of ${plural(fields.length, 'field')} ${sinceText(first.drift)}${unplanned}`;
}

export function driftSentence(plan: Plan): string | null {
  const { fields, objects } = countDrift(plan);
  if (fields === 0) return null;
  const them = fields === 1 ? 'it' : 'them';
  return `Drift: ${plural(fields, 'field')} of ${plural(objects, 'object')} changed on the server since idops last knew ${them}.`;
}

export function leftOutSentence(
  { leftOut, losesLeftOut }: PlanShare,
  only: Share | undefined,
): string | null {
  if (only === undefined || leftOut.size === 0) return null;
  const counts = [...leftOut].map(([action, count]) => `${count} ${actionWords[action]}`);
  const total = [...leftOut.values()].reduce((sum, count) => sum + count, 0);
  const destructive =
    losesLeftOut === 0
      ? ''
      : total === 1
        ? ', which is destructive'
        : `; ${losesLeftOut} of them destructive`;
  return `Left out by --only ${only}: ${counts.join(', ')}${destructive}.`;
}
