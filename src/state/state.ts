import { randomBytes, randomUUID } from 'node:crypto';
import * as z from 'zod';
import { isPathParameter } from '../base/identifiers.js';
import { kindNames } from '../base/kind-names.js';
import { isMap, type Json } from '../base/values.js';

/** A map of JSON that is not copied: a copy would lose a member `__proto__`, and the spelling of numbers. */
export function jsonFields() {
  const fields = z.unknown().refine(isMap, 'expected a map').meta({ type: 'object' });
  return fields as unknown as z.ZodType<{ [field: string]: Json }>;
}

/** The newest format that this version reads and writes. */
export const STATE_FORMAT = 1;

const stored = z.strictObject({ fields: jsonFields(), hashes: z.record(z.string(), z.string()) });

/** Values to restore: those lost and the object right after that; or, if that was not seen, the object before and the sent values. */
const owedSchema = z.union([
  z.strictObject({ run: z.string(), lost: stored, seen: stored }),
  z.strictObject({ run: z.string(), before: stored, asked: stored }),
]);

/** The path parameters of an object, and the name by which an organization is found. */
export const identitySchema = z
  .record(z.string(), z.string())
  .refine(
    (identity) => Object.entries(identity).every(([part, text]) => part === 'name' || isPathParameter(text)),
    'has an id that no path can carry',
  );

/** When the access to a member ends. */
export const endSchema = z.strictObject({
  at: z.string().meta({ description: 'When it ends', examples: ['2027-01-31T00:00:00.000Z'] }),
  name: z
    .string()
    .exactOptional()
    .meta({ description: 'The name of the member', examples: ['acme'] }),
  received: z.boolean().describe('Whether idops added the member with an end; only then it is removed'),
});

/** The record of an object. Parsing it must not change it. */
export const recordSchema = z.strictObject({
  kind: z.enum(kindNames),
  /** The path parameters: an address can't always be split into them. */
  identity: identitySchema,
  recorded_at: z.iso.datetime(),
  /** The run that wrote the object; null if the server already had what was declared. */
  run: z.string().nullable(),
  /** The fields that the manifest declared when it was applied. */
  managed: z.array(z.string()),
  /** The last response to a write, and fields that were sent and not in it. */
  fields: jsonFields(),
  /** Hashes of the secrets among the fields, by JSON pointer. */
  hashes: z.record(z.string(), z.string()),
  /** The last observation of the object, to find drift: after a run, or when it was read (null). */
  left: stored.extend({ run: z.string().nullable() }).optional(),
  /** Former names that manifests may still write beside the id. */
  former_names: z.array(z.string()).optional(),
  /** When access ends, by field and by the id of the member, and whether idops added the member with that end. */
  until: z.record(z.string(), z.record(z.string(), endSchema)).optional(),
  /** Ids of members that idops added, by field: their access can get an end. */
  given: z.record(z.string(), z.array(z.string())).optional(),
  /** Fields of a request whose outcome is unknown. */
  uncertain: z.array(z.string()).optional(),
  /** Of a key pair, its `rotation`. */
  did_generation: z.int().min(0).optional(),
  /** The run of a regeneration whose outcome is unknown. */
  pending_regeneration: z.string().optional(),
  /** Values that an interrupted update removed, to be restored. */
  owed: owedSchema.optional(),
  /** The profile that an answer revealed, if it isn't the configured one, and the run. */
  other_profile: z.strictObject({ profile: z.string(), run: z.string() }).optional(),
  /** The run that created the object. */
  created: z.string().optional(),
  /** The address part of an object if the outcome of its creation is unknown: the next attempt uses the same id. */
  creating: z.string().optional(),
  /** The id of the deleted object that it replaces. */
  replaces: z.string().optional(),
  /** Hash of the server's DELETE response. */
  deleted: z.string().optional(),
});

/** The runs of one shard. */
const partSchema = z.strictObject({
  /** The run that is in progress, or was killed. */
  open_run: z.string().optional(),
  /** The newest run that this state includes. */
  last_run: z.string().optional(),
  /** Runs that this state includes, with journals that this shard still has to end. */
  to_end: z.array(z.string()).optional(),
});

const shardsSchema = z.strictObject({
  count: z.int().min(2),
  /** The run that shards share now, and its key. */
  run: z.string().optional(),
  key: z.string().optional(),
  /** By the number of the shard. */
  parts: z.record(z.string(), partSchema),
});

/** An approval that a workflow run used. It is valid only for this run, until all its changes are applied. Ids are decimal. */
const approvalSchema = z.strictObject({
  /** Null if a person gave the digest, or reviewed the stored plan. */
  pull_request: z.int().nullable(),
  /** The last commit of the pull request's branch; null if there is no pull request. */
  head: z.string().nullable(),
  /** The workflow run that made the approved plan; null if there is no pull request. */
  plan_run: z.string().nullable(),
  environment: z.string().nullable(),
  digest: z.string(),
  /** The workflow run that applies it; all its attempts have one id. */
  workflow_run: z.string().regex(/^\d+$/),
  /** The address of that run, for people. */
  url: z.string(),
  /** When it was last used. */
  at: z.iso.datetime(),
  /** The journals of the runs that it was used for, oldest first. */
  runs: z.array(z.string()),
  /** The keys of the objects that are not yet applied. */
  left: z.array(z.string()),
});

const headSchema = z.strictObject({
  format_version: z.literal(STATE_FORMAT),
  serial: z.int().min(0),
  lineage: z.string().min(1),
  server: z.string(),
  salt: z.string().min(1),
  /** The run that is in progress, or was killed: its journal is newer than this state. */
  open_run: z.string().optional(),
  /** The place that the state was moved to; this copy is invalid. */
  moved_to: z.string().optional(),
  /** With `moved_to`: the state is being moved here from that place, and is not yet valid. */
  arriving: z.literal(true).optional(),
  /** The newest run that this state includes. */
  last_run: z.string().optional(),
  /** Hashes of the last pulled files, by their paths from the project root. */
  pulled: z.record(z.string(), z.string()).optional(),
  /** Approvals that were used, oldest first. */
  approvals: z.array(approvalSchema).optional(),
  /** The split into shards, until a run of all objects. */
  shards: shardsSchema.optional(),
});

export const stateSchema = headSchema.extend({ resources: z.record(z.string(), recordSchema) });

/** The state schema without checks of the records, which are checked one by one. */
export const uncheckedStateSchema = headSchema.extend({ resources: jsonFields() });

export type ResourceRecord = z.infer<typeof recordSchema>;

/** What idops knows about a server. Losing it may cost requests, never data. */
export type State = z.infer<typeof stateSchema>;

/** A state without its records. */
export type StateHead = Omit<State, 'resources'>;

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
