import { escapeText, quoteIfNeeded } from '../base/escape.js';
import { shardText } from '../base/shard.js';
import { groupBy } from '../base/values.js';
import { kindOf } from '../kinds/index.js';
import { countDestructions } from '../plan/approve.js';
import { isListed, shareOf } from '../plan/drift.js';
import {
  type Action,
  type Change,
  isPrivileged,
  leavesRestores,
  type Plan,
  type PlanWarning,
  type Share,
  summarize,
  type WarningPlace,
} from '../plan/plan.js';
import { driftSentence, leftOutSentence } from './drift.js';
import type { DiffLine } from './hunks.js';
import { type BodyView, viewField } from './view.js';
import { actions, actionWords, capitalized, placeList, placesOf, plural } from './words.js';

export interface ReviewGroup {
  readonly title: string;
  /** 0 is the most important. */
  readonly rank: number;
  readonly changes: readonly Change[];
}

export function shareNotes(plan: Plan, only: Share | undefined): string[] {
  const shared = shareOf(plan.changes, only);
  return [driftSentence(plan), leftOutSentence(shared, only)].filter((note) => note !== null);
}

export function filterPlan(plan: Plan, only: Share | undefined): Plan {
  return only === undefined ? plan : { ...plan, changes: shareOf(plan.changes, only).changes };
}

/** The shown changes in the order of review: privileged ones first, then destructive and blocked ones. */
export function reviewGroups(
  plan: Plan,
  { debug, only }: { readonly debug: boolean; readonly only?: Share },
): ReviewGroup[] {
  const { changes } = shareOf(plan.changes, only);
  const privileged = changes.filter(isPrivileged);
  const others = changes.filter((change) => !isPrivileged(change));
  const destructive = others.filter(isDestructive);
  const rest = others.filter((change) => !isDestructive(change));
  const of = (action: Action) => rest.filter((change) => change.action === action);
  const sent = rest.filter(({ action }) => ['create', 'update', 'delete', 'regenerate'].includes(action));
  const byKind = groupBy(sent, ({ kind }) => kind);
  return [
    { title: 'Privileged', rank: 0, changes: privileged },
    { title: 'Destructive', rank: 0, changes: destructive },
    { title: 'Blocked', rank: 0, changes: of('blocked') },
    ...[...byKind.values()].map((changes) => ({ title: kindTitle(changes), rank: 1, changes })),
    { title: 'Recorded only, nothing is sent', rank: 2, changes: of('adopt') },
    { title: 'Unchanged', rank: 3, changes: of('unchanged').filter((change) => isListed(change, debug)) },
  ].filter(({ changes }) => changes.length > 0);
}

function kindTitle(changes: readonly Change[]): string {
  const [first] = changes;
  if (first === undefined) return '';
  return capitalized(kindOf(first.kind).noun) + (changes.length === 1 ? '' : 's');
}

export function isDestructive({ destructions }: Change): boolean {
  return destructions.length > 0;
}

/** Whether a change is privileged or destructive, so that a reviewer must see the name of every object. */
export function isHighRisk(change: Change): boolean {
  return isPrivileged(change) || isDestructive(change);
}

/** The number of destructive changes, and a note if they destroy more than one thing each. */
export function destructiveCount({ changes }: Pick<Plan, 'changes'>): { count: number; totalNote: string } {
  const count = changes.filter(isDestructive).length;
  const destructions = countDestructions({ changes });
  return { count, totalNote: destructions === count ? '' : ` (${destructions} things in all)` };
}

/** A warning with its change; the change is null if it is about the whole plan. */
export interface AttributedWarning extends PlanWarning {
  readonly change: Change | null;
  readonly original: PlanWarning;
}

export function allWarnings({ warnings, changes }: Pick<Plan, 'warnings' | 'changes'>): AttributedWarning[] {
  return [
    ...warnings.map((original) => ({ ...original, change: null, original })),
    ...changes.flatMap((change) => change.warnings.map((original) => ({ ...original, change, original }))),
  ];
}

/** `3 to update, 1 to delete, 12 unchanged`. */
export function headline(plan: Plan): string {
  const count = summarize(plan);
  const pending = actions
    .filter((action) => action !== 'unchanged' && count[action] > 0)
    .map((action) => `${count[action]} ${actionWords[action]}`);
  const isIdle = pending.length === 0;
  return [
    ...(isIdle ? [nothingToDoText(plan)] : pending),
    ...(isIdle && count.unchanged === 0 ? [] : [`${count.unchanged} unchanged`]),
  ].join(', ');
}

