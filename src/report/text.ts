import { escapeText, quoteIfNeeded } from '../base/escape.js';
import { shardText } from '../base/shard.js';
import { firstFew } from '../base/words.js';
import { isListed, shareOf } from '../plan/drift.js';
import { type Action, type Change, isPrivileged, type Plan, summarize } from '../plan/plan.js';
import { driftSentence, leftOutSentence } from './drift.js';
import { fieldLines, type TextStyle } from './field-text.js';
import { type Fold, foldChanges, foldCount, foldedNames, foldPlace } from './fold.js';
import { labelSuffix, nameOf } from './names.js';
import type { RenderOptions } from './render-options.js';
import {
  declaredPlaces,
  destructiveCount,
  isDestructive,
  isHighRisk,
  nothingToDoText,
  observedNote,
  shortValue,
} from './review.js';
import { requestTexts } from './view.js';
import { groupLines, splitWarnings, warningLines } from './warnings.js';
import { actions, actionWords, capitalized, colors, placeList, wrap } from './words.js';

export type TextOptions = Pick<RenderOptions, 'color' | 'debug' | 'only' | 'stored'>;

export function textStyle({ color, debug }: TextOptions): TextStyle {
  return { paint: colors(color), debug };
}

export function planText(plan: Plan, options: TextOptions): string {
  const pen = textStyle(options);
  const { paint } = pen;
  const shared = shareOf(plan.changes, options.only);
  const listed = shared.changes.filter((change) => isListed(change, options.debug));
  const leftOut = leftOutSentence(shared, options.only);
  const split = splitWarnings(plan, listed, options.debug);
  const warnings = [
    ...groupLines(split.groups, pen),
    ...warningLines('', split.ungrouped(plan.warnings), pen),
  ];
  const isIdle = plan.changes.every(({ action }) => action === 'unchanged');
  const lines = [
    `Server:      ${paint.bold(escapeText(plan.server))}`,
    `Profile:     ${escapeText(plan.profile)}`,
    `Environment: ${plan.environment === null ? 'none' : paint.bold(escapeText(plan.environment))}`,
    ...(plan.shard === undefined ? [] : [`Shard:       ${paint.bold(shardText(plan.shard))}`]),
    ...(plan.undoes === undefined ? [] : [`Undoes:      run ${escapeText(plan.undoes)}`]),
    ...(plan.asOf === undefined ? [] : [`As of:       ${escapeText(plan.asOf)} (--now)`]),
    ...(options.stored === true
      ? [`Made:        ${escapeText(plan.createdAt)} by idops ${escapeText(plan.toolVersion)}`]
      : []),
    '',
    ...foldChanges(
      listed.map((change) => ({ ...change, warnings: split.ungrouped(change.warnings) })),
      options.debug,
    ).flatMap((fold) => [...foldLines(fold, pen), '']),
    ...(leftOut === null ? [] : [...wrap('', leftOut), '']),
    ...(isIdle ? [`${capitalized(nothingToDoText(plan))}.`, ''] : []),
    ...(warnings.length === 0 ? [] : [...warnings, '']),
  ];
  if (!isIdle) {
    lines.push(
      ...wrap('Required scopes: ', plan.requiredScopes.join(', ') || 'none'),
      `Digest: ${escapeText(plan.digest)}`,
    );
  }
  const drift = driftSentence(plan);
  if (drift !== null) lines.push(...wrap('', drift).map((line) => paint.cyan(line)));
  const highRisk = [
    ...namedSentence(plan.changes.filter(isPrivileged), 'privileged'),
    ...namedSentence(plan.changes.filter(isDestructive), `destructive${destructiveCount(plan).totalNote}`),
  ];
  const closing = [paint.bold(summaryLine(plan)), ...highRisk.map((text) => paint.bold(paint.red(text)))];
  return `${[...lines, closing.join(' ')].join('\n')}\n`;
}

