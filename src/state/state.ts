import { randomBytes, randomUUID } from 'node:crypto';
import * as z from 'zod';
import { isPathParameter } from '../base/identifiers.js';
import { kindNames } from '../base/kind-names.js';
import { isMap, type Json } from '../base/values.js';

/**
 * A map of JSON in a file, handed on as it is: copying it member by member would lose one that is named `__proto__`,
 * and a number as it is written.
 */
export function jsonFields() {
  const fields = z.unknown().refine(isMap, 'expected a map').meta({ type: 'object' });
  return fields as unknown as z.ZodType<{ [field: string]: Json }>;
}

/** The newest format that this version reads and writes. */
export const STATE_FORMAT = 1;

const stored = z.strictObject({ fields: jsonFields(), hashes: z.record(z.string(), z.string()) });

/** What was seen to be lost, and how it looked then; or, where it could not be seen, what was there and what was asked. */
const owedSchema = z.union([
  z.strictObject({ run: z.string(), lost: stored, seen: stored }),
  z.strictObject({ run: z.string(), before: stored, asked: stored }),
]);

/** The path parameters of an object, and the name that an organization is found by. */
export const identitySchema = z
  .record(z.string(), z.string())
  .refine(
    (identity) => Object.entries(identity).every(([part, text]) => part === 'name' || isPathParameter(text)),
    'has an id that no path can carry',
  );

/** What is kept of an object. It changes nothing that it reads. */
export const recordSchema = z.strictObject({
  kind: z.enum(kindNames),
  /** The path parameters, since an address can't always be taken apart. */
  identity: identitySchema,
  recorded_at: z.iso.datetime(),
  /** The run that wrote the object; null if none did, and the server already had what was declared. */
  run: z.string().nullable(),
  /** The fields that the manifest mentioned when it was applied. */
  managed: z.array(z.string()),
  /** The last response to a write, and what was sent and not answered. */
  fields: jsonFields(),
  /** Hashes of the secrets among the fields, by JSON pointer. */
  hashes: z.record(z.string(), z.string()),
  /** The object as a server showed it last, so that what was changed there since can be told: after a run, or when it was read (null). */
  left: stored.extend({ run: z.string().nullable() }).optional(),
  /** What the object was called before, if manifests may still write that beside its id. */
  former_names: z.array(z.string()).optional(),
  /** Fields that were sent in a request whose outcome isn't known. */
  uncertain: z.array(z.string()).optional(),
  did_generation: z.int().min(0).optional(),
  /** The run that sent a regeneration whose outcome isn't known. */
  pending_regeneration: z.string().optional(),
  /** What an update that was cut off took away, to be put back. */
  owed: owedSchema.optional(),
  /** The profile whose server an answer about it gave away, where that was another one than was worked with, and the run. */
  other_profile: z.strictObject({ profile: z.string(), run: z.string() }).optional(),
  /** The hash of what the server answered to the last DELETE. */
  deleted: z.string().optional(),
});

/** What is known of the runs of one shard. */
const partSchema = z.strictObject({
  /** The journal of a run that is under way, or that was killed. */
  open_run: z.string().optional(),
  /** The newest journal that is all in here. */
  last_run: z.string().optional(),
  /** Journals of other runs that are all in here, and that this shard still has to give their end. */
  to_end: z.array(z.string()).optional(),
});

const shardsSchema = z.strictObject({
  count: z.int().min(2),
  /** The run that shards take part in now, and what tells it from others. */
  run: z.string().optional(),
  key: z.string().optional(),
  /** By the number of the shard. */
  parts: z.record(z.string(), partSchema),
});

/** An approval that a workflow run used: it counts for no other run, and for this one only until nothing is left of it. */
const approvalSchema = z.strictObject({
  /** Null if a person gave the digest, or reviewed the stored plan. */
  pull_request: z.int().nullable(),
  /** The last commit of the pull request's branch. */
  head: z.string().nullable(),
  /** The workflow run that made the plan. */
  plan_run: z.string().nullable(),
  environment: z.string().nullable(),
  digest: z.string(),
  /** The workflow run that applies it. */
  workflow_run: z.string().regex(/^\d+$/),
  url: z.string(),
  /** When it was last used. */
  at: z.iso.datetime(),
  /** The journals of the runs that it was used for, oldest first. */
  runs: z.array(z.string()),
  /** The keys of the objects that are not yet as approved. */
  left: z.array(z.string()),
});

const headSchema = z.strictObject({
  format_version: z.literal(STATE_FORMAT),
  serial: z.int().min(0),
  lineage: z.string().min(1),
  server: z.string(),
  salt: z.string().min(1),
  /** The run that is under way, or that was killed: its journal knows more than this file. */
  open_run: z.string().optional(),
  /** Where it was brought; this copy counts no more. */
  moved_to: z.string().optional(),
  /** Nor did it ever: it is being brought here from there. */
  arriving: z.literal(true).optional(),
  /** The newest run that is all in here. */
  last_run: z.string().optional(),
  /** Hashes of the files that were pulled last, by their paths from the root of the project. */
  pulled: z.record(z.string(), z.string()).optional(),
  /** Approvals that were used, oldest first. */
  approvals: z.array(approvalSchema).optional(),
  /** How the work is split, as long as no run of all of it comes between. */
  shards: shardsSchema.optional(),
});

export const stateSchema = headSchema.extend({ resources: z.record(z.string(), recordSchema) });

/** The same without a look at its records, which may be very many. It changes nothing that it reads. */
export const unreadSchema = headSchema.extend({ resources: jsonFields() });

/** What idops knows of one object that it wrote or saw. */
export type ResourceRecord = z.infer<typeof recordSchema>;

/** What idops knows of a server. Disposable: losing it may cost requests, never data. */
export type State = z.infer<typeof stateSchema>;

/** What is said of a state beside what it knows of objects. */
export type StateHead = Omit<State, 'resources'>;

/** The state of a server that nothing is known of. */
export function emptyState(server: string): State {
  return {
    format_version: STATE_FORMAT,
    serial: 0,
    lineage: randomUUID(),
    server,
    salt: randomBytes(16).toString('base64url'),
    resources: {},
  };
}
