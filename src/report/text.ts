import { type ChangeResult, type Result, type Status, summarizeResult } from '../apply/result.js';
import { bare, disarm, displayWidth, escapeText } from '../base/escape.js';
import { type Share, shareOf } from '../plan/drift.js';
import {
  type Action,
  type Change,
  type FieldChange,
  type Plan,
  type PlanWarning,
  summarize,
} from '../plan/plan.js';
import { countDestructions } from '../plan/safety.js';
import { alike, leftText, someOf } from './alike.js';
import { driftSentence, leftOutSentence } from './drift.js';
import type { DiffLine } from './hunks.js';
import { labelBeside, nameOf } from './names.js';
import { idleBecause, located } from './review.js';
import {
  type BodyView,
  type FieldView,
  originOf,
  requestTexts,
  type SetView,
  type ValueView,
  viewField,
} from './view.js';
import { type Colors, colors, lineWidth, plural, wrap } from './words.js';

export interface TextOptions {
  readonly color: boolean;
  /** Unchanged objects and requests too, and long values whole. */
  readonly debug: boolean;
  /** Which changes are shown; all where it is left out. */
  readonly only?: Share;
  /** Whether the plan was made before, so that it says when. */
  readonly stored?: boolean;
}

/** A plan for a person who reviews it, to be printed on a terminal or in a CI log. */
export function planText(plan: Plan, options: TextOptions): string {
  const paint = colors(options.color);
  const shared = shareOf(plan.changes, options.only);
  const listed = shared.changes.filter(({ action }) => options.debug || action !== 'unchanged');
  const leftOut = leftOutSentence(shared, options.only);
  const idle = plan.changes.every(({ action }) => action === 'unchanged');
  const lines = [
    `Server:      ${paint.bold(escapeText(plan.server))}`,
    `Profile:     ${escapeText(plan.profile)}`,
    `Environment: ${plan.environment === null ? 'none' : paint.bold(escapeText(plan.environment))}`,
    ...(options.stored === true
      ? [`Made:        ${escapeText(plan.createdAt)} by idops ${escapeText(plan.toolVersion)}`]
      : []),
    '',
    ...listed.flatMap((change) => [...changeLines(change, options, paint), '']),
    ...(leftOut === null ? [] : [...wrap('', leftOut), '']),
    ...(idle ? [nothingToDo[idleBecause(plan)], ''] : []),
    ...plan.warnings.flatMap((warning) => warningLines('', warning, paint)),
    ...(plan.warnings.length === 0 ? [] : ['']),
  ];
  if (!idle) {
    lines.push(
      ...wrap('Required scopes: ', plan.requiredScopes.join(', ') || 'none'),
      `Digest: ${escapeText(plan.digest)}`,
      ...destructiveLines(plan, paint),
    );
  }
  const drift = driftSentence(plan);
  if (drift !== null) lines.push(...wrap('', drift).map((line) => paint.cyan(line)));
  return `${[...lines, paint.bold(summaryLine(plan))].join('\n')}\n`;
}

