import * as z from 'zod';
import { statuses } from '../apply/result.js';
import type { Json } from '../base/values.js';
import { kinds } from '../kinds/index.js';
import { shares } from '../plan/plan.js';

const text = (description: string, ...examples: string[]) =>
  z.string().meta(described(description, ...examples));
function described(
  description: string,
  ...examples: unknown[]
): { description: string; examples?: unknown[] } {
  return examples.length === 0 ? { description } : { description, examples };
}

const count = (description: string) => z.int().min(0).describe(description);

const label = z
  .string()
  .optional()
  .describe('The name of the object, or of what it belongs to; left out if unknown or in the address');

const action = z
  .enum(['update', 'delete', 'regenerate', 'adopt', 'blocked', 'unchanged'])
  .describe('What to do. adopt: record it, send nothing. blocked: it cannot be applied as things are');

const place = z.strictObject({
  file: text('The file, relative to the project'),
  line: z.int().min(1).describe('The line, from 1'),
  column: z.int().min(1).optional().describe('The column, from 1'),
});

const morePlaces = z.int().min(1).optional().describe('The number of further places, which are not listed');

const warning = z
  .strictObject({
    code: text('A stable code'),
    message: text('What a reviewer should know'),
    place: place.optional().describe('Its place, unless it is the declaration; the first of several'),
    places: z.array(place).optional().describe('All its places, if there are several'),
    more_places: morePlaces,
  })
  .describe('Something a reviewer should know; it stops nothing');

/** Any JSON: numbers keep their spelling. */
const anyJson = z.unknown() as z.ZodType<Json>;

const side = (description: string) =>
  z
    .union([
      z.strictObject({ unknown: z.literal(true).describe('The value is unknown') }),
      z.strictObject({ sensitive: z.literal(true).describe('It is a secret') }),
      anyJson,
    ])
    .describe(description);

const request = z.strictObject({
  method: z.enum(['PATCH', 'POST', 'DELETE']).describe('The method of the request'),
  path: text('The path under the base URL, its parameters percent-encoded'),
});

const field = z.strictObject({
  path: text('The field, or the part of a field, that differs'),
  before: side('The present value; {"unknown": true} if unknown, {"sensitive": true} for a secret'),
  after: side('The new value; {"unknown": true} if the server has its own, {"sensitive": true} for a secret'),
  sensitive: z.boolean().describe('Whether the values are held back'),
  becomes: z
    .enum(['built-in', 'gone', 'removed'])
    .optional()
    .describe(
      "Of a deleted object: gone, or built-in if the server's own text takes its place. Of a key of a map: removed",
    ),
  places: z.array(place).optional().describe('Where it is declared, if several documents declare the object'),
  was: z.literal('absent').optional().describe("Of a key of a map: that it wasn't there before"),
  confirmed: z.literal(true).optional().describe('In a stored plan: the server confirmed the names in it'),
  drift: z
    .strictObject({
      recorded: z
        .union([z.strictObject({ sensitive: z.literal(true).describe('It is a secret') }), anyJson])
        .describe('What the server had then; {"sensitive": true} for a secret'),
      run: z.string().nullable().describe('The run that left it so; null if idops only read it'),
      declared: z
        .enum(['changed', 'nowhere'])
        .optional()
        .describe('changed: the manifest changed too. nowhere: no manifest declares this key, so it stays'),
    })
    .optional()
    .describe('There if the server was changed since idops last knew it'),
});

const change = z.strictObject({
  address: text('What names the object, such as Organization/acme'),
  label,
  kind: z.enum(kinds.map(({ name }) => name)).describe('The kind of the object'),
  action,
  observed: z.enum(['live', 'recorded', 'unknown']).describe('Where the present value came from'),
  recorded_at: z.string().optional().describe('When the record was made that the object was compared with'),
  destructive: z.boolean().describe('Whether something would be lost'),
  destructions: z.array(z.string()).describe('What would be lost, a sentence each'),
  privileged: z.boolean().default(false).describe('Whether it gives what safety.privileged names'),
  privileges: z.array(z.string()).optional().describe('The privileged scopes and roles, a sentence each'),
  requests: z.array(request).describe('What apply would send, in this order'),
  fields: z.array(field).describe('The differences'),
  warnings: z.array(warning).describe('What a reviewer should know about it'),
  reason: z.string().nullable().describe('Why it is blocked, and what to do'),
  declared_at: z
    .strictObject({
      file: text('The file, relative to the project'),
      line: z.int().min(1).describe('The line of the first key'),
    })
    .nullable()
    .describe('Where the manifest declares it'),
});

