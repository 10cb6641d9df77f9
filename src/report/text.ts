import { bare, displayWidth, escapeText } from '../base/escape.js';
import { shardText } from '../base/shard.js';
import { shareOf } from '../plan/drift.js';
import { type Action, type Change, type Plan, summarize } from '../plan/plan.js';
import type { Share } from '../plan/share.js';
import { driftSentence, leftOutSentence } from './drift.js';
import { fieldLines, type Pen } from './field-text.js';
import { fold, type Tinted } from './fold.js';
import { labelBeside, nameOf } from './names.js';
import { destructiveCount, idleBecause, isDestructive, shardOf } from './review.js';
import { originOf, requestTexts } from './view.js';
import { togetherLines, toldWarnings, warningLines } from './warning-text.js';
import { colors, wrap } from './words.js';

export interface TextOptions {
  readonly color: boolean;
  /** Unchanged objects and requests too, and long values whole. */
  readonly debug: boolean;
  /** How wide the terminal is; left out where there is none, as in a CI log. */
  readonly columns?: number;
  /** Which changes are shown; all where it is left out. */
  readonly only?: Share;
  /** Whether the plan was made before, so that it says when. */
  readonly stored?: boolean;
}

/** What lines of text are drawn with. */
export function penOf({ color, debug, columns }: TextOptions): Pen {
  return { paint: colors(color), debug, columns };
}

/** A plan for a person who reviews it, to be printed on a terminal or in a CI log. */
export function planText(plan: Plan, options: TextOptions): string {
  const pen = penOf(options);
  const { paint, columns } = pen;
  const shared = shareOf(plan.changes, options.only);
  const listed = shared.changes.filter(({ action }) => options.debug || action !== 'unchanged');
  const leftOut = leftOutSentence(shared, options.only);
  const told = toldWarnings(plan, listed, options.debug);
  const warnings = [
    ...togetherLines(told.together, pen),
    ...warningLines('', told.alone(plan.warnings), pen),
  ];
  const idle = plan.changes.every(({ action }) => action === 'unchanged');
  const lines = [
    `Server:      ${paint.bold(escapeText(plan.server))}`,
    `Profile:     ${escapeText(plan.profile)}`,
    `Environment: ${plan.environment === null ? 'none' : paint.bold(escapeText(plan.environment))}`,
    ...(plan.shard === undefined ? [] : [`Shard:       ${paint.bold(shardText(plan.shard))}`]),
    ...(plan.undoes === undefined ? [] : [`Undoes:      run ${escapeText(plan.undoes)}`]),
    ...(options.stored === true
      ? [`Made:        ${escapeText(plan.createdAt)} by idops ${escapeText(plan.toolVersion)}`]
      : []),
    '',
    ...listed.flatMap((change) => [
      ...changeLines({ ...change, warnings: told.alone(change.warnings) }, pen),
      '',
    ]),
    ...(leftOut === null ? [] : [...wrap('', leftOut, columns), '']),
    ...(idle ? [fold([{ text: idleText(plan) }], 2, columns), ''] : []),
    ...(warnings.length === 0 ? [] : [...warnings, '']),
  ];
  if (!idle) {
    lines.push(
      ...wrap('Required scopes: ', plan.requiredScopes.join(', ') || 'none', columns),
      `Digest: ${escapeText(plan.digest)}`,
    );
  }
  const drift = driftSentence(plan);
  if (drift !== null) lines.push(...wrap('', drift, columns).map((line) => paint.cyan(line)));
  const byRecord = byRecordSentence(plan);
  if (byRecord !== null) lines.push(...wrap('', byRecord, columns).map((line) => paint.dim(line)));
  const destructive = destructiveSentence(plan);
  const closing: Tinted[] = [
    { text: summaryLine(plan), tint: paint.bold },
    ...(destructive === null
      ? []
      : [{ text: ' ' }, { text: destructive, tint: (text: string) => paint.bold(paint.red(text)) }]),
  ];
  return `${[...lines, fold(closing, 2, columns)].join('\n')}\n`;
}

/** How many changes there are of each action: what closes a plan, but for what is destructive. */
export function summaryLine(plan: Plan): string {
  const count = summarize(plan);
  const recorded = countByRecord(plan);
  const parts = [
    `${count.update} to update`,
    `${count.delete} to delete`,
    `${count.regenerate} to regenerate`,
    ...(count.adopt > 0 ? [`${count.adopt} to adopt`] : []),
    ...(count.blocked > 0 ? [`${count.blocked} blocked`] : []),
    `${count.unchanged} unchanged`,
    ...(recorded > 0 ? [`${recorded} of them by record`] : []),
  ];
  return `Plan: ${parts.join(', ')}.`;
}

/** How many objects are unchanged as far as the record of them tells. */
function countByRecord({ changes }: Plan): number {
  return changes.filter(({ action, observed }) => action === 'unchanged' && observed === 'recorded').length;
}

