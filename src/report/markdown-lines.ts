import { firstFew } from '../base/words.js';
import { type Action, type FieldChange, isPrivileged } from '../plan/plan.js';
import { driftNote } from './drift.js';
import { type Fold, foldCount, foldedNames, foldPlace } from './fold.js';
import { code, codeName, prose } from './markdown-escape.js';
import { type Forge, fileUrl } from './render-options.js';
import { isDestructive, isHighRisk, shortValue } from './review.js';
import type { WarningGroup } from './warnings.js';
import { placeList, plural } from './words.js';

/** The short form of a change: its action, its name, and whether it is privileged or destructive. */
export function changeName(fold: Fold): string {
  const { change, changes } = fold;
  const name = changes.length === 1 ? code(change.address) : foldCount(fold);
  const notes = [
    ...(isPrivileged(change) ? ['**privileged**'] : []),
    ...(isDestructive(change) ? ['**destructive**'] : []),
    ...(isHighRisk(change) && changes.length > 1 ? [objectNames(fold, false)] : []),
  ];
  return `**${change.action}** ${name}${notes.map((note) => ` — ${note}`).join('')}`;
}

/** A change on one line, with what a reviewer must know and where it is declared. */
export function changeLine(fold: Fold, forge: Forge | undefined): string {
  const { change, changes } = fold;
  const { action, fields, destructions, privileges = [], reason, warnings, declaredAt } = change;
  const place = foldPlace(fold);
  const value = shortValue(change);
  const drift = driftNote(change);
  const notes = [
    ...(drift === null ? [] : [prose(drift)]),
    ...(privileges.length > 0 ? [`**privileged:** ${privileges.map(prose).join('; ')}`] : []),
    ...(destructions.length > 0 ? [`**destructive:** ${destructions.map(prose).join('; ')}`] : []),
    ...(reason === null ? [] : [prose(reason)]),
    ...(warnings.length > 0 ? [`⚠️ ${plural(warnings.length, 'warning')}`] : []),
    // Privileged and destructive changes name every object.
    ...(changes.length > 1 ? [objectNames(fold, isHighRisk(change))] : []),
    ...(declaredAt === null || place === null ? [] : [placeLink(declaredAt, place, forge)]),
  ];
  const what =
    value === undefined
      ? fieldNames(action, fields)
      : `: ${code(value.path)} ${code(value.before)} → ${code(value.after)}`;
  const name = changes.length === 1 ? codeName(change) : `**${foldCount(fold)}**`;
  return `**${action}** ${name}${what}${notes.map((note) => ` — ${note}`).join('')}`;
}

function objectNames(fold: Fold, all: boolean): string {
  return foldedNames(fold, all, { name: codeName, text: code, json: code('--format json') });
}

function placeLink(
  place: { readonly file: string; readonly line: number },
  text: string,
  forge: Forge | undefined,
): string {
  const url = forge === undefined ? undefined : fileUrl(forge, place);
  return url === undefined ? code(text) : `[${code(text)}](${url})`;
}

function fieldNames(action: Action, fields: readonly FieldChange[]): string {
  return action === 'delete' || fields.length === 0
    ? ''
    : `: ${firstFew(fields.map(({ path }) => code(path)))}`;
}

export function warningLine(group: WarningGroup, forge: Forge | undefined): string {
  const { message, objects, places, morePlaces } = group;
  const [only, ...others] = objects;
  const one = only === undefined ? '' : `${codeName(only)}: `;
  const subject = others.length > 0 ? `**${plural(objects.length, 'object')}**: ` : one;
  // The message of a warning without a column may contain the place.
  const shown = places.filter((place) => !message.includes(`${place.file}:${place.line}`));
  const notes = [
    ...(others.length > 0 ? [firstFew(objects.map(codeName))] : []),
    ...(shown.length > 0
      ? [`at ${placeList(shown, morePlaces, (place, text) => placeLink(place, text, forge))}`]
      : []),
  ];
  return `${subject}${prose(message)} (${code(group.code)})${notes.map((note) => ` — ${note}`).join('')}`;
}
