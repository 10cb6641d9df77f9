import { displayWidth, quoteIfNeeded } from '../base/escape.js';
import { firstFew } from '../base/words.js';
import { kindOf } from '../kinds/index.js';
import type { Change, FieldChange } from '../plan/plan.js';
import { groupByKey, namesIn, withoutNames } from './group-equal.js';
import type { Named } from './names.js';
import { declaredPlaces, observedNote } from './review.js';
import { inline } from './values.js';
import { placeList, placesOf } from './words.js';

export interface Fold {
  /** Their common content. */
  readonly change: Change;
  /** At least one. */
  readonly changes: readonly Change[];
}

/** Folds equal changes; none with `debug`. */
export function foldChanges(changes: readonly Change[], debug: boolean): Fold[] {
  const groups = debug ? changes.map((change) => [change]) : groupByKey(changes, keyOf);
  return groups.flatMap((all) => {
    const [first] = all;
    return first === undefined
      ? []
      : [{ change: all.length === 1 ? first : common(first, all), changes: all }];
  });
}

/** Everything shown of a change, except names of its object. */
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
    reason === null ? null : nameless(change, reason),
    destructions.map((loss) => nameless(change, loss)),
    privileges,
    warnings.map(({ code, message }) => [code, nameless(change, message)]),
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

/** The first of equal changes, without what differs. */
function common(first: Change, all: readonly Change[]): Change {
  const { recordedAt, reason, destructions, warnings } = first;
  const times = all.flatMap((change) => change.recordedAt ?? []).sort();
  const [earliest, latest] = [times[0], times.at(-1)];
  const shared = (text: string, of: (change: Change) => string | null | undefined) =>
    all.every((change) => of(change) === text) ? text : nameless(first, text);
  return {
    ...first,
    ...(recordedAt === undefined
      ? {}
      : { recordedAt: earliest === latest ? recordedAt : `${earliest} to ${latest}` }),
    reason: reason === null ? null : shared(reason, (change) => change.reason),
    destructions: destructions.map((loss, at) => shared(loss, (change) => change.destructions[at])),
    warnings: warnings.map((warning, at) => {
      const places = all.flatMap((change) => change.warnings.slice(at, at + 1).flatMap(placesOf));
      const message = shared(warning.message, (change) => change.warnings[at]?.message);
      return { ...warning, message, ...(places.length > 0 ? { places } : {}) };
    }),
  };
}

function nameless({ address, label }: Change, text: string): string {
  return withoutNames(text, [...namesIn(address), ...(label === undefined ? [] : [label])]);
}

/** `1,333 users`. */
export function foldCount({ change, changes }: Fold): string {
  return `${changes.length.toLocaleString('en')} ${kindOf(change.kind).noun}s`;
}

const namesWidth = 150;

/** As many names as fit, and where the others are; with `all`, each address and name. `format` escapes them. */
export function foldedNames(
  { changes }: Fold,
  all: boolean,
  format: {
    readonly name: (named: Named) => string;
    readonly text: (text: string) => string;
    readonly json: string;
  },
): string {
  if (all) return changes.map(format.name).join(', ');
  const labels = changes.flatMap(({ label }) => label ?? []);
  const isClear = new Set(labels).size === changes.length;
  let width = 0;
  const fit = changes.flatMap(({ address, label = address }) => {
    const shown = format.text(isClear ? label : address);
    width += displayWidth(shown) + 2;
    return width <= namesWidth ? [shown] : [];
  });
  const more = changes.length - fit.length;
  const rest = `${more.toLocaleString('en')} more; ${format.json} lists all of them`;
  return `${fit.join(', ')}${more > 0 ? ` and ${rest}` : ''}`;
}

/** The files of a fold, or the place of a single object. Escaped. */
export function foldPlace({ changes }: Fold): string | null {
  const places = changes.flatMap(declaredPlaces);
  const [first] = places;
  if (first === undefined) return null;
  if (changes.length === 1) return placeList(places);
  const files = [...new Set(places.map(({ file }) => quoteIfNeeded(file)))];
  return firstFew(files);
}
