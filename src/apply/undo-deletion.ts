import { type Fields, holdsSensitive, isMap, mapValues } from '../base/values.js';
import { addressOf, kindOf } from '../kinds/index.js';
import type { Declared, Kind } from '../kinds/kind.js';
import { unrecordedField } from '../kinds/lifecycle.js';
import { placeholderDocument } from '../plan/subjects.js';
import type { Entry } from './journal-entries.js';

export const SECRET_BEFORE = 'the old value was a secret, which no journal holds';

/** Something that an undo leaves as it is, and why. */
export interface Left {
  /** What names the object, such as `Organization/acme`. */
  readonly address: string;
  /** Its name, if it is known and the address doesn't say it. */
  readonly label?: string;
  /** The field; null if it is about the whole object. */
  readonly path: string | null;
  /** Why it is left, in one sentence without a full stop. */
  readonly reason: string;
}

/** A document without what an undo leaves as it is. */
export interface Adjusted {
  readonly document: Declared;
  readonly left: readonly Left[];
}

/** A document that creates a deleted object again, if that can be done, and what doesn't come back. */
interface Recreated {
  readonly document: Declared | undefined;
  readonly left: readonly { readonly path: string | null; readonly reason: string }[];
}

/** Members that the run deleted, too, by name alone: they get other ids. */
function withoutDeletedIds(fields: Fields, deleted: ReadonlySet<string>): Fields {
  return mapValues(fields, (value) =>
    Array.isArray(value)
      ? value.map((one) => {
          if (!isMap(one) || typeof one.id !== 'string' || !deleted.has(one.id)) return one;
          const { id: _, ...rest } = one;
          return rest;
        })
      : value,
  );
}

/** A document that creates a deleted object again, and what doesn't come back. */
export function recreate(
  sending: Entry['sending'],
  kind: Kind,
  given: Fields,
  deleted: ReadonlySet<string>,
  source: string,
): Recreated {
  const { noun, creation, deletion, fields: types } = kind;
  const { id = '' } = sending.identity;
  const before = withoutDeletedIds(given, deleted);
  const unjournalled = unrecordedField(kind);
  if (unjournalled !== undefined) {
    const reason = `the ${noun} isn't created again, since no journal holds the ${unjournalled}: declare it with "create: true"`;
    return { document: undefined, left: [{ path: null, reason }] };
  }
  const restored: Fields = deletion?.fieldsToRestore(before) ?? {};
  const restorable = Object.entries(restored).filter(([field]) => types[field] !== undefined);
  const secret = restorable.filter(([, was]) => holdsSensitive(was)).map(([path]) => path);
  const fields = Object.fromEntries(
    restorable.filter(([path, was]) => was !== null && !secret.includes(path)),
  );
  const keepsId = creation?.acceptsId === true && creation.idRefusal === undefined;
  const name = typeof fields.name === 'string' ? { name: fields.name } : {};
  const identity = keepsId ? { id, ...name } : { ...sending.identity, id: undefined, ...name };
  const parts = Object.entries(identity).flatMap(([part, text]) =>
    text === undefined ? [] : [[part, text] as const],
  );
  return {
    document: placeholderDocument(
      sending.kind,
      Object.fromEntries(parts),
      { fields, creates: true, remembered: true, ...(keepsId ? {} : { replaces: id }) },
      source,
    ),
    left: [
      {
        path: null,
        reason: `the ${noun} is created again${keepsId ? '' : ', with a new id'}; objects outside this plan that had it stay without it`,
      },
      ...secret.map((path) => ({ path, reason: SECRET_BEFORE })),
    ],
  };
}

/** What is left if somebody has created a deleted object again: it stays as it is. */
export function alreadyRecreated(document: Declared, now: Fields): Adjusted {
  const { kind, identity } = document;
  const address = addressOf(kind, identity);
  // The one with its id stays deleted.
  const hasOtherId = identity.id !== undefined && now.id !== undefined && now.id !== identity.id;
  return {
    document: { ...document, fields: {}, ...(hasOtherId ? { absent: true } : {}) },
    left: [{ address, path: null, reason: 'somebody has created it again' }],
  };
}

/** Whether the object that a run created is known by its id, if servers choose it. */
export function hasKnownId({ kind, identity }: Declared): boolean {
  const { creation } = kindOf(kind);
  return creation === undefined || creation.acceptsId || identity.id !== undefined;
}

/** What is left if the run may not have created the object that is there now. */
export function unknownCreator(document: Declared): Adjusted {
  const address = addressOf(document.kind, document.identity);
  const reason =
    "it isn't deleted, since the run didn't learn whether it created it: somebody else may have created it";
  return { document: { ...document, absent: false }, left: [{ address, path: null, reason }] };
}
