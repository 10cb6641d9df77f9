import * as z from 'zod';
import { parseJson, stringifyJson } from '../base/json.js';
import { kindNames } from '../base/kind-names.js';
import { type ProblemsError, problemError } from '../base/problems.js';
import { isSurelyAlive, processMark } from '../base/process.js';
import { endSchema, identitySchema, jsonFields } from './state.js';

export const RESTORE_HINT =
  'put a good copy back, or remove it with idops runs forget RUN; what it says of its run is then no longer known';

/** The newest format that this version reads and writes. */
export const JOURNAL_FORMAT = 1;

const doc = (description: string, example: unknown) => ({ description, examples: [example] });

const storedFields = z.strictObject({
  fields: jsonFields().describe('the fields; a secret is null here'),
  hashes: z.record(z.string(), z.string()).describe('salted hashes of the secrets, by JSON pointer'),
});

const RUN = '20260131T120000Z-4f2a1c';

const at = z.iso.datetime().meta(doc('UTC', '2026-01-31T12:00:00.000Z'));

/** Who ran it, and why, as far as that is known. */
const origin = {
  actor: z.string().optional().meta(doc('who ran it, as GitHub or GitLab CI names them', 'ada')),
  author: z
    .string()
    .optional()
    .meta(doc('without a CI: the author of the commit', 'Ada Lovelace <ada@example.com>')),
  commit: z
    .string()
    .optional()
    .meta(doc('the commit that CI ran for, or the newest one of the work tree', '4f2a1c…')),
  pull_request: z
    .int()
    .positive()
    .optional()
    .meta(doc('the number of the pull request or merge request that it was run for or approved by', 12)),
  run_url: z
    .string()
    .optional()
    .meta(doc('the workflow run or pipeline', 'https://github.com/acme/identity/actions/runs/1234')),
  message: z.string().optional().meta(doc('why, as --message says', 'JIRA-7: billing moves to acme')),
};

export type Origin = Pick<RunLine, keyof typeof origin>;

const runLine = z
  .strictObject({
    type: z.literal('run').describe('the type of the line'),
    format_version: z.literal(JOURNAL_FORMAT).describe('the version of this format'),
    run: z.string().meta(doc('the name of the run and of this file', RUN)),
    tool_version: z.string().meta(doc('the version of idops', '0.1.0')),
    at,
    command: z.enum(['apply', 'undo', 'regenerate-did']).describe('what was run'),
    undoes: z.string().optional().meta(doc('the run that an undo puts back', RUN)),
    user: z.string().meta(doc('who ran it, as the system names them', 'ada')),
    ...origin,
    ...processMark,
    state: z
      .strictObject({
        lineage: z.string().describe('identifies the state'),
        file: z.string().describe("the name of the state's file"),
      })
      .describe('the state that the run belongs to; states in one folder have their journals in one'),
    server: z.string().meta(doc('the base URL of the server', 'https://id.example.com')),
    profile: z.string().meta(doc('the profile that it was used with', 'documented')),
    environment: z.string().nullable().meta(doc('the chosen environment', 'production')),
    now: z
      .string()
      .optional()
      .describe('the instant of --now, at which it was decided which access has ended'),
    digest: z.string().meta(doc('the digest of the plan', `sha256:${'5f'.repeat(32)}`)),
    salt: z.string().meta(doc('the salt of the hashes in this file', '9f2c…')),
  })
  .describe('the first line: who, when, where');

const sendingLine = z
  .strictObject({
    type: z.literal('sending').describe('the type of the line'),
    seq: z.int().meta(doc('the number of the request; its answer has the same', 1)),
    at,
    address: z.string().meta(doc('the address of the object', 'Organization/acme')),
    label: z
      .string()
      .optional()
      .meta(doc('the label of the object, if the address does not contain it', 'ada@acme.example')),
    key: z
      .string()
      .meta(
        doc(
          'its key in the state: the address with ids only',
          'Organization/10000000-0000-4000-8000-000000000004',
        ),
      ),
    kind: z.enum(kindNames).describe('the kind of the object'),
    identity: identitySchema.describe('identifies the object on the server'),
    action: z.enum(['update', 'delete', 'regenerate', 'adopt']).describe('what the request does'),
    operation: z
      .string()
      .nullable()
      .meta(doc('the operation of the API; null for an adoption, which sends nothing', 'updateOrganization')),
    method: z.string().nullable().meta(doc('the method of the request', 'PATCH')),
    path: z
      .string()
      .nullable()
      .meta(doc('the path under the base URL', '/api/organizations/10000000-0000-4000-8000-000000000004')),
    last: z.boolean().describe('whether this is the last request of the change'),
    existed: z.boolean().nullable().describe('whether the server had it before; null if unknown'),
    before: storedFields.describe('the object before, as far as known'),
    body: storedFields.nullable().describe('the body of the request'),
    expected: storedFields.describe('the object that is expected afterwards'),
    managed: z.array(z.string()).describe('the fields that manifests declare'),
    until: z
      .record(z.string(), z.record(z.string(), endSchema.nullable()))
      .optional()
      .describe(
        'changed ends of access, by field and id of the member; null for one that has no end any more',
      ),
    until_before: z
      .record(z.string(), z.record(z.string(), endSchema))
      .optional()
      .describe('the recorded ends of access before, by field and id of the member'),
    ended: z
      .record(z.string(), z.array(z.string()))
      .optional()
      .describe('members that it removes because their access has ended, by field'),
    by_member: z
      .array(z.string())
      .optional()
      .describe('those of them that are sets of which manifests declare only single members'),
    generation: z.int().optional().meta(doc('the generation to be recorded', 2)),
    recorded_generation: z
      .int()
      .optional()
      .meta(doc('the generation that was recorded before; left out if there was none', 1)),
  })
  .describe('before a request is sent');

