import { setImmediate } from 'node:timers/promises';
import * as z from 'zod';
import { parseJson, stringifyJson } from '../base/json.js';
import { kindNames } from '../base/kind-names.js';
import { type ProblemsError, problemError } from '../base/problems.js';
import { isSurelyAlive, processFields } from '../base/process.js';
import { endSchema, identitySchema, jsonFields } from './state.js';

export const RESTORE_HINT =
  'restore a good copy, or remove it with idops runs forget RUN, which loses the history of that run';

/** The newest format that this version reads and writes. */
export const JOURNAL_FORMAT = 1;

const doc = (description: string, example: unknown) => ({ description, examples: [example] });

const storedFields = z.strictObject({
  fields: jsonFields().meta(doc('The fields; a secret is null', { label: 'ACME Corp' })),
  hashes: z
    .record(z.string(), z.string())
    .meta(doc('Salted hashes of secrets, by JSON pointer', { '/backend/smtp_password': '9f2c…' })),
});

const RUN = '20260131T120000Z-4f2a1c';

const at = z.iso.datetime().meta(doc('UTC', '2026-01-31T12:00:00.000Z'));

/** Who ran it, and why, if known. */
const origin = {
  actor: z.string().optional().meta(doc('Who ran it, as GitHub or GitLab CI names them', 'ada')),
  author: z
    .string()
    .optional()
    .meta(doc('Without a CI: the author of the commit', 'Ada Lovelace <ada@example.com>')),
  commit: z
    .string()
    .optional()
    .meta(doc('The commit that CI ran for, or the newest one of the work tree', '4f2a1c…')),
  pull_request: z
    .int()
    .positive()
    .optional()
    .meta(doc('The number of the pull request or merge request that it was run for or approved by', 12)),
  run_url: z
    .string()
    .optional()
    .meta(doc('The workflow run or pipeline', 'https://github.com/acme/identity/actions/runs/1234')),
  message: z.string().optional().meta(doc('Why, as --message says', 'JIRA-7: billing moves to acme')),
};

export type Origin = Pick<RunLine, keyof typeof origin>;

const runLine = z
  .strictObject({
    type: z.literal('run').describe('The type of the line'),
    format_version: z.literal(JOURNAL_FORMAT).describe('The version of this format'),
    run: z.string().meta(doc('The name of the run and of this file', RUN)),
    tool_version: z.string().meta(doc('The version of idops', '0.1.0')),
    at,
    command: z.enum(['apply', 'undo', 'regenerate-did']).describe('What was run'),
    undoes: z.string().optional().meta(doc('The run that an undo restores', RUN)),
    user: z.string().meta(doc('Who ran it, as the system names them', 'ada')),
    ...origin,
    ...processFields,
    state: z
      .strictObject({
        lineage: z.string().meta(doc('Identifies the state', 'b2f1c7d0-…')),
        file: z.string().meta(doc("The name of the state's file", 'state.json')),
      })
      .describe('The state that the run belongs to; states in one folder have their journals in one'),
    server: z.string().meta(doc('The base URL of the server', 'https://id.example.com')),
    profile: z.string().meta(doc('The profile that it was used with', 'documented')),
    environment: z.string().nullable().meta(doc('The chosen environment', 'production')),
    now: z.string().optional().meta(doc('The instant of --now', '2027-01-31T00:00:00.000Z')),
    digest: z.string().meta(doc('The digest of the plan', `sha256:${'5f'.repeat(32)}`)),
    salt: z.string().meta(doc('The salt of the hashes in this file', '9f2c…')),
  })
  .describe('The first line: who, when, where');