/** The line that closes a plan: how many changes there are of each action. */
export function summaryLine(plan: Plan): string {
  const count = summarize(plan);
  const recorded = plan.changes.filter(
    ({ action, observed }) => action === 'unchanged' && observed === 'recorded',
  ).length;
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

const nothingToDo: { readonly [why in ReturnType<typeof idleBecause>]: string } = {
  undone: 'Nothing to put back: all that can be put back is as it was before the run.',
  owed: 'Nothing to change of what is selected; of what is left out, something is still owed.',
  unselected: 'Nothing of what is selected is declared, so there is nothing to do.',
  undeclared: 'Nothing is declared, so there is nothing to do.',
  unchanged: 'Nothing to change: everything is as the manifests say.',
};

function destructiveLines(plan: Plan, paint: Colors): string[] {
  const destructive = plan.changes.filter(({ destructions }) => destructions.length > 0);
  if (destructive.length === 0) return [];
  const named = destructive.slice(0, 5).map(nameOf);
  const more = destructive.length - named.length;
  const names = more > 0 ? [...named, `${more} more`] : named;
  return [paint.red(`${countDestructions(plan)} destructive: ${names.join(', ')}`)];
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
export function changeLines(change: Change, options: TextOptions, paint: Colors): string[] {
  const { mark, color } = marks[change.action];
  const { declaredAt } = change;
  const place = declaredAt === null ? '' : `at ${escapeText(declaredAt.file)}:${declaredAt.line}`;
  const head = `${paint[color](`${mark} ${change.action}`)} ${paint.bold(bare(change.address))}${labelBeside(change)}`;
  // A name and a place side by side are more than a line takes.
  const heads =
    place === ''
      ? [head]
      : change.label === undefined
        ? [`${head}${paint.dim(`  ${place}`)}`]
        : [head, paint.dim(`    ${place}`)];
  return [
    ...heads,
    ...observedLines(change).map((line) => paint.dim(line)),
    ...(change.reason === null ? [] : wrap('    reason: ', change.reason).map((line) => paint.red(line))),
    ...change.destructions.flatMap((loss) => wrap('    destructive: ', loss).map((line) => paint.red(line))),
    ...change.fields.flatMap((field) => fieldLines(field, options, paint)),
    ...change.warnings.flatMap((warning) => warningLines('    ', warning, paint)),
    // Where several requests are needed for one change, what happens between them matters.
    ...(options.debug || change.requests.length > 1
      ? requestTexts(change).map((request) => paint.dim(`    sends ${request}`))
      : []),
  ];
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

function warningLines(indent: string, warning: PlanWarning, paint: Colors): string[] {
  return wrap(`${indent}warning[${escapeText(warning.code)}]: `, located(warning)).map((line) =>
    paint.yellow(line),
  );
}

function fieldLines(field: FieldChange, options: TextOptions, paint: Colors): string[] {
  const view = viewField(field, { whole: options.debug, room: 'terminal' });
  const drift = view.drift === null ? [] : wrap('      ', view.drift).map((line) => paint.cyan(line));
  return [...viewLines(view, options, paint).map((line) => `    ${line}`), ...drift];
}

function viewLines(view: FieldView, { debug }: TextOptions, paint: Colors): string[] {
  const path = disarm(view.path);
  switch (view.view) {
    case 'secret':
      return [`${path}: ${view.unknown ? '(unknown) → ' : ''}(sensitive)`];
    case 'set':
      return setLines(path, view, paint);
    case 'body':
      return bodyLines(path, view, debug, paint);
    default:
      return valueLines(path, view);
  }
}

function valueLines(path: string, { before, after }: ValueView): string[] {
  const line = `${path}: ${before} → ${after}`;
  if (displayWidth(line) + 4 <= lineWidth) return [line];
  return [`${path}: ${before}`, `  → ${after}`];
}

function setLines(path: string, { head, elements, kept }: SetView, paint: Colors): string[] {
  const paints = { '+': paint.green, '-': paint.red, '~': paint.yellow, '=': String };
  return [
    `${path}:${head === null ? '' : ` ${head}`}`,
    ...elements.map(({ mark, text }) => `  ${paints[mark](`${mark} ${text}`)}`),
    ...(kept > 0 ? [paint.dim(`  (${kept} unchanged)`)] : []),
  ];
}

function bodyLines(
  path: string,
  { before, fate, lines, notes, hunks }: BodyView,
  debug: boolean,
  paint: Colors,
): string[] {
  if (before === 'unknown') {
    // What can't be compared would only be long.
    const shown = debug ? hunks.flatMap((hunk) => hunk.lines) : [];
    return [`${path}: (unknown) → ${fate ?? plural(lines, 'line')}`, ...shown.map(diffRow)];
  }
  const said = fate ?? (before === 'null' ? 'was null' : null);
  return [
    `${path}:${said === null ? '' : ` ${said}`}`,
    ...notes.map((note) => `  ${note}`),
    ...hunks.flatMap((hunk) => [
      paint.cyan(`  │ ${hunk.head}`),
      ...hunk.lines.map((line) => {
        const row = diffRow(line);
        return line.mark === '+' ? paint.green(row) : line.mark === '-' ? paint.red(row) : row;
      }),
    ]),
  ];
}

/** The bar keeps lines from starting with what a CI log takes for a command. */
function diffRow({ mark, text }: DiffLine): string {
  return text === '' ? `  │ ${mark}`.trimEnd() : `  │ ${mark}${text}`;
}

const done: { readonly [action in Action]: string } = {
  update: 'updated',
  delete: 'deleted',
  regenerate: 'regenerated',
  adopt: 'adopted',
  blocked: 'blocked',
  unchanged: 'unchanged',
};

const statusWords: { readonly [status in Status]: string } = {
  applied: 'applied',
  failed: 'failed',
  not_converged: 'not converged',
  unknown: 'unknown',
  skipped: 'skipped',
};

/** What a run did, for a person. */
export function resultText(result: Result, { color, debug }: TextOptions): string {
  const paint = colors(color);
  const groups = debug ? result.results.map((one) => [one]) : alike(result.results);
  const lines = groups.flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    if (first.status === 'applied') return appliedLines(first, debug, paint);
    return others.length === 0 ? troubleLines(first, paint) : alikeLines(first, others, paint);
  });
  if (result.results.length === 0) lines.push('Nothing was applied.');
  if (result.interrupted) {
    lines.push(
      paint.yellow('Interrupted: requests in flight were finished and recorded, no more were sent.'),
    );
  }
  if (result.run !== null) lines.push('', `Run: ${escapeText(result.run)}`);
  return `${[...lines, paint.bold(resultSummaryLine(result))].join('\n')}\n`;
}

/** The line that closes a result: how many changes ended in each way. */
export function resultSummaryLine(result: Result): string {
  const count = summarizeResult(result);
  const rest = (['failed', 'not_converged', 'unknown', 'skipped'] as const)
    .filter((status) => count[status] > 0)
    .map((status) => `, ${count[status]} ${statusWords[status]}`);
  return `Applied: ${count.applied} applied${rest.join('')}.`;
}

function appliedLines(result: ChangeResult, debug: boolean, paint: Colors): string[] {
  const unverified =
    result.unverified.length === 0
      ? []
      : wrap('    not in the answer, so unverified: ', result.unverified.join(', '));
  const detail = debug ? paint.dim(attemptsText(result)) : '';
  const notes = (result.notes ?? []).flatMap((note) => wrap('    note: ', note));
  return [`${paint.green('✓')} ${nameOf(result)} ${done[result.action]}${detail}`, ...unverified, ...notes];
}

function troubleLines(result: ChangeResult, paint: Colors): string[] {
  const mark = { failed: '✗', not_converged: '≠', unknown: '?', skipped: '-', applied: '✓' }[result.status];
  const status =
    result.status === 'unknown' ? 'nobody can tell whether it was done' : statusWords[result.status];
  const tint =
    result.status === 'skipped' ? paint.dim : result.status === 'unknown' ? paint.yellow : paint.red;
  return [
    `${tint(`${mark} ${result.action}`)} ${nameOf(result)} ${tint(status)}${attemptsText(result)}`,
    ...(result.error === null ? [] : wrap('    error: ', result.error)),
    ...(result.unverified.length === 0
      ? []
      : wrap('    not in the answer, so unverified: ', result.unverified.join(', '))),
  ];
}

/** What happened to many, once. */
function alikeLines(first: ChangeResult, others: readonly ChangeResult[], paint: Colors): string[] {
  if (first.status === 'skipped') {
    const all = [first, ...others];
    return [
      paint.dim(`- ${escapeText(leftText(all.length, first.error ?? 'not sent'))}`),
      ...wrap('    ', someOf(all)),
    ];
  }
  return [...troubleLines(first, paint), ...wrap(`    ${others.length} more alike: `, someOf(others))];
}

function attemptsText({ httpStatus, attempts }: ChangeResult): string {
  const parts = [
    ...(httpStatus === null ? [] : [`HTTP ${httpStatus}`]),
    ...(attempts > 1 ? [plural(attempts, 'attempt')] : []),
  ];
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}
