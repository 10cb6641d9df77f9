import { type Fields, holdsSensitive, isMap, mapValues } from '../base/values.js';
import { addressOf, kindOf } from '../kinds/index.js';
import type { Declared, Kind } from '../kinds/kind.js';
import { unrecordedField } from '../kinds/lifecycle.js';
import { placeholderDocument } from '../plan/subjects.js';
import type { Entry } from './journal-entries.js';

export const SECRET_BEFORE = 'the old value was a secret, and journals do not store secrets';

/** Something that an undo doesn't change, and why. */
export interface Left {
  /** The address of the object, such as `Organization/acme`. */
  readonly address: string;
  /** Its name, if it is known and the address doesn't contain it. */
  readonly label?: string;
  /** The field; null for the whole object. */
  readonly path: string | null;
  /** The reason, in one sentence without a full stop. */
  readonly reason: string;
}

/** The same without the object. */
export type LeftField = Omit<Left, 'address'>;

/** The document to apply, and what is left out of it. */
export interface Adjusted {
  readonly document: Declared;
  readonly left: readonly Left[];
}

/** Fields without the ids of members that the run also deleted: they get new ids, so only names identify them. */
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

/** A document that creates a deleted object again, if that is possible, and what isn't restored. */
export function recreate(
  sending: Entry['sending'],
  kind: Kind,
  given: Fields,
  deleted: ReadonlySet<string>,
  source: string,
): { document: Declared | undefined; left: readonly LeftField[] } {
  const { noun, creation, deletion, fields: types } = kind;
  const { id = '' } = sending.identity;
  const before = withoutDeletedIds(given, deleted);
  const unjournalled = unrecordedField(kind);
  if (unjournalled !== undefined) {
    const reason = `the ${noun} isn't created again, since journals do not store the ${unjournalled}: declare it with "create: true"`;
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
        reason: `the ${noun} is created again${keepsId ? '' : ', with a new id'}; objects outside this plan do not get it back`,
      },
      ...secret.map((path) => ({ path, reason: SECRET_BEFORE })),
    ],
  };
}

/** The undo of a deletion if somebody has created the object again: it isn't changed. */
export function alreadyRecreated(document: Declared, now: Fields): Adjusted {
  const { kind, identity } = document;
  const address = addressOf(kind, identity);
  // The object with the old id stays deleted.
  const hasOtherId = identity.id !== undefined && now.id !== undefined && now.id !== identity.id;
  return {
    document: { ...document, fields: {}, ...(hasOtherId ? { absent: true } : {}) },
    left: [{ address, path: null, reason: 'somebody has created it again' }],
  };
}

/** Whether a document deletes an object that the run may not have created: the server chooses ids, and its id is unknown. */
export function isMaybeNotCreated({ kind, identity, absent }: Declared): boolean {
  return absent && kindOf(kind).creation?.acceptsId === false && identity.id === undefined;
}

/** The undo of a creation if somebody else may have created the object: it isn't deleted. */
export function unknownCreator(document: Declared): Adjusted {
  const address = addressOf(document.kind, document.identity);
  const reason =
    "it isn't deleted, since the outcome of its creation is unknown: somebody else may have created it";
  return { document: { ...document, absent: false }, left: [{ address, path: null, reason }] };
}
