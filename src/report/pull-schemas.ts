import * as z from 'zod';
import { kindNames } from '../base/kind-names.js';
import { otherNames } from '../kinds/other-names.js';
import { problemSchema } from './schemas.js';

const text = (description: string) => z.string().describe(description);
const count = (description: string) => z.int().min(0).describe(description);

const version = z.literal(1).describe('The version of this format');
const server = text('The base URL of the server');
const profile = text('The profile that the server was read with');
const address = text('What names the object, such as `Organization/acme`');

/** `pull --format json`. */
export const pullSchema = z
  .strictObject({
    format_version: version,
    server,
    profile,
    check: z.boolean().describe('Whether nothing was written, since only `--check` was asked'),
    summary: z
      .strictObject({
        added: count('Objects that get a document'),
        updated: count('Documents that are changed'),
        unchanged: count('Documents that say what the server has already'),
        left: count("What can't be brought into the files; `left` lists it"),
      })
      .describe('How many there are of each'),
    files: z
      .array(
        z.strictObject({
          path: text('The file, relative to the project; with `--out` to the working directory'),
          action: z.enum(['write', 'update', 'unchanged']).describe('What becomes of it, or would'),
        }),
      )
      .describe('Manifests and bodies'),
    to_set: z
      .array(
        z.strictObject({
          name: text('The process variable, to be set before the next plan'),
          address,
          path: text('Where in the object the secret stands'),
        }),
      )
      .describe('The variables that stand in the place of secrets'),
    left_out: z
      .array(z.strictObject({ address, reason: text('Why no document can say it') }))
      .describe('What of new objects stays unmanaged'),
    left: z
      .array(
        z.strictObject({
          code: text('A stable code with an entry in the documentation'),
          message: text("What stays as it is, or was asked for and isn't there, and why"),
          hint: z.string().nullable().describe('What to do'),
          place: z
            .strictObject({
              file: text('The file, relative to the project'),
              line: z.int().min(1).describe('The line, from 1'),
            })
            .nullable()
            .describe('Where it stands; null where it stands nowhere'),
        }),
      )
      .describe("What differs from the server and stays as it is, and ids that the server doesn't show"),
  })
  .describe('What a pull came to');

const identity = {
  id: text('Its id; an email template has none').optional(),
  backend_id: text('The id of the backend of an email template').optional(),
  type: text('The type of an email template').optional(),
};

const declaredAt = z.strictObject({
  file: text('The file, relative to the project'),
  line: z.int().min(1).describe('The line of the first key'),
});

/** `list --format json`. */
export const listSchema = z
  .strictObject({
    format_version: version,
    server,
    profile,
    objects: z
      .array(
        z.strictObject({
          kind: z.enum(kindNames).describe('The kind of the object'),
          address,
          ...identity,
          name: z.string().nullable().describe('What people call it; null where nothing does'),
          remark: z
            .string()
            .nullable()
            .describe('What else is worth a word, such as `the default`; null where nothing is'),
          declared_at: declaredAt
            .optional()
            .describe('Where a manifest declares it; left out where none is known to'),
        }),
      )
      .describe('In the order of kinds and ids'),
    lacking: z
      .array(
        z.strictObject({
          kind: z.enum(kindNames).describe('The kind of the object'),
          address,
          ...identity,
          name: text('The name of an organization').optional(),
          declared_at: declaredAt.describe('Where a manifest declares it'),
        }),
      )
      .optional()
      .describe(
        "Declared objects that the server doesn't have, as far as it can be asked for them; left out where there are none",
      ),
    others: z
      .array(
        z.strictObject({
          kind: z.enum(otherNames).describe('What it is'),
          id: text('Its id'),
          name: z.string().nullable().describe('Its name; null where it has none'),
          label: z.string().nullable().describe('What describes a scope; null where nothing does'),
        }),
      )
      .optional()
      .describe(
        'What objects refer to or belong to, and no manifest declares; left out where the server lists none',
      ),
    problems: z
      .array(problemSchema)
      .optional()
      .describe(
        'The errors of manifests, which may keep it from being known that an object is declared; left out where there are none',
      ),
  })
  .describe('What a server has, as far as its profile can read it');

export type PullJson = z.infer<typeof pullSchema>;
export type ListJson = z.infer<typeof listSchema>;
