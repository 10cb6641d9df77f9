import * as z from 'zod';
import { optional } from '../base/members.js';
import type { ProfileTraits } from './traits.js';

/**
 * A text that lies in a file beside the manifest. The loader replaces it by the file's content, after
 * it has checked that the file lies inside the project.
 */
export class FileReference {
  readonly file: string;

  constructor(file: string) {
    this.file = file;
  }
}

/** An id, where an example of one is needed. */
export const UUID = '5f0c1a9e-2f5d-4a58-9a51-6b1f8a1d7c11';

const fileReference = z.strictObject({
  file: z
    .string()
    .min(1)
    .meta({
      description:
        'A file with the text, relative to this one, inside the project. It is taken to the byte, as UTF-8.',
      examples: ['emails/reset_password.txt'],
    }),
});

/** Any string field: the text itself, or `{file: PATH}`. */
export function text() {
  return z.union([z.string(), fileReference.transform(({ file }) => new FileReference(file))], {
    error: 'expected a string or {file: PATH}',
  });
}

/** A string that names something in a path of the API, so it can't be empty or a path step of its own. */
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

/** Any JSON, for the fields whose structure the API doesn't show. */
export const anyObject = z.record(z.string(), z.unknown());

/** What a JSON Schema says of members that a check of idops' own looks at together. */
type Together = { readonly [keyword: string]: unknown };

/** For an editor: at least one of these members has to be there. */
export const idOrName: Together = { anyOf: [{ required: ['id'] }, { required: ['name'] }] };

/** For an editor: no two elements are alike. */
export const noneTwice: Together = { uniqueItems: true };

/** The parts that every kind of document shares; `about` says what one is, `together` what holds of its members. */
export function document<K extends string, S extends z.ZodRawShape>(
  kind: K,
  about: string,
  shape: S,
  together: Together = {},
) {
  return z
    .strictObject({ kind: z.literal(kind).meta({ description: about }), ...shape })
    .meta({ description: about, ...together });
}

/** The directive of a kind that accepts that servers of some profile ignore a field. */
export function ignorable(traits: ProfileTraits) {
  const names = [...new Set(Object.values(traits).flatMap(({ ignored = [] }) => ignored))];
  return z
    .array(z.enum(names))
    .optional()
    .meta({
      description:
        'Which of these fields may be declared although the server ignores them: they stay as they are there.',
      examples: [names.slice(-1)],
      default: [],
    });
}

/** The id of an organization that is referred to. */
export const organizationId = identifier()
  .optional()
  .meta({ description: 'The id of the organization; without it, the name finds it.', examples: [UUID] });

const roleScope = z.strictObject({
  id: optional(text(), 'The id of the scope.', UUID),
  name: optional(text(), 'The name of the scope.', 'billing:read'),
  public: optional(z.boolean(), 'Whether any client may ask for the scope.', false),
});

/** A role, as an organization of a user or a backend carries it. */
export const role = z.strictObject({
  id: optional(
    text(),
    'The id of the role. Servers go by it alone; the boruta profile looks it up by the name where it is left out.',
    UUID,
  ),
  name: optional(text(), 'The name of the role.', 'billing-admin'),
  scopes: optional(z.array(roleScope), 'The scopes that the role grants.', [
    { id: UUID, name: 'billing:read' },
  ]),
});

export const roles = z.array(
  role.refine((it) => it.id !== undefined || it.name !== undefined, 'needs an id or a name').meta(idOrName),
);