const shard = z
  .strictObject({
    index: z.int().min(1).meta(described('Which part, from 1', 2)),
    count: z.int().min(1).meta(described('How many parts there are', 4)),
  })
  .optional()
  .describe('The shard that --shard selects; left out without it');

const RUN = '20260131T120000Z-4f2a1c';

export const planSchema = z
  .strictObject({
    format_version: z.literal(1).describe('The version of this format'),
    tool_version: text('The version of idops that made the plan', '0.1.0'),
    created_at: text('When the plan was made, ISO 8601 in UTC', '2026-01-31T12:00:00.000Z'),
    server: text('The base URL of the server', 'https://id.example.com'),
    profile: text('The server profile', 'documented'),
    environment: z.string().nullable().meta(described('The chosen environment', 'production')),
    shard,
    now: z.string().optional().describe('The instant of --now, which decides which access has ended'),
    holds_until: z.string().optional().describe('The first end of access; the plan is stale from then on'),
    partial: z.literal(true).optional().describe('There if --target, --kind or --shard leave objects out'),
    summary: z
      .strictObject({
        update: count('Objects to update'),
        delete: count('Objects to delete'),
        regenerate: count('DIDs to regenerate'),
        adopt: count('Objects to record, without a request'),
        blocked: count('Objects whose declaration cannot be applied'),
        unchanged: count('Objects that are already as declared'),
        privileged: z.int().min(1).optional().describe('Privileged changes; left out if there are none'),
        drift: z.int().min(1).optional().describe('Objects with drift; left out if there are none'),
      })
      .describe('How many objects there are of each action'),
    required_scopes: z
      .array(z.string())
      .meta(described('The scopes that observing and applying need together', ['users:manage:all'])),
    only: z.enum(shares).optional().describe('The changes that --only lists'),
    left_out: z
      .partialRecord(action, z.int().min(1))
      .optional()
      .describe('How many changes --only leaves out, by action'),
    changes: z
      .array(change)
      .describe('Privileged ones first, then in the order of apply; unchanged only with --debug or drift'),
    warnings: z.array(warning).describe('What a reviewer should know about the whole'),
    digest: text('sha256 over what would be sent, in a normal form', `sha256:${'5f'.repeat(32)}`),
  })
  .describe('What idops would do to a server');

export const resultSchema = z
  .strictObject({
    format_version: z.literal(1).describe('The version of this format'),
    run: z.string().nullable().meta(described('The name of the run; null if there was nothing to do', RUN)),
    shard,
    undoes: z.string().optional().meta(described('The run that was undone; only after an undo', RUN)),
    summary: z
      .strictObject({
        applied: count('Done, and shown by the server'),
        failed: count('Refused by the server, or the server was not reached'),
        not_converged: count('Answered well, and the server keeps another value'),
        unknown: count('Sent; the outcome is unknown'),
        skipped: count('Not sent, because of something before it'),
      })
      .describe('How many changes ended in each way'),
    results: z
      .array(
        z.strictObject({
          address: text('What names the object, such as Organization/acme'),
          label,
          action,
          status: z.enum(statuses).describe('What became of it, in the words of the summary'),
          http_status: z.int().nullable().describe('The status of the last answer; null if there was none'),
          attempts: count('How many times a request was sent'),
          unverified: z.array(z.string()).describe('Sent fields that the answer did not carry'),
          error: z.string().nullable().describe('What went wrong'),
          notes: z.array(z.string()).optional().describe('Worth knowing although it was applied'),
          did: z.string().optional().meta(described('The new DID, after a regeneration', 'did:key:z6Mk…')),
        }),
      )
      .describe('What became of each change, in the order of the plan'),
  })
  .describe('What one run of apply did');

export type PlanJson = z.infer<typeof planSchema>;
export type ChangeJson = z.infer<typeof change>;
export type FieldJson = z.infer<typeof field>;
export type WarningJson = z.infer<typeof warning>;
export type PlaceJson = z.infer<typeof place>;
export type ResultJson = z.infer<typeof resultSchema>;
