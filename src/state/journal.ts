import * as z from 'zod';
import { parseJson, stringifyJson } from '../base/json.js';
import { kindNames } from '../base/kind-names.js';
import { error, ProblemsError } from '../base/problems.js';
import { isSurelyAlive, processMark } from '../base/process.js';
import { identitySchema, jsonFields } from './state.js';

export const RESTORE_HINT =
  'put a good copy back, or remove it with idops runs forget RUN; what it says of its run is then no longer known';

/** The newest format that this version reads and writes. */
export const JOURNAL_FORMAT = 1;

const storedFields = z.strictObject({
  fields: jsonFields().describe('the fields; a secret is null here'),
  hashes: z.record(z.string(), z.string()).describe('salted hashes of the secrets, by JSON pointer'),
});

const RUN = '20260131T120000Z-4f2a1c';

const at = z.iso.datetime().meta({ description: 'UTC', examples: ['2026-01-31T12:00:00.000Z'] });

const runLine = z
  .strictObject({
    type: z.literal('run').describe('which line this is'),
    format_version: z.literal(JOURNAL_FORMAT).describe('the version of this format'),
    run: z.string().meta({ description: 'the name of the run and of this file', examples: [RUN] }),
    tool_version: z.string().meta({ description: 'the version of idops', examples: ['0.1.0'] }),
    at,
    command: z.enum(['apply', 'undo', 'regenerate-did']).describe('what was run'),
    undoes: z
      .string()
      .optional()
      .meta({ description: 'the run that an undo puts back', examples: [RUN] }),
    user: z.string().meta({ description: 'who ran it, as the system names them', examples: ['ada'] }),
    ...processMark,
    state: z
      .strictObject({
        lineage: z.string().describe('what tells a state from others'),
        file: z.string().describe("the name of the state's file"),
      })
      .describe('the state that the run belongs to; states in one folder have their journals in one'),
    server: z
      .string()
      .meta({ description: 'the base URL of the server', examples: ['https://id.example.com'] }),
    profile: z.string().meta({ description: 'the profile that it was taken for', examples: ['documented'] }),
    environment: z
      .string()
      .nullable()
      .meta({ description: 'the chosen environment', examples: ['production'] }),
    digest: z
      .string()
      .meta({ description: 'the digest of the plan', examples: [`sha256:${'5f'.repeat(32)}`] }),
    salt: z.string().meta({ description: 'the salt of the hashes in this file', examples: ['9f2c…'] }),
  })
  .describe('the first line: who, when, where');

const sendingLine = z
  .strictObject({
    type: z.literal('sending').describe('which line this is'),
    seq: z.int().meta({ description: 'the number of the request, which its answer has too', examples: [1] }),
    at,
    address: z.string().meta({
      description: 'what names the object, such as Organization/acme',
      examples: ['Organization/acme'],
    }),
    label: z
      .string()
      .optional()
      .meta({
        description: 'what the server called it, where that was known and the address does not say it',
        examples: ['ada@acme.example'],
      }),
    key: z.string().meta({
      description: 'what the state records it under: its address by ids alone',
      examples: ['Organization/10000000-0000-4000-8000-000000000004'],
    }),
    kind: z.enum(kindNames).describe('the kind of the object'),
    identity: identitySchema.describe('what finds the object on the server'),
    action: z.enum(['update', 'delete', 'regenerate', 'adopt']).describe('what is done to it'),
    operation: z
      .string()
      .nullable()
      .meta({
        description: 'the operation of the API; null for an adoption, which sends nothing',
        examples: ['updateOrganization'],
      }),
    method: z
      .string()
      .nullable()
      .meta({ description: 'the method of the request', examples: ['PATCH'] }),
    path: z
      .string()
      .nullable()
      .meta({
        description: 'the path under the base URL',
        examples: ['/api/organizations/10000000-0000-4000-8000-000000000004'],
      }),
    last: z.boolean().describe('whether this is the last request of the change'),
    existed: z
      .boolean()
      .nullable()
      .describe('whether the server had it before; null where it could not be asked'),
    before: storedFields.describe('the object as it was known to be'),
    body: storedFields.nullable().describe('what is sent'),
    expected: storedFields.describe('what the object is to be afterwards'),
    managed: z.array(z.string()).describe('the fields that manifests declare'),
    generation: z
      .int()
      .optional()
      .meta({ description: 'the generation to be recorded', examples: [2] }),
    recorded_generation: z
      .int()
      .optional()
      .meta({
        description: 'the generation that was recorded before; left out where none was',
        examples: [1],
      }),
  })
  .describe('before a request is sent');

const answeredLine = z
  .strictObject({
    type: z.literal('answered').describe('which line this is'),
    seq: z.int().meta({ description: 'the number of the request', examples: [1] }),
    at,
    status: z
      .enum(['applied', 'failed', 'not_converged', 'unknown', 'skipped'])
      .describe('what became of it'),
    ambiguous: z.boolean().describe('whether it may have been done although nothing says so'),
    http_status: z
      .int()
      .nullable()
      .meta({ description: 'the status of the last answer; null where there was none', examples: [200] }),
    attempts: z.int().meta({ description: 'how many times the request was sent', examples: [1] }),
    after: storedFields.nullable().describe('what the server showed afterwards'),
    unverified: z.array(z.string()).describe('sent fields that the answer did not carry'),
    error: z
      .string()
      .nullable()
      .meta({ description: 'what went wrong', examples: ['the server refused it'] }),
    other_profile: z
      .string()
      .optional()
      .meta({
        description:
          'the profile whose server this surely is, where that is another one and loses what is not mentioned',
        examples: ['boruta'],
      }),
    notes: z.array(z.string()).optional().describe('what a person should know although it went well'),
  })
  .describe('after its answer');

const endLine = z
  .strictObject({
    type: z.literal('end').describe('which line this is'),
    at,
    interrupted: z.boolean().describe('whether the run was interrupted'),
    by: z
      .string()
      .optional()
      .meta({
        description: 'the later run that settled what this one left open',
        examples: ['20260131T130000Z-0b9d7e'],
      }),
  })
  .describe('the last line: the state holds everything above');

export const journalLineSchema = z.discriminatedUnion('type', [runLine, sendingLine, answeredLine, endLine]);

export type RunLine = z.infer<typeof runLine>;
export type SendingLine = z.infer<typeof sendingLine>;
export type AnsweredLine = z.infer<typeof answeredLine>;
export type JournalLine = z.infer<typeof journalLineSchema>;

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
  return new ProblemsError([
    error('locked', `${describeRun(run)} is still under way`, [], 'wait until it has ended, or end it'),
  ]);
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
  return new ProblemsError([
    error('journal-unreadable', `the journal ${place} can't be used: ${why}`, [], RESTORE_HINT),
  ]);
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