/** What a plan sends, for a question: `6 updates and 1 deletion`. */
export function requestCounts(plan: Plan): string {
  // A key pair that loses the default needs no request.
  const sent = plan.changes.filter(({ requests }) => requests.length > 0);
  const { create, update, delete: deletions, regenerate } = summarize({ changes: sent });
  const parts = [
    [create, 'creation'],
    [update, 'update'],
    [deletions, 'deletion'],
    [regenerate, 'regeneration'],
  ] as const;
  const nouns = parts.filter(([count]) => count > 0).map(([count, noun]) => plural(count, noun));
  const last = nouns.pop() ?? 'nothing';
  return nouns.length === 0 ? last : `${nouns.join(', ')} and ${last}`;
}

/** Why a plan without changes has nothing to do. */
export function nothingToDoText(plan: Plan): string {
  if (plan.undoes !== undefined) return 'nothing to put back';
  if (leavesRestores(plan)) {
    return 'nothing to change in the selection; outside it, something must still be restored';
  }
  if (plan.changes.length > 0) return 'nothing to change';
  if (plan.leavesOut === 'ended') return 'no access has ended';
  if (plan.leavesOut !== true) return 'nothing is declared';
  return plan.shard === undefined
    ? 'no selected object is declared'
    : `no selected and declared object is in shard ${shardText(plan.shard)}`;
}

/** Where the present value comes from, unless it is live; null if it is. */
export function observedNote({ kind, action, observed, recordedAt, fields, apply }: Change): string | null {
  const { generation, existed } = apply;
  const { counter = '' } = kindOf(kind).regeneration ?? {};
  if (action === 'adopt') {
    if (generation === undefined) return null;
    return `${fields.length > 0 ? '' : `${counter} ${generation} `}will be recorded, nothing is sent`;
  }
  if (observed === 'recorded') {
    // The DID itself may be live.
    const what = generation === undefined ? 'recorded' : `${counter} as recorded`;
    const why = existed === true ? "since the server doesn't show it" : 'not read from the server';
    return `${what}${recordedAt === undefined ? '' : ` ${escapeText(recordedAt)}`}, ${why}`;
  }
  return observed === 'unknown' && action === 'update' ? 'present value unknown: will be asserted' : null;
}

/** The maximum length of both values together on the line of a change. */
const shortLength = 100;

/** The difference of a change that has only one short value to show; otherwise undefined. */
export function shortValue(
  change: Change,
): { readonly path: string; readonly before: string; readonly after: string } | undefined {
  const [field, ...others] = change.fields;
  if (field === undefined || others.length > 0 || observedNote(change) !== null) return undefined;
  const view = viewField(field, { whole: true, medium: 'comment' });
  if (view.view !== 'value' || view.isNew === true || view.before.length + view.after.length > shortLength)
    return undefined;
  return { path: field.path, before: view.before, after: view.after };
}

/** The notes above the diff of a body. */
export function bodyNotes({ before, removalNote, lineCount, notes, hunks }: BodyView): string[] {
  const diffLines = hunks.flatMap((hunk) => hunk.lines);
  const count = (wanted: DiffLine['mark']) => diffLines.filter(({ mark }) => mark === wanted).length;
  return [
    ...(hunks.length === 0 || before === 'unknown'
      ? []
      : [`${plural(count('+'), 'line')} added, ${count('-')} removed`]),
    ...(before === 'unknown'
      ? [`the value before is unknown${removalNote === null ? `; ${plural(lineCount, 'line')} after` : ''}`]
      : []),
    ...(before === 'null' ? ['there was none (null)'] : []),
    ...(removalNote === null ? [] : [removalNote]),
    ...notes,
  ];
}

/** The places that declare the fields of a change, or else its object. */
export function declaredPlaces({
  declaredAt,
  fields,
}: Pick<Change, 'declaredAt' | 'fields'>): readonly WarningPlace[] {
  const places = fields.flatMap((field) => field.places ?? []);
  if (places.length === 0) return declaredAt === null ? [] : [declaredAt];
  return [...new Map(places.map((place) => [`${place.file}:${place.line}`, place])).values()];
}

export function placeText({ file, line }: { readonly file: string; readonly line: number }): string {
  return `${quoteIfNeeded(file)}:${line}`;
}

/** A warning's message, and its places if they aren't that of the declaration. */
export function messageWithPlaces(warning: PlanWarning): string {
  const { message, place, morePlaces } = warning;
  // The message of a warning without a column contains the place.
  return place?.column === undefined ? message : `${message} (${placeList(placesOf(warning), morePlaces)})`;
}
