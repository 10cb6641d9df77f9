import { error, type Place, type Problem } from '../base/problems.js';
import type { Fields } from '../base/values.js';
import { firstFew, withArticle } from '../base/words.js';
import type { WriteOperation } from '../server/operations.js';
import type { Profile } from '../server/profiles.js';
import { idOf } from './by-name.js';
import { firstNonBlank } from './fields.js';
import type { Creation, Declared, Deletion, Kind } from './kind.js';
import { type ListName, nounOf, type References } from './references.js';

/** How objects are created by a request with the declared fields. */
export interface CreationOptions extends Omit<Creation, 'request' | 'prepare'> {
  /** The fields as the request has them. */
  readonly body?: (fields: Fields) => Fields;
  /** Why the server would refuse to create an object. */
  readonly refusal?: (fields: Fields) => string | undefined;
}

/** The creation of objects by a request with the declared fields, and with the id if the server takes it. */
export function creationOf(operation: WriteOperation, creating: CreationOptions): Creation {
  const { body = (fields) => fields, refusal, ...rest } = creating;
  return {
    ...rest,
    prepare(_, fields) {
      const reason = refusal?.(fields);
      return reason === undefined ? { fields } : { fields, reason };
    },
    request: ({ id }, fields) => ({
      operation,
      params: {},
      body: rest.acceptsId && id !== undefined ? { id, ...body(fields) } : body(fields),
    }),
  };
}

/** A field that a creation needs and no journal contains, so an undo can't create the object again; undefined if there is none. */
export function unrecordedField({ creation }: Pick<Kind, 'creation'>): string | undefined {
  return creation?.required.flat().find((field) => creation.createOnly?.includes(field));
}

/** A deletion after which the object doesn't exist. */
export function deletionOf(operation: WriteOperation, param: string, sentence: string): Deletion {
  return {
    prunesOnlyCreated: true,
    verdict: ({ id = '' }) => ({
      action: 'delete',
      requests: [{ operation, params: { [param]: id } }],
      destructions: [sentence],
    }),
    exists: ({ exists }) => exists,
    isBuiltIn: () => false,
    fingerprint: () => [],
    fieldsToRestore: ({ id: _, ...fields }) => fields,
  };
}

/** The problem of something that only Boruta has. */
export function onlyBoruta(message: string, place: Place): Problem {
  const hint = 'if the server is a Boruta, set "profile: boruta" under server; otherwise remove it';
  return error('profile-field', message, [place], hint);
}

/** The problem of a document that creates or deletes an object, if the profile's servers can't. */
export function unsupportedLifecycle(declared: Declared, noun: string, profile: Profile): Problem[] {
  const { creates, absent } = declared;
  if (profile.creates || (creates !== true && !absent)) return [];
  const [what, field] = absent ? ['deletes', 'state'] : ['creates', 'create'];
  const message = `a server of the profile ${profile.name} has no operation that ${what} ${withArticle(noun)}`;
  return [onlyBoruta(message, declared.places.of(field))];
}

/** The problem of a document that has `state: absent` and other fields. */
export function absentProblems(declared: Declared, noun: string, identifying: string[] = []): Problem[] {
  const { absent, fields } = declared;
  const others = Object.keys(fields).filter((field) => !identifying.includes(field));
  if (!absent || others.length === 0) return [];
  const message = `a ${noun} with "state: absent" has no other fields`;
  const places = others.map((field) => declared.places.of(field));
  const hint = `remove the fields to delete the ${noun}, or the state to keep it`;
  return [error('absent-with-fields', message, places, hint)];
}

/** Describes the objects that refer to an object and aren't deleted too: the first three of each kind. */
export function usesOf(
  usedBy: NonNullable<Kind['usedBy']>,
  id: string,
  references: References,
  isDeleted: (list: ListName, row: string) => boolean,
): string[] {
  return usedBy.flatMap(({ list, field }) => {
    const rows = [...(references[list]?.all() ?? [])].filter(
      (row) => idOf(row[field]) === id && !isDeleted(list, String(row.id)),
    );
    const names = rows.map((row) => firstNonBlank(row.username, row.name) ?? String(row.id));
    return names.length === 0 ? [] : [`${nounOf(list)}s use it: ${firstFew(names)}`];
  });
}

/** Why the server refuses a deletion; undefined if there is no reason. */
export function deletionRefusal(reasons: readonly string[]): string | undefined {
  return reasons.length === 0 ? undefined : `the server refuses to delete it, since ${reasons.join('; ')}`;
}
