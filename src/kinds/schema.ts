import { z } from 'zod';

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

const fileReference = z.strictObject({ file: z.string().min(1) });

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

/** The parts that every kind of document shares. */
export function document<K extends string, S extends z.ZodRawShape>(kind: K, shape: S) {
  return z.strictObject({ kind: z.literal(kind), ...shape });
}

const roleScope = z.strictObject({
  id: text().optional(),
  name: text().optional(),
  public: z.boolean().optional(),
});

/** A role, as an organization of a user or a backend carries it. */
export const role = z.strictObject({
  id: text().optional(),
  name: text().optional(),
  scopes: z.array(roleScope).optional(),
});

export const roles = z.array(
  role.refine((it) => it.id !== undefined || it.name !== undefined, 'needs an id or a name'),
);