const sendingLine = z
  .strictObject({
    type: z.literal('sending').describe('The type of the line'),
    seq: z.int().meta(doc('The number of the request; its answer has the same', 1)),
    at,
    address: z.string().meta(doc('The address of the object', 'Organization/acme')),
    label: z
      .string()
      .optional()
      .meta(doc('The label of the object, if the address does not contain it', 'ada@acme.example')),
    key: z
      .string()
      .meta(
        doc(
          'Its key in the state: the address with ids only',
          'Organization/10000000-0000-4000-8000-000000000004',
        ),
      ),
    kind: z.enum(kindNames).describe('The kind of the object'),
    identity: identitySchema.meta(doc('Identifies the object on the server', { id: '5f0c1a9e-…' })),
    action: z.enum(['create', 'update', 'delete', 'regenerate', 'adopt']).describe('What the request does'),
    operation: z
      .string()
      .nullable()
      .meta(doc('The operation of the API; null for an adoption, which sends nothing', 'updateOrganization')),
    method: z.string().nullable().meta(doc('The method of the request', 'PATCH')),
    path: z
      .string()
      .nullable()
      .meta(doc('The path under the base URL', '/api/organizations/10000000-0000-4000-8000-000000000004')),
    last: z.boolean().describe('Whether this is the last request of the change'),
    existed: z.boolean().nullable().describe('Whether the object existed before; null if unknown'),
    before: storedFields.describe('The object before, if known'),
    body: storedFields.nullable().describe('The body of the request'),
    expected: storedFields.describe('The expected object'),
    managed: z.array(z.string()).meta(doc('The fields that manifests declare', ['label'])),
    replaces: z
      .string()
      .optional()
      .meta(doc('The id of the deleted object that it replaces', '9b1d5c1e-6f3a-4a0e-8b1a-0d6f3e1c2b77')),
    until: z
      .record(z.string(), z.record(z.string(), endSchema.nullable()))
      .optional()
      .describe('Changed ends of access, by field and member; null for one that was removed'),
    until_before: z
      .record(z.string(), z.record(z.string(), endSchema))
      .optional()
      .describe('The recorded ends of access before, by field and member'),
    ended: z
      .record(z.string(), z.array(z.string()))
      .optional()
      .meta(doc('Members removed because their access ended, by field', { organizations: ['5f0c1a9e-…'] })),
    by_member: z
      .array(z.string())
      .optional()
      .meta(doc('Managed sets of which manifests declare only single members', ['organizations'])),
    generation: z.int().optional().meta(doc('The generation to be recorded', 2)),
    recorded_generation: z.int().optional().meta(doc('The generation that was recorded before, if any', 1)),
  })
  .describe('Before a request is sent');

const answeredLine = z
  .strictObject({
    type: z.literal('answered').describe('The type of the line'),
    seq: z.int().meta(doc('The number of the request', 1)),
    at,
    status: z.enum(['applied', 'failed', 'not_converged', 'unknown', 'skipped']).describe('The outcome'),
    ambiguous: z.boolean().describe('Whether the change may have been applied without confirmation'),
    http_status: z.int().nullable().meta(doc('The status of the last response; null if there was none', 200)),
    attempts: z.int().meta(doc('How many times the request was sent', 1)),
    after: storedFields.nullable().describe('The object in the response'),
    unverified: z
      .array(z.string())
      .meta(doc('Sent fields that the response did not contain', ['smtp_password'])),
    error: z.string().nullable().meta(doc('What went wrong', 'the server refused it')),
    other_profile: z
      .string()
      .optional()
      .meta(
        doc(
          'The profile that the server has, if it is another one, whose updates lose fields that are not sent',
          'boruta',
        ),
      ),
    notes: z
      .array(z.string())
      .optional()
      .meta(doc('Notes about an applied change', ['the server took the default away'])),
  })
  .describe('After its answer');

const endLine = z
  .strictObject({
    type: z.literal('end').describe('The type of the line'),
    at,
    interrupted: z.boolean().describe('Whether the run was interrupted'),
    by: z
      .string()
      .optional()
      .meta(doc('The later run that settled what this one left open', '20260131T130000Z-0b9d7e')),
  })
  .describe('The last line: the state holds everything above');

export const journalLineSchema = z.discriminatedUnion('type', [runLine, sendingLine, answeredLine, endLine]);

export type RunLine = z.infer<typeof runLine>;
export type SendingLine = z.infer<typeof sendingLine>;
export type AnsweredLine = z.infer<typeof answeredLine>;
export type JournalLine = z.infer<typeof journalLineSchema>;

