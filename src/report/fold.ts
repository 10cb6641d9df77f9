import { displayWidth, quoteIfNeeded } from '../base/escape.js';
import { firstFew } from '../base/words.js';
import { kindOf } from '../kinds/index.js';
import type { Change, FieldChange } from '../plan/plan.js';
import { groupByKey, namesIn, withoutNames } from './group-equal.js';
import type { NamedObject } from './names.js';
import { declaredPlaces, observedNote } from './review.js';
import { inline } from './values.js';
import { placeList, placesOf } from './words.js';

/** Equal changes of several objects, shown as one. */
export interface Fold {
  /** The common content. */
  readonly change: Change;
  /** The changes; at least one. */
  readonly changes: readonly Change[];
}

/** Folds equal changes; with `debug`, each change is a fold of its own. */
export function foldChanges(changes: readonly Change[], debug: boolean): Fold[] {
  const groups = debug ? changes.map((change) => [change]) : groupByKey(changes, keyOf);
  return groups.flatMap((group) => {
    const [first] = group;
    return first === undefined
      ? []
      : [{ change: group.length === 1 ? first : mergeChanges(first, group), changes: group }];
  });
}

/** The fold of some of its changes. */
export function foldPart({ change, changes }: Fold, start: number, end?: number): Fold {
  const part = changes.slice(start, end);
  return { change: (part.length === 1 ? part[0] : undefined) ?? change, changes: part };
}

/** All that is shown of a change, without the names of its object. */
function keyOf(change: Change): string {
  const { kind, action, observed, reason, destructions, privileges, warnings, fields, requests, apply } =
    change;
  const bodies = kindOf(kind).email;
  const shown = (value: FieldChange['before']) => (value === undefined ? null : inline(value));
  return JSON.stringify([
    kind,
    action,
    observed,
    observedNote({ ...change, recordedAt: '' }),
    reason === null ? null : withoutOwnNames(change, reason),
    destructions.map((text) => withoutOwnNames(change, text)),
    privileges,
    warnings.map(({ code, message }) => [code, withoutOwnNames(change, message)]),
    fields.map(({ before, after, drift, sensitive, ...rest }) => [
      rest,
      sensitive || [shown(before), shown(after), drift && { ...drift, recorded: shown(drift.recorded) }],
    ]),
    requests.map(({ operation }) => operation),
    // Pages render both bodies of an email.
    bodies &&
      [apply.before, apply.expected].map((side) =>
        [bodies.txt, bodies.html].map((name) => shown(side[name])),
      ),
  ]);
}

/** The common content of equal changes: names that differ are `…`. */
function mergeChanges(first: Change, all: readonly Change[]): Change {
  const { recordedAt, reason, destructions, warnings } = first;
  const times = all.flatMap((change) => change.recordedAt ?? []).sort();
  const [earliest, latest] = [times[0], times.at(-1)];
  const commonText = (text: string, textOf: (change: Change) => string | null | undefined) =>
    all.every((change) => textOf(change) === text) ? text : withoutOwnNames(first, text);
  return {
    ...first,
    ...(recordedAt === undefined
      ? {}
      : { recordedAt: earliest === latest ? recordedAt : `${earliest} to ${latest}` }),
    reason: reason === null ? null : commonText(reason, (change) => change.reason),
    destructions: destructions.map((text, index) => commonText(text, (change) => change.destructions[index])),
    warnings: warnings.map((warning, index) => {
      const places = all.flatMap((change) => change.warnings.slice(index, index + 1).flatMap(placesOf));
      const message = commonText(warning.message, (change) => change.warnings[index]?.message);
      return { ...warning, message, ...(places.length > 0 ? { places } : {}) };
    }),
  };
}

function withoutOwnNames({ address, label }: Change, text: string): string {
  return withoutNames(text, [...namesIn(address), ...(label === undefined ? [] : [label])]);
}

/** `1,333 users`. */
export function foldCount({ change, changes }: Fold): string {
  return `${changes.length.toLocaleString('en')} ${kindOf(change.kind).noun}s`;
}

const namesWidth = 150;

/** The names that fit, and how many more there are; with `all`, every address and name. `format` escapes them. */
export function foldedNames(
  { changes }: Fold,
  all: boolean,
  format: {
    readonly name: (named: NamedObject) => string;
    readonly text: (text: string) => string;
    readonly json: string;
  },
): string {
  if (all) return changes.map(format.name).join(', ');
  const labels = changes.flatMap(({ label }) => label ?? []);
  const isUnique = new Set(labels).size === changes.length;
  let width = 0;
  const shown = changes.flatMap(({ address, label = address }) => {
    const name = format.text(isUnique ? label : address);
    width += displayWidth(name) + 2;
    return width <= namesWidth ? [name] : [];
  });
  const more = changes.length - shown.length;
  const rest = `${more.toLocaleString('en')} more; ${format.json} lists all of them`;
  return `${shown.join(', ')}${more > 0 ? ` and ${rest}` : ''}`;
}

/** The files of several objects, or the place of one; null if none is declared. Escaped. */
export function foldPlace({ changes }: Fold): string | null {
  const places = changes.flatMap(declaredPlaces);
  const [first] = places;
  if (first === undefined) return null;
  if (changes.length === 1) return placeList(places);
  const files = [...new Set(places.map(({ file }) => quoteIfNeeded(file)))];
  return firstFew(files);
}