/** What is meant by record, where that is all that is known of some; null where all were read. */
function byRecordSentence(plan: Plan): string | null {
  const recorded = countByRecord(plan);
  if (recorded === 0) return null;
  const are = recorded === 1 ? 'object is' : 'objects are';
  return `By record: ${recorded} ${are} unchanged as far as recorded, not read from the server.`;
}

function idleText(plan: Plan): string {
  const why = idleBecause(plan);
  if (why === 'elsewhere') return `Nothing of what is declared and selected falls to ${shardOf(plan)}.`;
  if (why !== 'undone') return nothingToDo[why];
  const run = `run ${escapeText(plan.undoes ?? '')}`;
  return plan.leaves === true
    ? `Nothing to put back: what is not as it was before ${run} is left, as is said of each.`
    : `Nothing to put back: all that it changed is as it was before ${run}.`;
}

const nothingToDo: {
  readonly [why in Exclude<ReturnType<typeof idleBecause>, 'undone' | 'elsewhere'>]: string;
} = {
  owed: 'Nothing to change of what is selected; of what is left out, something is still owed.',
  unselected: 'Nothing of what is selected is declared, so there is nothing to do.',
  undeclared: 'Nothing is declared, so there is nothing to do.',
  unchanged: 'Nothing to change: everything is as the manifests say.',
};

/** How many changes are named as destructive. */
const NAMED = 5;

/** What is destructive, by name: `1 is destructive: User/9b1d.`; null where nothing is. */
function destructiveSentence(plan: Plan): string | null {
  const destructive = plan.changes.filter(isDestructive);
  if (destructive.length === 0) return null;
  const named = destructive.slice(0, NAMED).map(nameOf).join(', ');
  const more = destructive.length - NAMED;
  const { count, inAll } = destructiveCount(plan);
  return `${count} ${count === 1 ? 'is' : 'are'} destructive${inAll}: ${named}${more > 0 ? ` and ${more} more` : ''}.`;
}

const marks: { readonly [action in Action]: { mark: string; color: 'yellow' | 'red' | 'magenta' | 'dim' } } =
  {
    update: { mark: '~', color: 'yellow' },
    delete: { mark: '-', color: 'red' },
    regenerate: { mark: '↻', color: 'magenta' },
    adopt: { mark: '*', color: 'dim' },
    blocked: { mark: '!', color: 'red' },
    unchanged: { mark: '=', color: 'dim' },
  };

/** One change for a person: its address, its differences, and what a reviewer should know. */
export function changeLines(change: Change, pen: Pen): string[] {
  const { paint, debug, columns } = pen;
  return [
    ...headLines(change, pen),
    ...observedLines(change).map((line) => fold([{ text: line, tint: paint.dim }], 6, columns)),
    ...(change.reason === null ? [] : wrap('    reason: ', change.reason, columns).map(paint.red)),
    ...change.destructions.flatMap((loss) => wrap('    destructive: ', loss, columns).map(paint.red)),
    ...change.fields.flatMap((field) => fieldLines(field, pen)),
    ...warningLines('    ', change.warnings, pen),
    // Where several requests are needed for one change, what happens between them matters.
    ...(debug || change.requests.length > 1
      ? requestTexts(change).map((request) => paint.dim(`    sends ${request}`))
      : []),
  ];
}

/** What is done to which object, and where that is declared. */
function headLines(change: Change, { paint, columns }: Pen): string[] {
  const { action, address, declaredAt, label } = change;
  const { mark, color } = marks[action];
  const what = `${mark} ${action}`;
  const name = `${bare(address)}${labelBeside(change)}`;
  const head = fold(
    [
      // An address may be longer than a narrow terminal is wide: it would stand no better below.
      { text: what, tint: paint[color], whole: true },
      { text: ' ', whole: true },
      { text: bare(address), tint: paint.bold, whole: true },
      { text: labelBeside(change) },
    ],
    4,
    columns,
  );
  if (declaredAt === null) return [head];
  const place = `at ${escapeText(declaredAt.file)}:${declaredAt.line}`;
  const width = displayWidth(`${what} ${name}  ${place}`);
  // A name and a place side by side are more than a line takes as a rule.
  const isBeside = columns === undefined ? label === undefined : width <= columns;
  return isBeside ? [`${head}${paint.dim(`  ${place}`)}`] : [head, paint.dim(`    ${place}`)];
}

function observedLines(change: Change): string[] {
  const origin = originOf(change);
  switch (origin?.origin) {
    case 'adoption': {
      const { generation, told } = origin;
      if (generation === undefined) return [];
      return [`    ${told ? '' : `did_generation ${generation} `}will be recorded, nothing is sent`];
    }
    case 'record': {
      const { what, at, why } = origin;
      const time = at === null ? '' : ` ${escapeText(at)}`;
      return [`    ${what === '' ? '' : `${what} as `}recorded${time}, ${why}`];
    }
    case 'unknown':
      return ['    present value unknown: will be asserted'];
    default:
      return [];
  }
}
