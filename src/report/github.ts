import type { Result } from '../apply/result.js';
import { escapeText } from '../base/escape.js';
import type { Place, Problem } from '../base/problems.js';
import { shareOf } from '../plan/drift.js';
import type { Change, Plan, PlanWarning, WarningPlace } from '../plan/plan.js';
import type { Share } from '../plan/share.js';
import { driftNote } from './drift.js';
import { labelBeside, type Named } from './names.js';
import { placeList, placesOf } from './places.js';
import { resultSummaryLine } from './result-text.js';
import { headline, shareNotes } from './review.js';

export interface GithubOptions {
  /** The folder that places are relative to, from the root of the repository, such as `infra`. */
  readonly folder?: string;
  /** Whether the plan was made before, so that it says when. */
  readonly stored?: boolean;
  /** Which changes of a plan are told; all where it is left out. */
  readonly only?: Share;
}

type Level = 'error' | 'warning' | 'notice';

/** Something that GitHub shows at a line of a file, or at none. */
export interface Annotation {
  readonly level: Level;
  readonly title: string;
  /** Not escaped yet. */
  readonly message: string;
  readonly place: Partial<Place> | null;
}

/**
 * A plan as annotations of a GitHub workflow: what is blocked, what would be lost, warnings, then what changes.
 * The most important come first, since GitHub shows ten of each level.
 */
export function planGithub(plan: Plan, options: GithubOptions = {}): string {
  return [
    ...planAnnotations(plan, options).map((annotation) => annotationCommand(annotation, options)),
    `idops plan${options.stored === true ? ` made at ${escapeText(plan.createdAt)} for ${escapeText(plan.server)}` : ''}: ${headline(plan)}`,
    '',
  ].join('\n');
}

function planAnnotations(plan: Plan, options: Pick<GithubOptions, 'only'> = {}): Annotation[] {
  const { changes } = shareOf(plan.changes, options.only);
  return [
    ...changes.filter(({ action }) => action === 'blocked').map(blocked),
    ...changes.filter(({ destructions }) => destructions.length > 0).map(destructive),
    ...plan.warnings.map((warning) => warned(warning, '', null)),
    ...changes.flatMap((change) =>
      change.warnings.map((warning) => warned(warning, `${titled(change)}: `, change.declaredAt)),
    ),
    ...shareNotes(plan, options.only).map(noted),
    ...changes
      .filter(
        ({ action, destructions }) => action !== 'unchanged' && action !== 'blocked' && !destructions.length,
      )
      .map(changed),
  ];
}

/** An object as an annotation names it; what is hostile in it is escaped with all of the annotation. */
function titled(named: Named): string {
  return `${named.address}${labelBeside(named)}`;
}

function blocked(change: Change): Annotation {
  const { reason, declaredAt } = change;
  const address = titled(change);
  return {
    level: 'error',
    title: 'idops blocked',
    message: reason === null ? address : `${address}: ${reason}`,
    place: declaredAt,
  };
}

function destructive(change: Change): Annotation {
  const { action, destructions, declaredAt } = change;
  const address = titled(change);
  return {
    level: 'warning',
    title: `idops destructive ${action}`,
    message: `${address}: ${destructions.join('; ')}${drifted(change)}`,
    place: declaredAt,
  };
}

function noted(message: string): Annotation {
  return { level: 'notice', title: 'idops plan', message, place: null };
}

/** What of a change the server changed, behind what else is said of it. */
function drifted(change: Change): string {
  const note = driftNote(change);
  return note === null ? '' : `; ${note}`;
}

/** A warning at its first place, or at the one of its object. */
function warned(warning: PlanWarning, about: string, declared: Annotation['place']): Annotation {
  const { code, message, place = declared, morePlaces } = warning;
  return {
    level: 'warning',
    title: `idops ${code}`,
    message: [`${about}${message}`, ...alsoAt(placesOf(warning), morePlaces)].join('\n'),
    place,
  };
}

/** The places behind the first one, which an annotation stands at. */
function alsoAt(places: readonly WarningPlace[], more: number | undefined): string[] {
  return places.length < 2 ? [] : [`also at ${placeList(places.slice(1), more)}`];
}

function changed(change: Change): Annotation {
  const { action, fields, declaredAt } = change;
  const address = titled(change);
  const paths = fields.map(({ path }) => path).join(', ');
  return {
    level: 'notice',
    title: `idops ${action}`,
    message: `${paths === '' || action === 'delete' ? address : `${address}: ${paths}`}${drifted(change)}`,
    place: declaredAt,
  };
}

/** Problems as annotations, each at its first place; errors first. */
export function problemsGithub(problems: readonly Problem[], options: GithubOptions = {}): string {
  return problems
    .toSorted((a, b) => (a.severity === b.severity ? 0 : a.severity === 'error' ? -1 : 1))
    .map(annotationOf)
    .map((annotation) => `${annotationCommand(annotation, options)}\n`)
    .join('');
}

function annotationOf({ code, severity, message, hint, places, morePlaces }: Problem): Annotation {
  const [first = null] = places;
  const help = hint === undefined ? [] : [`help: ${hint}`];
  return {
    level: severity,
    title: `idops ${code}`,
    message: [message, ...alsoAt(places, morePlaces), ...help].join('\n'),
    place: first,
  };
}

/** One workflow command, on one line whatever is in it. */
export function annotationCommand(
  { level, title, message, place }: Annotation,
  { folder = '' }: GithubOptions = {},
): string {
  const file = place?.file === undefined ? undefined : inRepository(folder, place.file);
  const properties = [
    ...(file === undefined ? [] : [`file=${property(file)}`]),
    ...(file === undefined || place?.line === undefined ? [] : [`line=${place.line}`]),
    ...(file === undefined || place?.column === undefined ? [] : [`col=${place.column}`]),
    `title=${property(title)}`,
  ];
  return `::${level} ${properties.join(',')}::${data(message.split(/\r?\n/).map(escapeText).join('\n'))}`;
}

/** A file from the root of the repository, whatever folder it is told from. */
function inRepository(folder: string, file: string): string {
  const steps: string[] = [];
  for (const step of `${folder}/${file}`.split('/')) {
    if (step === '..') steps.pop();
    else if (step !== '' && step !== '.') steps.push(step);
  }
  return steps.join('/');
}

/** The text of a command, as GitHub's runner decodes it. */
function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return data(escapeText(text)).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** A result as annotations, each at the place that declares its object; what is applied says nothing. */
export function resultGithub(result: Result, plan: Plan, options: GithubOptions = {}): string {
  const lines = resultAnnotations(result, plan).map((annotation) => annotationCommand(annotation, options));
  return [...lines, `idops apply: ${resultSummaryLine(result)}`, ''].join('\n');
}

function resultAnnotations(result: Result, plan: Plan): Annotation[] {
  const places = new Map(plan.changes.map(({ address, declaredAt }) => [address, declaredAt]));
  return result.results
    .filter(({ status }) => status !== 'applied')
    .map(
      ({ address, label, status, error }): Annotation => ({
        level: 'error',
        title: `idops ${status}`,
        message: `${titled({ address, label })}${error === null ? '' : `: ${error}`}`,
        place: places.get(address) ?? null,
      }),
    );
}
