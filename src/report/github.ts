import type { Result } from '../apply/result.js';
import { escapeText } from '../base/escape.js';
import type { Place, Problem } from '../base/problems.js';
import { isListed, shareOf } from '../plan/drift.js';
import { type Change, isPrivileged, type Plan, type PlanWarning, type WarningPlace } from '../plan/plan.js';
import { driftNote } from './drift.js';
import { labelSuffix, type NamedObject } from './names.js';
import { type RenderOptions, stepsTo } from './render-options.js';
import { resultSummaryLine } from './result-text.js';
import { declaredPlaces, headline, isDestructive, isHighRisk, shareNotes } from './review.js';
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
  const otherChanges = changes.filter((change) => isListed(change, false) && !isHighRisk(change));
  return [
    ...changes.filter(isPrivileged).map((change) => {
      const effects = [...(change.privileges ?? []), ...change.destructions].join('; ');
      const sets = change.fields.filter(({ type }) => type === 'set');
      return changeAnnotation(change, 'warning', `privileged ${change.action}`, effects, {
        ...change,
        fields: sets,
      });
    }),
    ...changes
      .filter(({ action }) => action === 'blocked')
      .map((change) =>
        annotation('error', 'blocked', withName(change, change.reason ?? ''), firstPlace(change)),
      ),
    ...changes
      .filter((change) => isDestructive(change) && !isPrivileged(change))
      .map((change) =>
        changeAnnotation(change, 'warning', `destructive ${change.action}`, change.destructions.join('; ')),
      ),
    ...plan.warnings.map((warning) => warningAnnotation(warning, warning.message, null)),
    ...changes.flatMap((change) =>
      change.warnings.map((warning) =>
        warningAnnotation(warning, withName(change, warning.message), firstPlace(change)),
      ),
    ),
    ...shareNotes(plan, options.only).map((note) => annotation('notice', 'plan', note, null)),
    ...otherChanges
      .filter(({ action }) => action !== 'blocked')
      .map((change) => {
        const paths = change.action === 'delete' ? [] : change.fields.map(({ path }) => path);
        return changeAnnotation(change, 'notice', change.action, paths.join(', '));
      }),
  ];
}

function annotation(level: Level, title: string, message: string, place: Annotation['place']): Annotation {
  return { level, title: `idops ${title}`, message, place };
}

/** A sentence after an object's name. `annotationCommand` escapes it. */
function withName(object: NamedObject, text: string): string {
  return `${object.address}${labelSuffix(object)}${text === '' ? '' : `: ${text}`}`;
}

function changeAnnotation(
  change: Change,
  level: Level,
  title: string,
  text: string,
  at = change,
): Annotation {
  const drift = driftNote(change);
  const message = `${withName(change, text)}${drift === null ? '' : `; ${drift}`}`;
  return annotation(level, title, message, firstPlace(at));
}

function firstPlace(change: Change): Annotation['place'] {
  return declaredPlaces(change)[0] ?? null;
}

/** A warning at its first place; without one at the place of its object. */
function warningAnnotation(warning: PlanWarning, message: string, declared: Annotation['place']): Annotation {
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
    .map((problem) => `${annotationCommand(problemAnnotation(problem), options)}\n`)
    .join('');
}

function problemAnnotation({ code, severity, message, hint, places, morePlaces }: Problem): Annotation {
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
    ...(file === undefined ? [] : [`file=${escapeProperty(file)}`]),
    ...(file === undefined || place?.line === undefined ? [] : [`line=${place.line}`]),
    ...(file === undefined || place?.column === undefined ? [] : [`col=${place.column}`]),
    `title=${escapeProperty(title)}`,
  ];
  return `::${level} ${properties.join(',')}::${escapeData(message.split(/\r?\n/).map(escapeText).join('\n'))}`;
}

function inRepository(folder: string, file: string): string {
  return stepsTo(folder, file).steps.join('/');
}

/** Escapes the message of a workflow command. */
function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(escapeText(text)).replaceAll(':', '%3A').replaceAll(',', '%2C');
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
      annotation('error', one.status, withName(one, one.error ?? ''), places.get(one.address) ?? null),
    );
}
