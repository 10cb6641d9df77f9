import type { Action, Change, FieldChange } from '../plan/plan.js';
import { firstFew } from './alike.js';
import { driftNote } from './drift.js';
import { type Forge, fileUrl } from './forge.js';
import { codeName, type Language, labelIn, markdown } from './marked.js';
import { placeList } from './places.js';
import { isDestructive, placeText, shortValue } from './review.js';
import type { WarningGroup } from './warnings.js';
import { plural } from './words.js';

/** How much a line tells, from what it needs at least: each form tells what those before it do. */
export const forms = ['named', 'labelled', 'told', 'placed', 'linked'] as const;

export type Form = (typeof forms)[number];

/** Whether one form tells what another one does. */
export function tells(form: Form, wanted: Form): boolean {
  return forms.indexOf(form) >= forms.indexOf(wanted);
}

/** The line that names a change: without a mark of a list, and on one line whatever is in it. */
export function changeLine(change: Change, form: Form, language: Language, forge: Forge | undefined): string {
  const { action, address, declaredAt } = change;
  const { bold, code } = language;
  return [
    `${bold(action)} ${code(address)}`,
    tells(form, 'labelled') ? labelIn(language, change) : '',
    ...(tells(form, 'told') ? toldParts(change, language) : []),
    !tells(form, 'told') && isDestructive(change) ? ` — ${bold('destructive')}` : '',
    tells(form, 'placed') && declaredAt !== null
      ? ` — ${language.link(placeText(declaredAt), tells(form, 'linked') && forge !== undefined ? fileUrl(forge, declaredAt) : undefined)}`
      : '',
  ].join('');
}

function toldParts(change: Change, language: Language): string[] {
  const { action, fields, destructions, reason, warnings } = change;
  const { bold, prose } = language;
  const drift = driftNote(change);
  return [
    inlineValue(change, language) ?? fieldNames(action, fields, language),
    ...(drift === null ? [] : [` — ${prose(drift)}`]),
    ...(destructions.length > 0 ? [` — ${bold('destructive:')} ${destructions.map(prose).join('; ')}`] : []),
    ...(reason === null ? [] : [` — ${prose(reason)}`]),
    ...(warnings.length > 0 ? [` — ⚠️ ${plural(warnings.length, 'warning')}`] : []),
  ];
}

function fieldNames(action: Action, fields: readonly FieldChange[], { code }: Language): string {
  if (action === 'delete' || fields.length === 0) return '';
  const paths = fields.slice(0, 3).map(({ path }) => code(path));
  const more = fields.length - paths.length;
  return `: ${paths.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function inlineValue(change: Change, { code }: Language): string | undefined {
  const value = shortValue(change);
  return value === undefined
    ? undefined
    : `: ${code(value.path)} ${code(value.before)} → ${code(value.after)}`;
}

/** The line of warnings that say the same, in Markdown. */
export function warningLine(group: WarningGroup, form: Form, forge: Forge | undefined): string {
  const { code: show, bold, prose, link } = markdown;
  const { code, message, objects, places, morePlaces } = group;
  const [only, ...others] = objects;
  const subject =
    only === undefined
      ? ''
      : others.length > 0
        ? `${bold(plural(objects.length, 'object'))}: `
        : `${tells(form, 'labelled') ? codeName(only) : show(only.address)}: `;
  // What has no column may say its place itself.
  const shown = places.filter((place) => !message.includes(`${place.file}:${place.line}`));
  const url = (place: { readonly file: string; readonly line: number }) =>
    tells(form, 'linked') && forge !== undefined ? fileUrl(forge, place) : undefined;
  const notes = [
    ...(others.length > 0 && tells(form, 'told') ? [firstFew(objects, codeName)] : []),
    ...(shown.length > 0 && tells(form, 'placed')
      ? [`at ${placeList(shown, morePlaces, (place, text) => link(text, url(place)))}`]
      : []),
  ];
  return `${subject}${prose(message)} (${show(code)})${notes.map((note) => ` — ${note}`).join('')}`;
}