/** The line about a request without an answer. */
export function unansweredLine(
  seq: number,
  at: string,
  status: AnsweredLine['status'],
  error: string | null,
): AnsweredLine {
  const unseen = { ambiguous: false, http_status: null, attempts: 0, after: null, unverified: [] };
  return { type: 'answered', seq, at, status, ...unseen, error };
}

/** A journal for writing. */
export interface Journal {
  /** Resolves when the line is durable. Rejects with a ProblemsError if it may not be; then nothing may be sent. */
  write(line: JournalLine): Promise<void>;
  /** The folder of lines that could not be written to the backend; null if there are none. */
  readonly bufferFolder: string | null;
  close(): Promise<void>;
}

/** A journal that was read. */
export interface JournalContent {
  readonly run: RunLine;
  /** Everything after the first line. */
  readonly lines: readonly JournalLine[];
  /** The size of the complete lines in bytes, without an incomplete last line. */
  readonly bytes: number;
  readonly ended: boolean;
  /** Whether buffered lines arrived after the run had been settled without them. */
  readonly late?: boolean;
}

/** Whether the process of a run certainly still runs. */
export function isRunning({ run, ended }: JournalContent): boolean {
  return !ended && isSurelyAlive(run);
}

export function runningError(run: RunLine): ProblemsError {
  return problemError(
    'locked',
    `${describeRun(run)} is still in progress`,
    'wait until it has ended, or end it',
  );
}

export function describeRun({ run, command, user, host, pid, at }: RunLine): string {
  return `run ${run} (${command} by ${user} on ${host}, process ${pid}, since ${at})`;
}

/**
 * Parses the text of a run's journal; `place` names it in messages. Ignores an incomplete last line; returns null without a complete
 * first line. Throws a ProblemsError (`journal-unreadable`) if it isn't a journal of this run.
 */
export function parseJournal(text: string, run: string, place: string): JournalContent | null {
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  const [first, ...lines] = whole
    .split('\n')
    .slice(0, -1)
    .map((line, index) => parseLine(line, place, index + 1));
  if (first === undefined) return null;
  if (first.type !== 'run' || first.run !== run) throw journalError(place, 'line 1 does not name this run');
  return { run: first, lines, bytes: Buffer.byteLength(whole), ended: lines.at(-1)?.type === 'end' };
}

function parseLine(line: string, place: string, number: number): JournalLine {
  let data: unknown;
  try {
    data = parseJson(line);
  } catch {
    throw journalError(place, `line ${number} is not JSON`);
  }
  const version = (data as { format_version?: unknown } | null)?.format_version;
  if (typeof version === 'number' && version > JOURNAL_FORMAT) {
    throw journalError(
      place,
      `it has format ${version}, and this idops reads formats up to ${JOURNAL_FORMAT}`,
    );
  }
  const parsed = journalLineSchema.safeParse(data);
  if (parsed.success) return parsed.data;
  throw journalError(place, `line ${number} is not a journal line`);
}

export function journalError(place: string, why: string): ProblemsError {
  return problemError('journal-unreadable', `the journal ${place} can't be used: ${why}`, RESTORE_HINT);
}

interface QueuedLine {
  readonly text: string;
  readonly done: () => void;
  readonly failed: (reason: unknown) => void;
}

/**
 * A journal that writes lines in batches: one flush, push or commit serves all lines that are queued meanwhile. `write` rejects if the
 * lines may not be durable.
 */
export function batchedJournal(
  write: (lines: readonly string[]) => Promise<void>,
  end: () => Promise<void> = async () => {},
): Journal {
  let queue: QueuedLine[] = [];
  let writing: Promise<void> | undefined;
  const writeAll = async (): Promise<void> => {
    // Lines of one turn of the event loop are one batch: an answer, and the request that follows it.
    await setImmediate();
    while (queue.length > 0) {
      const batch = queue;
      queue = [];
      try {
        await write(batch.map(({ text }) => text));
        for (const { done } of batch) done();
      } catch (failure) {
        for (const { failed } of batch) failed(failure);
      }
    }
    writing = undefined;
  };
  return {
    bufferFolder: null,
    write: (line) =>
      new Promise((done, failed) => {
        queue.push({ text: stringifyJson(line), done, failed });
        writing ??= writeAll();
      }),
    async close() {
      await writing;
      await end();
    },
  };
}
