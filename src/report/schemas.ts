import * as z from 'zod';
import { statuses } from '../apply/result.js';
import type { Json } from '../base/values.js';
import { kinds } from '../kinds/index.js';
import { shares } from '../plan/plan.js';

const described = (description: string, example: unknown) => ({ description, examples: [example] });

const text = (description: string, example: string) => z.string().meta(described(description, example));

const count = (description: string, example: number) => z.int().min(0).meta(described(description, example));

const RUN = '20260131T120000Z-4f2a1c';

const label = z
  .string()
  .optional()
  .meta(described('The name of the object, if it is known and not in the address', 'ada@acme.example'));

const action = z
  .enum(['create', 'update', 'delete', 'regenerate', 'adopt', 'blocked', 'unchanged'])
  .describe('What to do; adopt records the object and sends nothing');

const place = z.strictObject({
  file: text('The file, relative to the project', 'manifests/users.yaml'),
  line: z.int().min(1).meta(described('The line, from 1', 3)),
  column: z.int().min(1).optional().meta(described('The column, from 1', 1)),
});

const morePlaces = z.int().min(1).optional().meta(described('How many more places there are', 12));

const warning = z
  .strictObject({
    code: text('The code', 'lost-placeholder'),
    message: text('The message', 'the new txt body lost {{ url }}, which the present one has'),
    place: place.optional().describe('The first place, if it is not the declaration'),
    places: z.array(place).optional().describe('All places, if there are several'),
    more_places: morePlaces,
  })
  .describe('A finding that stops nothing');

/** Any JSON value. Not parsed further, so that numbers keep their spelling. */
const anyJson = z.unknown() as z.ZodType<Json>;

const side = (description: string, example: string) =>
  z
    .union([
      z.strictObject({ unknown: z.literal(true).describe('The value is unknown') }),
      z.strictObject({ sensitive: z.literal(true).describe('The value is secret') }),
      anyJson,
    ])
    .meta(described(description, example));

const request = z.strictObject({
  method: z.enum(['PATCH', 'POST', 'DELETE']).describe('The method of the request'),
  path: text('The path under the base URL', '/api/organizations/5f0c1a9e-2f5d-4a58-9a51-6b1f8a1d7c11'),
});

const field = z.strictObject({
  path: text('The field, or its part, that differs', 'label'),
  before: side('The present value, {"unknown": true} or {"sensitive": true}', 'ACME Corp'),
  after: side('The new value, {"unknown": true} or {"sensitive": true}', 'ACME Corporation'),
  sensitive: z.boolean().describe('Whether the values are secret'),
  becomes: z
    .enum(['built-in', 'gone', 'removed'])
    .optional()
    .describe('gone, or built-in if the server then uses its own text; removed for a key of a map'),
  places: z.array(place).optional().describe('Where it is declared, if several documents declare the object'),
  was: z.literal('absent').optional().describe("The key didn't exist before"),
  confirmed: z.literal(true).optional().describe('In a stored plan: the server confirmed its names'),
  drift: z
    .strictObject({
      recorded: z
        .union([z.strictObject({ sensitive: z.literal(true).describe('The value is secret') }), anyJson])
        .meta(described('The value that idops last knew, or {"sensitive": true}', 'ACME Corp')),
      run: z.string().nullable().meta(described('The run that wrote it; null if idops only read it', RUN)),
      declared: z
        .enum(['changed', 'nowhere'])
        .optional()
        .describe('changed if the manifest changed too; nowhere if no manifest declares the key'),
    })
    .optional()
    .describe('Present if the server changed since idops last knew the value'),
});

const change = z.strictObject({
  address: text('The address of the object', 'Organization/acme'),
  label,
  kind: z.enum(kinds.map(({ name }) => name)).describe('The kind of the object'),
  action,
  observed: z.enum(['live', 'recorded', 'unknown']).describe('Where the present value comes from'),
  recorded_at: z
    .string()
    .optional()
    .meta(described('When the record was made, if observed is recorded', '2026-01-31T12:00:00.000Z')),
  destructive: z.boolean().describe('Whether the change is destructive'),
  destructions: z
    .array(z.string())
    .meta(described('What would be lost', ['removes the membership "globex"'])),
  privileged: z.boolean().default(false).describe('Whether the change is privileged'),
  privileges: z
    .array(z.string())
    .optional()
    .meta(described('The privileged scopes and roles', ['gives the scope "users:manage:all"'])),
  requests: z.array(request).describe('The requests, in order'),
  fields: z.array(field).describe('The differences'),
  warnings: z.array(warning).describe('Findings about this change'),
  reason: z
    .string()
    .nullable()
    .meta(
      described(
        'Why it is blocked, and what to do',
        'the server has no organization "acme": correct the name',
      ),
    ),
  declared_at: z
    .strictObject({
      file: text('The file, relative to the project', 'manifests/organizations.yaml'),
      line: z.int().min(1).meta(described('The line of the first key', 3)),
    })
    .nullable()
    .describe('Where it is declared'),
});

