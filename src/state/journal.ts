import { z } from 'zod';
import { kindNames } from '../base/kind-names.js';
import { error, ProblemsError } from '../base/problems.js';
import { processMark, surelyAlive } from '../base/process.js';
import { jsonFields } from './json-fields.js';
import { identitySchema } from './state.js';

/** What to do about a journal that can't be used. */
export const COPY_BACK =
  'put a good copy back, or move it away; what it says of its run is then no longer known';

/** The newest journal format that this version reads and writes. */
export const JOURNAL_FORMAT = 1;

const storedFields = z.strictObject({
  fields: jsonFields().describe('the fields; a secret is null here'),
  hashes: z.record(z.string(), z.string()).describe('salted hashes of the secrets, by JSON pointer'),
});

const at = z.iso.datetime().describe('UTC');

const runLine = z
  .strictObject({
    type: z.literal('run').describe('which line this is'),
    format_version: z.literal(JOURNAL_FORMAT).describe('the version of this format'),
    run: z.string().describe('the name of the run and of this file'),
    tool_version: z.string().describe('the version of idops'),
    at,
    command: z.enum(['apply', 'undo', 'regenerate-did']).describe('what was run'),
    user: z.string().describe('who ran it, as the system names them'),
    ...processMark,
    state: z
      .strictObject({
        lineage: z.string().describe('what tells a state from others'),
        file: z.string().describe("the name of the state's file"),
      })
      .optional()
      .describe('the state that the run belongs to; states in one folder have their journals in one'),
    server: z.string().describe('the base URL of the server'),
    profile: z.string().describe('the profile that it was taken for'),
    environment: z.string().nullable().describe('the chosen environment'),
    digest: z.string().describe('the digest of the plan'),
    salt: z.string().describe('the salt of the hashes in this file'),
  })
  .describe('the first line: who, when, where');

const sendingLine = z
  .strictObject({
    type: z.literal('sending').describe('which line this is'),
    seq: z.int().describe('the number of the request, which its answer has too'),
    at,
    address: z.string().describe('what names the object, such as Organization/acme'),
    key: z.string().describe('what the state records it under: its address by ids alone'),
    kind: z.enum(kindNames).describe('the kind of the object'),
    identity: identitySchema.describe('what finds the object on the server'),
    action: z.enum(['update', 'delete', 'regenerate', 'adopt']).describe('what is done to it'),
    operation: z
      .string()
      .nullable()
      .describe('the operation of the API; null for an adoption, which sends nothing'),
    method: z.string().nullable().describe('the method of the request'),
    path: z.string().nullable().describe('the path under the base URL'),
    last: z.boolean().describe('whether this is the last request of the change'),
    existed: z
      .boolean()
      .nullable()
      .describe('whether the server had it before; null where it could not be asked'),
    before: storedFields.describe('the object as it was known to be'),
    body: storedFields.nullable().describe('what is sent'),
    expected: storedFields.describe('what the object is to be afterwards'),
    managed: z.array(z.string()).describe('the fields that manifests declare'),
    generation: z.int().optional().describe('the generation to be recorded'),
    recorded_generation: z
      .int()
      .optional()
      .describe('the generation that was recorded before; left out where none was'),
  })
  .describe('before a request is sent');

const answeredLine = z
  .strictObject({
    type: z.literal('answered').describe('which line this is'),
    seq: z.int().describe('the number of the request'),
    at,
    status: z
      .enum(['applied', 'failed', 'not_converged', 'unknown', 'skipped'])
      .describe('what became of it'),
    ambiguous: z.boolean().describe('whether it may have been done although nothing says so'),
    http_status: z.int().nullable().describe('the status of the last answer; null where there was none'),
    attempts: z.int().describe('how many times the request was sent'),
    after: storedFields.nullable().describe('what the server showed afterwards'),
    unverified: z.array(z.string()).describe('sent fields that the answer did not carry'),
    error: z.string().nullable().describe('what went wrong'),
    other_profile: z
      .string()
      .optional()
      .describe(
        'the profile whose server this surely is, where that is another one and loses what is not mentioned',
      ),
    notes: z.array(z.string()).optional().describe('what a person should know although it went well'),
  })
  .describe('after its answer');

const endLine = z
  .strictObject({
    type: z.literal('end').describe('which line this is'),
    at,
    interrupted: z.boolean().describe('whether the run was interrupted'),
    by: z.string().optional().describe('the later run that settled what this one left open'),
  })
  .describe('the last line: the state holds everything above');

export const journalLineSchema = z.discriminatedUnion('type', [runLine, sendingLine, answeredLine, endLine]);

export type RunLine = z.infer<typeof runLine>;
export type SendingLine = z.infer<typeof sendingLine>;
export type AnsweredLine = z.infer<typeof answeredLine>;
export type JournalLine = z.infer<typeof journalLineSchema>;

/** Where a run writes what it does, before and after it does it. */
export interface Journal {
  /** Resolves when the line is on the disk. Rejects with what the file system says; nothing may be sent then. */
  write(line: JournalLine): Promise<void>;
  close(): Promise<void>;
}

/** The journal of a run, as it was kept. */
export interface JournalContent {
  readonly run: RunLine;
  /** Everything after the first line. */
  readonly lines: readonly JournalLine[];
  /** How many bytes the complete lines take; a crash can cut the last line off. */
  readonly bytes: number;
  readonly ended: boolean;
}

/** Whether the process of a run still runs, as far as that can be told from here. */
export function isUnderWay({ run, ended }: JournalContent): boolean {
  return !ended && surelyAlive(run);
}

/** The refusal to touch the journal of a run that is under way. */
export function underWay(run: RunLine): ProblemsError {
  return new ProblemsError([
    error('locked', `${runHolder(run)} is still under way`, [], 'wait until it has ended, or end it'),
  ]);
}

/** Who runs a run, in words. */
export function runHolder({ run, command, user, host, pid, at }: RunLine): string {
  return `run ${run} (${command} by ${user} on ${host}, process ${pid}, since ${at})`;
}
