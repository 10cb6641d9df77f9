import type { Result } from '../apply/result.js';
import { escapeText } from '../base/escape.js';
import type { Place, Problem } from '../base/problems.js';
import { isListed, shareOf } from '../plan/drift.js';
import { type Change, isPrivileged, type Plan, type PlanWarning, type WarningPlace } from '../plan/plan.js';
import { driftNote } from './drift.js';
import { labelBeside, type Named } from './names.js';
import { type RenderOptions, stepsTo } from './render-options.js';
import { resultSummaryLine } from './result-text.js';
import { declaredPlaces, headline, isDestructive, isGrave, shareNotes } from './review.js';
import { placeList, placesOf } from './words.js';

type GithubOptions = Partial<Pick<RenderOptions, 'folder' | 'stored' | 'only'>>;

type Level = 'error' | 'warning' | 'notice';

export interface Annotation {
  readonly level: Level;
  readonly title: string;
  readonly message: string;
  readonly place: Partial<Place> | null;
}

/** Annotations of a GitHub workflow. GitHub shows ten of each level, so the most important come first. */
export function planGithub(plan: Plan, options: GithubOptions = {}): string {
  return [
    ...planAnnotations(plan, options).map((annotation) => annotationCommand(annotation, options)),
    `idops plan${options.stored === true ? ` made at ${escapeText(plan.createdAt)} for ${escapeText(plan.server)}` : ''}${plan.asOf === undefined ? '' : ` as of ${escapeText(plan.asOf)} (--now)`}: ${headline(plan)}`,
    '',
  ].join('\n');
}

function planAnnotations(plan: Plan, options: Pick<GithubOptions, 'only'> = {}): Annotation[] {
  const { changes } = shareOf(plan.changes, options.only);
  const of = (wanted: (change: Change) => boolean) => changes.filter(wanted);
  return [
    ...of(isPrivileged).map((change) => {
      const effects = [...(change.privileges ?? []), ...change.destructions].join('; ');
      const sets = change.fields.filter(({ type }) => type === 'set');
      return ofChange(change, 'warning', `privileged ${change.action}`, effects, { ...change, fields: sets });
    }),
    ...of(({ action }) => action === 'blocked').map((change) =>
      annotation('error', 'blocked', titled(change, change.reason ?? ''), firstPlace(change)),
    ),
    ...of((change) => isDestructive(change) && !isPrivileged(change)).map((change) =>
      ofChange(change, 'warning', `destructive ${change.action}`, change.destructions.join('; ')),
    ),
    ...plan.warnings.map((warning) => warned(warning, warning.message, null)),
    ...changes.flatMap((change) =>
      change.warnings.map((warning) => warned(warning, titled(change, warning.message), firstPlace(change))),
    ),
    ...shareNotes(plan, options.only).map((note) => annotation('notice', 'plan', note, null)),
    ...of((change) => isListed(change, false) && change.action !== 'blocked' && !isGrave(change)).map(
      (change) => {
        const paths = change.action === 'delete' ? [] : change.fields.map(({ path }) => path);
        return ofChange(change, 'notice', change.action, paths.join(', '));
      },
    ),
  ];
}

function annotation(level: Level, title: string, message: string, place: Annotation['place']): Annotation {
  return { level, title: `idops ${title}`, message, place };
}

/** A sentence after an object's name; the annotation is escaped as a whole. */
function titled(named: Named, text: string): string {
  return `${named.address}${labelBeside(named)}${text === '' ? '' : `: ${text}`}`;
}

function ofChange(change: Change, level: Level, title: string, text: string, at = change): Annotation {
  const drift = driftNote(change);
  const message = `${titled(change, text)}${drift === null ? '' : `; ${drift}`}`;
  return annotation(level, title, message, firstPlace(at));
}

function firstPlace(change: Change): Annotation['place'] {
  return declaredPlaces(change)[0] ?? null;
}

/** A warning at its first place, otherwise at its object's. */
function warned(warning: PlanWarning, message: string, declared: Annotation['place']): Annotation {
  const { code, place = declared, morePlaces } = warning;
  const text = [message, ...alsoAt(placesOf(warning), morePlaces)].join('\n');
  return annotation('warning', code, text, place);
}

function alsoAt(places: readonly WarningPlace[], more: number | undefined): string[] {
  return places.length < 2 ? [] : [`also at ${placeList(places.slice(1), more)}`];
}

/** Problems as annotations at their first place; errors first. */
export function problemsGithub(problems: readonly Problem[], options: GithubOptions = {}): string {
  return problems
    .toSorted((a, b) => (a.severity === b.severity ? 0 : a.severity === 'error' ? -1 : 1))
    .map((problem) => `${annotationCommand(annotationOf(problem), options)}\n`)
    .join('');
}

function annotationOf({ code, severity, message, hint, places, morePlaces }: Problem): Annotation {
  const [first = null] = places;
  const help = hint === undefined ? [] : [`help: ${hint}`];
  return annotation(severity, code, [message, ...alsoAt(places, morePlaces), ...help].join('\n'), first);
}

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

function inRepository(folder: string, file: string): string {
  return stepsTo(folder, file).steps.join('/');
}

/** Escapes the text of a command for GitHub's runner. */
function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return data(escapeText(text)).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

export function resultGithub(result: Result, plan: Plan, options: GithubOptions = {}): string {
  const lines = resultAnnotations(result, plan).map((annotation) => annotationCommand(annotation, options));
  return [...lines, `idops apply: ${resultSummaryLine(result)}`, ''].join('\n');
}

function resultAnnotations(result: Result, plan: Plan): Annotation[] {
  const places = new Map(plan.changes.map(({ address, declaredAt }) => [address, declaredAt]));
  return result.results
    .filter(({ status }) => status !== 'applied')
    .map((one) =>
      annotation('error', one.status, titled(one, one.error ?? ''), places.get(one.address) ?? null),
    );
}