const shard = z
  .strictObject({
    index: z.int().min(1).meta(described('The number of the shard, from 1', 2)),
    count: z.int().min(1).meta(described('The number of shards', 4)),
  })
  .optional()
  .describe('The shard of --shard');

export const planSchema = z
  .strictObject({
    format_version: z.literal(1).describe('The version of this format'),
    tool_version: text('The version of idops', '0.1.0'),
    created_at: text('When the plan was made, in UTC', '2026-01-31T12:00:00.000Z'),
    server: text('The base URL of the server', 'https://id.example.com'),
    profile: text('The server profile', 'documented'),
    environment: z.string().nullable().meta(described('The chosen environment', 'production')),
    shard,
    now: z.string().optional().meta(described('The instant of --now', '2027-01-31T00:00:00.000Z')),
    holds_until: z
      .string()
      .optional()
      .meta(described('When the plan becomes stale because access ends', '2027-01-31T00:00:00.000Z')),
    partial: z.literal(true).optional().describe('Present if --target, --kind or --shard leave objects out'),
    summary: z
      .strictObject({
        create: z.int().min(1).optional().meta(described('Objects to create, if there are any', 1)),
        update: count('Objects to update', 1),
        delete: count('Objects to delete', 0),
        regenerate: count('Keys and DIDs to regenerate', 0),
        adopt: count('Objects to record without a request', 0),
        blocked: count('Blocked objects', 0),
        unchanged: count('Unchanged objects', 3),
        privileged: z.int().min(1).optional().meta(described('Privileged changes, if there are any', 1)),
        drift: z.int().min(1).optional().meta(described('Objects with drift, if there are any', 1)),
      })
      .describe('The number of objects by action'),
    required_scopes: z
      .array(z.string())
      .meta(described('The scopes that observing and applying need', ['users:manage:all'])),
    only: z.enum(shares).optional().describe('The value of --only'),
    left_out: z
      .partialRecord(action, z.int().min(1))
      .optional()
      .meta(described('The number of changes that --only leaves out, by action', { update: 2 })),
    changes: z
      .array(change)
      .describe(
        'Privileged changes first, then in the order of apply; unchanged ones only with --debug or drift',
      ),
    warnings: z.array(warning).describe('Findings about the whole plan'),
    digest: text('A hash of what would be sent', `sha256:${'5f'.repeat(32)}`),
    apply: z.looseObject({}).optional().describe('In a stored plan: what apply needs, which is internal'),
  })
  .describe('What idops would change on a server');

export const resultSchema = z
  .strictObject({
    format_version: z.literal(1).describe('The version of this format'),
    run: z.string().nullable().meta(described('The name of the run; null if there was nothing to do', RUN)),
    shard,
    undoes: z.string().optional().meta(described('The run that was undone, after an undo', RUN)),
    summary: z
      .strictObject({
        applied: count('Done and confirmed', 1),
        failed: count('Refused, or the server was not reached', 0),
        not_converged: count('Accepted, but the server keeps another value', 0),
        unknown: count('Sent, with an unknown outcome', 0),
        skipped: count('Not sent', 0),
      })
      .describe('The number of changes by status'),
    results: z
      .array(
        z.strictObject({
          address: text('The address of the object', 'Organization/acme'),
          label,
          action,
          status: z.enum(statuses).describe('The outcome, as in the summary'),
          http_status: z
            .int()
            .nullable()
            .meta(described('The status of the last response; null if there was none', 200)),
          attempts: count('How often requests were sent', 1),
          unverified: z
            .array(z.string())
            .meta(described('Sent fields that the response did not contain', ['smtp_password'])),
          error: z.string().nullable().meta(described('What went wrong', 'the server refused the request')),
          notes: z
            .array(z.string())
            .optional()
            .meta(described('Notes about an applied change', ['the server took the default away'])),
          did: z.string().optional().meta(described('The new DID, after a regeneration', 'did:key:z6Mk…')),
        }),
      )
      .describe('The outcome of each change, in the order of the plan'),
  })
  .describe('What one run of apply did');

export type PlanJson = z.infer<typeof planSchema>;
export type ChangeJson = z.infer<typeof change>;
export type FieldJson = z.infer<typeof field>;
export type WarningJson = z.infer<typeof warning>;
export type PlaceJson = z.infer<typeof place>;
export type ResultJson = z.infer<typeof resultSchema>;
