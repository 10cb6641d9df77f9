import * as z from 'zod';
import { defaulted, optional } from '../base/members.js';
import type { ProfileTraits } from './traits.js';

/**
 * A text in a file. The loader checks that the file is inside the project, and replaces the reference with the content.
 */
export class FileReference {
  readonly file: string;

  constructor(file: string) {
    this.file = file;
  }
}

/** An example of an id. */
export const UUID = '5f0c1a9e-2f5d-4a58-9a51-6b1f8a1d7c11';

const fileReference = z.strictObject({
  file: z
    .string()
    .min(1)
    .meta({
      description:
        'The file, relative to the manifest and inside the project. Its bytes are used unchanged, as UTF-8.',
      examples: ['emails/reset_password.txt'],
    }),
});

/** A string field: the text, or `{file: PATH}`. */
export function text() {
  return z.union([z.string(), fileReference.transform(({ file }) => new FileReference(file))], {
    error: 'expected a string or {file: PATH}',
  });
}

/** An id or name that can be part of an API path. */
export function identifier() {
  return z
    .string()
    .min(1, 'must not be empty')
    .max(512, 'must not be longer than 512 characters')
    .refine(
      (id) => !/^\.{1,2}$/.test(id) && id.isWellFormed() && !/\p{Cc}/u.test(id),
      'is not usable as an id',
    );
}

/** Any JSON object, for values that the API doesn't document. */
export const anyObject = z.record(z.string(), z.unknown());

/** JSON Schema keywords for rules that idops checks in code. */
type SchemaKeywords = { readonly [keyword: string]: unknown };

export const requireIdOrName: SchemaKeywords = { anyOf: [{ required: ['id'] }, { required: ['name'] }] };

/** An object that its id or its name identifies. */
export function identified<S extends z.ZodRawShape>(shape: S) {
  const object = z.strictObject(shape);
  const isIdentified = (it: unknown): boolean =>
    ['id', 'name'].some((member) => Object(it)[member] !== undefined);
  return object.refine(isIdentified, 'needs an "id" or a "name"').meta(requireIdOrName);
}

export const uniqueItems: SchemaKeywords = { uniqueItems: true };

/** An instant as RFC 3339 allows it: with `t` and `z` in any letter case. */
const instant = z
  .string()
  .regex(new RegExp(z.regexes.datetime({ offset: true }).source.replace('T', '[Tt]').replace('Z', '[Zz]')))
  .meta({ format: 'date-time' });

/** When access ends. */
export function until() {
  return optional(
    z.union([z.iso.date(), instant], {
      error: 'expected a day such as 2027-01-31, or a date-time such as 2027-01-31T12:00:00Z',
    }),
    'When the access ends: a day (00:00 UTC) or an instant.',
    '2027-01-31',
  );
}

/** The schema of a document; `about` describes the kind, `together` has further keywords. */
export function document<K extends string, S extends z.ZodRawShape>(
  kind: K,
  about: string,
  shape: S,
  together: SchemaKeywords = {},
) {
  return z
    .strictObject({ kind: z.literal(kind).meta({ description: about }), ...shape })
    .meta({ description: about, ...together });
}

/** The directive `ignored`. */
export function ignorable(traits: ProfileTraits) {
  const names = [...new Set(Object.values(traits).flatMap(({ ignored = [] }) => ignored))];
  const about = 'Declared fields that the server may ignore.';
  return defaulted(z.array(z.enum(names)), [], about, names.slice(-1));
}

export const organizationId = optional(
  identifier(),
  'The id of the organization. If left out, the name identifies it.',
  UUID,
);

const roleScope = z.strictObject({
  id: optional(text(), 'The id of the scope.', UUID),
  name: optional(text(), 'The name of the scope.', 'billing:read'),
  public: optional(z.boolean(), 'Whether any client may ask for the scope.', false),
});

/** A role of a membership or a backend. */
export const role = z.strictObject({
  id: optional(text(), 'The id of the role. Under boruta, the name can replace it.', UUID),
  name: optional(text(), 'The name of the role.', 'billing-admin'),
  scopes: optional(z.array(roleScope), 'The scopes that the role grants.', [
    { id: UUID, name: 'billing:read' },
  ]),
});

export const ownRole = identified({ ...role.shape, until: until() });

export const roles = z.array(identified(role.shape));

/** The message about an `until` if nothing is added. */
export const NOT_ADDED = 'ends an access that is added, and nothing is added here: leave it out';

/** A set: a list is the whole set; `add` and `remove` name members and leave all others alone. */
export function setOf<T extends z.ZodType>(element: T, what: string, example: z.input<T>) {
  const list = z.array(element);
  return z
    .union(
      [
        list.meta(uniqueItems),
        z.strictObject({
          add: list
            .optional()
            .meta({ description: `The ${what} to have.`, examples: [[example]], ...uniqueItems }),
          remove: list
            .superRefine((members, { addIssue }) => {
              for (const [at, member] of members.entries()) {
                if ((Object(member) as { until?: unknown }).until !== undefined)
                  addIssue({ code: 'custom', path: [at, 'until'], message: NOT_ADDED });
              }
            })
            .optional()
            .meta({ description: `The ${what} not to have.`, examples: [[example]], ...uniqueItems }),
        }),
      ],
      { error: `expected a list of ${what}, or {add: […], remove: […]}` },
    )
    .nullable()
    .optional();
}

/** An id if it is a UUID, otherwise a name; or an object with one of them. */
export function reference(what: string, example: string) {
  return z
    .union([
      identifier(),
      identified({
        id: optional(identifier(), `The id of the ${what}.`, UUID),
        name: optional(identifier(), `The name of the ${what}.`, example),
      }),
    ])
    .meta({ description: `The id or the name of the ${what}.`, examples: [example] });
}

/** A set of references to things by name or id, or `{add, remove}`. */
export function referenceSet(what: string, example: string) {
  return setOf(reference(what, example), `${what}s`, example);
}

/** What a document says about the existence of its object. */
export function lifecycle(noun: string) {
  return {
    create: optional(
      z.boolean(),
      `Whether to create the ${noun} if the server doesn't have it. Only under boruta.`,
      true,
    ),
    state: state(`absent: delete the ${noun}. Only under boruta.`),
  };
}

/** The directive `state`. */
export function state(description: string) {
  return defaulted(z.enum(['present', 'absent']), 'present', description, 'absent');
}

/** For editors: `state: absent` excludes these fields. */
export function noFieldsIfAbsent(fields: readonly string[]): SchemaKeywords {
  return {
    if: { properties: { state: { const: 'absent' } }, required: ['state'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: Object.fromEntries(fields.map((field) => [field, false])) },
  };
}