const answeredLine = z
  .strictObject({
    type: z.literal('answered').describe('the type of the line'),
    seq: z.int().meta(doc('the number of the request', 1)),
    at,
    status: z.enum(['applied', 'failed', 'not_converged', 'unknown', 'skipped']).describe('the outcome'),
    ambiguous: z.boolean().describe('whether it may have been applied although nothing confirms it'),
    http_status: z.int().nullable().meta(doc('the status of the last response; null if there was none', 200)),
    attempts: z.int().meta(doc('how many times the request was sent', 1)),
    after: storedFields.nullable().describe('the object that the server showed afterwards'),
    unverified: z.array(z.string()).describe('sent fields that the response did not contain'),
    error: z.string().nullable().meta(doc('what went wrong', 'the server refused it')),
    other_profile: z
      .string()
      .optional()
      .meta(
        doc(
          'the profile that the server surely has, if it is another one, which loses fields that are not sent',
          'boruta',
        ),
      ),
    notes: z
      .array(z.string())
      .optional()
      .describe('what a person should know about a change that was applied'),
  })
  .describe('after its answer');

const endLine = z
  .strictObject({
    type: z.literal('end').describe('the type of the line'),
    at,
    interrupted: z.boolean().describe('whether the run was interrupted'),
    by: z
      .string()
      .optional()
      .meta(doc('the later run that settled what this one left open', '20260131T130000Z-0b9d7e')),
  })
  .describe('the last line: the state holds everything above');

export const journalLineSchema = z.discriminatedUnion('type', [runLine, sendingLine, answeredLine, endLine]);

export type RunLine = z.infer<typeof runLine>;
export type SendingLine = z.infer<typeof sendingLine>;
export type AnsweredLine = z.infer<typeof answeredLine>;
export type JournalLine = z.infer<typeof journalLineSchema>;

/** The line of a request to which no answer came. */
export function withoutAnswer(
  seq: number,
  at: string,
  status: AnsweredLine['status'],
  error: string | null,
): AnsweredLine {
  const unseen = { ambiguous: false, http_status: null, attempts: 0, after: null, unverified: [] };
  return { type: 'answered', seq, at, status, ...unseen, error };
}

/** The journal of a run that is being written. */
export interface Journal {
  /** Resolves when the line is durable. Rejects with a ProblemsError if it may not be: then nothing may be sent. */
  write(line: JournalLine): Promise<void>;
  /** The folder of lines that could not be written to the backend; null if there are none. */
  readonly kept: string | null;
  close(): Promise<void>;
}

/** The journal of a run, as it was read. */
export interface JournalContent {
  readonly run: RunLine;
  /** Everything after the first line. */
  readonly lines: readonly JournalLine[];
  /** The size of the complete lines in bytes; a crash can cut the last line off. */
  readonly bytes: number;
  readonly ended: boolean;
  /** Whether lines were in a buffer that came after the run had been settled without them. */
  readonly late?: boolean;
}

/** Whether the process of a run surely still runs. */
export function isRunning({ run, ended }: JournalContent): boolean {
  return !ended && isSurelyAlive(run);
}

export function stillRunning(run: RunLine): ProblemsError {
  return problemError(
    'locked',
    `${describeRun(run)} is still under way`,
    'wait until it has ended, or end it',
  );
}

export function describeRun({ run, command, user, host, pid, at }: RunLine): string {
  return `run ${run} (${command} by ${user} on ${host}, process ${pid}, since ${at})`;
}

/**
 * Parses the text of a run's journal; `place` names it in messages. Ignores a last line that a crash cut off; gives null without a whole
 * first line. Throws a ProblemsError (`journal-unreadable`) if it is no journal of this run.
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
    throw journalError(place, `it has format ${version}, this idops knows formats up to ${JOURNAL_FORMAT}`);
  }
  const parsed = journalLineSchema.safeParse(data);
  if (parsed.success) return parsed.data;
  throw journalError(place, `line ${number} is not a line of a journal`);
}

export function journalError(place: string, why: string): ProblemsError {
  return problemError('journal-unreadable', `the journal ${place} can't be used: ${why}`, RESTORE_HINT);
}

interface Waiting {
  readonly text: string;
  readonly done: () => void;
  readonly failed: (reason: unknown) => void;
}

/**
 * A journal that writes lines in batches, so that one flush, push or commit serves all lines that come meanwhile. `put` writes lines, and
 * rejects if they may not have arrived.
 */
export function batchedJournal(
  put: (lines: readonly string[]) => Promise<void>,
  end: () => Promise<void> = async () => {},
): Journal {
  let waiting: Waiting[] = [];
  let writing: Promise<void> | undefined;
  const writeAll = async (): Promise<void> => {
    // Lines of one turn of the event loop are one batch.
    await Promise.resolve();
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        await put(batch.map(({ text }) => text));
        for (const { done } of batch) done();
      } catch (failure) {
        for (const { failed } of batch) failed(failure);
      }
    }
    writing = undefined;
  };
  return {
    kept: null,
    write: (line) =>
      new Promise((done, failed) => {
        waiting.push({ text: stringifyJson(line), done, failed });
        writing ??= writeAll();
      }),
    async close() {
      await writing;
      await end();
    },
  };
}