export function summaryLine(plan: Plan): string {
  const count = summarize(plan);
  const recorded = plan.changes.filter(
    ({ action, observed }) => action === 'unchanged' && observed === 'recorded',
  ).length;
  const parts = [
    ...actions
      .filter((action) => count[action] > 0 || !['create', 'adopt', 'blocked'].includes(action))
      .map((action) => `${count[action]} ${actionWords[action]}`),
    ...(recorded > 0 ? [`${recorded} of them by record`] : []),
  ];
  return `Plan: ${parts.join(', ')}.`;
}

const maxNamed = 5;

/** `1 is destructive: User/9b1d.` */
function namedSentence(changes: readonly Change[], what: string): string[] {
  if (changes.length === 0) return [];
  const verb = changes.length === 1 ? 'is' : 'are';
  return [`${changes.length} ${verb} ${what}: ${firstFew(changes.map(nameOf), maxNamed)}.`];
}

const marks: {
  readonly [action in Action]: { mark: string; color: 'green' | 'yellow' | 'red' | 'magenta' | 'dim' };
} = {
  create: { mark: '+', color: 'green' },
  update: { mark: '~', color: 'yellow' },
  delete: { mark: '-', color: 'red' },
  regenerate: { mark: '↻', color: 'magenta' },
  adopt: { mark: '*', color: 'dim' },
  blocked: { mark: '!', color: 'red' },
  unchanged: { mark: '=', color: 'dim' },
};

export function changeLines(change: Change, pen: TextStyle): string[] {
  return [...headLines(change, pen), ...detailLines(change, pen)];
}

function foldLines(fold: Fold, pen: TextStyle): string[] {
  const { change, changes } = fold;
  if (changes.length === 1) return changeLines(change, pen);
  const { paint } = pen;
  const place = foldPlace(fold);
  // Drift needs a line of its own, so the difference isn't on the first line.
  const value = change.fields.some(({ drift }) => drift !== undefined) ? undefined : shortValue(change);
  const difference =
    value === undefined ? '' : `: ${value.path} ${paint.red(value.before)} → ${paint.green(value.after)}`;
  return [
    `${markOf(change, pen)} ${paint.bold(foldCount(fold))}${difference}${place === null ? '' : paint.dim(`  in ${place}`)}`,
    ...detailLines(value === undefined ? change : { ...change, fields: [] }, pen),
    ...wrap(
      '    ',
      foldedNames(fold, isHighRisk(change), { name: nameOf, text: quoteIfNeeded, json: '--format json' }),
    ),
  ];
}

function detailLines(change: Change, pen: TextStyle): string[] {
  const { paint, debug } = pen;
  const note = observedNote(change);
  return [
    ...(note === null ? [] : [paint.dim(`    ${note}`)]),
    ...(change.reason === null ? [] : wrap('    reason: ', change.reason).map(paint.red)),
    ...(change.privileges ?? []).flatMap((text) => wrap('    privileged: ', text).map(paint.red)),
    ...change.destructions.flatMap((text) => wrap('    destructive: ', text).map(paint.red)),
    ...change.fields.flatMap((field) => fieldLines(field, pen)),
    ...warningLines('    ', change.warnings, pen),
    ...(debug || change.requests.length > 1
      ? requestTexts(change).map((request) => paint.dim(`    sends ${request}`))
      : []),
  ];
}

function headLines(change: Change, pen: TextStyle): string[] {
  const { paint } = pen;
  const { address, label } = change;
  const head = `${markOf(change, pen)} ${paint.bold(quoteIfNeeded(address))}${labelSuffix(change)}`;
  const places = declaredPlaces(change);
  if (places.length === 0) return [head];
  const place = `at ${placeList(places)}`;
  // Name and place rarely fit on one line.
  return label === undefined ? [`${head}${paint.dim(`  ${place}`)}`] : [head, paint.dim(`    ${place}`)];
}

function markOf({ action }: Change, { paint }: TextStyle): string {
  const { mark, color } = marks[action];
  return paint[color](`${mark} ${action}`);
}
