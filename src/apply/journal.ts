import { constants } from 'node:fs';
import { type FileHandle, open, readdir, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { z } from 'zod';
import { parseJson, stringifyJson } from '../base/json.js';
import { error, ProblemsError } from '../base/problems.js';
import { processMark, surelyAlive } from '../base/process.js';
import { readRegular } from '../base/regular.js';
import { makeFolder, syncFolder } from '../base/whole-file.js';
import { jsonFields } from '../state/json-fields.js';
import { identitySchema } from '../state/state.js';

/** The newest journal format that this version reads and writes. */
export const JOURNAL_FORMAT = 1;

const storedFields = z.strictObject({
  fields: jsonFields().describe('the fields; a secret is null here'),
  hashes: z.record(z.string(), z.string()).describe('salted hashes of the secrets, by JSON pointer'),
});

const at = z.iso.datetime().describe('UTC');

const runLine = z
  .strictObject({
    type: z.literal('run'),
    format_version: z.literal(JOURNAL_FORMAT),
    run: z.string(),
    tool_version: z.string(),
    at,
    command: z.enum(['apply', 'undo', 'regenerate-did']),
    user: z.string(),
    ...processMark,
    state: z
      .strictObject({ lineage: z.string(), file: z.string().describe("the name of the state's file") })
      .optional()
      .describe('the state that the run belongs to; states in one folder have their journals in one'),
    server: z.string(),
    profile: z.string(),
    environment: z.string().nullable(),
    digest: z.string(),
    salt: z.string().describe('the salt of the hashes in this file'),
  })
  .describe('the first line: who, when, where');

const sendingLine = z
  .strictObject({
    type: z.literal('sending'),
    seq: z.int(),
    at,
    address: z.string(),
    key: z.string(),
    kind: z.enum(['Organization', 'User', 'KeyPair', 'EmailTemplate', 'Client']),
    identity: identitySchema,
    action: z.enum(['update', 'delete', 'regenerate', 'adopt']),
    operation: z.string().nullable().describe('null for an adoption, which sends nothing'),
    method: z.string().nullable(),
    path: z.string().nullable(),
    last: z.boolean().describe('whether this is the last request of the change'),
    existed: z
      .boolean()
      .nullable()
      .describe('whether the server had it before; null where it could not be asked'),
    before: storedFields.describe('the object as it was known to be'),
    body: storedFields.nullable().describe('what is sent'),
    expected: storedFields.describe('what the object is to be afterwards'),
    managed: z.array(z.string()),
    generation: z.int().optional(),
    recorded_generation: z
      .int()
      .optional()
      .describe('the generation that was recorded before; left out where none was'),
  })
  .describe('before a request is sent');

const answeredLine = z
  .strictObject({
    type: z.literal('answered'),
    seq: z.int(),
    at,
    status: z.enum(['applied', 'failed', 'not_converged', 'unknown', 'skipped']),
    ambiguous: z.boolean(),
    http_status: z.int().nullable(),
    attempts: z.int(),
    after: storedFields.nullable().describe('what the server showed afterwards'),
    unverified: z.array(z.string()),
    error: z.string().nullable(),
    notes: z.array(z.string()).optional().describe('what a person should know although it went well'),
  })
  .describe('after its answer');

const endLine = z
  .strictObject({
    type: z.literal('end'),
    at,
    interrupted: z.boolean(),
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

/** The folder of the journals that belong to a state file. */
export function journalFolder(statePath: string): string {
  return join(dirname(statePath), 'runs');
}

/** Opens the journal of a new run and writes its first line. Throws what the file system throws. */
export async function createJournal(folder: string, first: RunLine): Promise<Journal> {
  await makeFolder(folder);
  const path = join(folder, `${first.run}.jsonl`);
  const file = await open(path, 'ax', 0o600);
  const journal = new FileJournal(file, 0);
  try {
    await journal.write(first);
    await syncFolder(folder);
  } catch (failure) {
    await journal.close();
    await rm(path, { force: true }).catch(() => {});
    throw failure;
  }
  return journal;
}

/**
 * Opens a journal that was left unfinished, to add what was found out; a line that was cut off goes.
 * Throws a ProblemsError (`locked`) where its process still writes it.
 */
export async function reopenJournal(folder: string, content: JournalContent): Promise<Journal> {
  if (isUnderWay(content)) throw underWay(content.run);
  const file = await open(join(folder, `${content.run.run}.jsonl`), 'r+');
  await file.truncate(content.bytes);
  await file.close();
  return new FileJournal(await open(join(folder, `${content.run.run}.jsonl`), 'a'), content.bytes);
}

/** A journal as it lies on the disk. */
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

/** The names of the runs that have a journal, oldest first. */
export async function listRuns(folder: string): Promise<string[]> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (failure) {
    if ((failure as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw unreadable(folder, failure instanceof Error ? failure.message : String(failure));
  }
  return names
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => name.slice(0, -'.jsonl'.length))
    .sort();
}

/**
 * Reads a run's journal. A last line that a crash cut off doesn't count, nor does a file without a whole first
 * line, which gives null: such a run sent nothing. Throws a ProblemsError where the content is no journal.
 */
export async function readJournal(folder: string, run: string): Promise<JournalContent | null> {
  const path = join(folder, `${run}.jsonl`);
  let text: string;
  try {
    text = await readRegular(path);
  } catch (failure) {
    throw unreadable(path, failure instanceof Error ? failure.message : String(failure));
  }
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  const [first, ...lines] = whole
    .split('\n')
    .slice(0, -1)
    .map((line, index) => parseLine(line, path, index + 1));
  if (first === undefined) return null;
  if (first.type !== 'run' || first.run !== run) throw unreadable(path, 'line 1 does not name this run');
  return { run: first, lines, bytes: Buffer.byteLength(whole), ended: lines.at(-1)?.type === 'end' };
}

/** Enough for the last line of a run that ended. */
const TAIL = 4096;

/** Whether the last whole line of a journal says that the run has ended, without reading all of it. */
export async function hasEnd(folder: string, run: string): Promise<boolean> {
  const file = await open(join(folder, `${run}.jsonl`), constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const { size } = await file.stat();
    const { buffer, bytesRead } = await file.read(Buffer.alloc(TAIL), 0, TAIL, Math.max(0, size - TAIL));
    const lines = buffer.subarray(0, bytesRead).toString('utf8').split('\n');
    return lines.pop() === '' && (lines.pop() ?? '').startsWith('{"type":"end"');
  } finally {
    await file.close();
  }
}

function parseLine(line: string, path: string, number: number): JournalLine {
  let data: unknown;
  try {
    data = parseJson(line);
  } catch {
    throw unreadable(path, `line ${number} is not JSON`);
  }
  const version = (data as { format_version?: unknown } | null)?.format_version;
  if (typeof version === 'number' && version > JOURNAL_FORMAT) {
    throw unreadable(path, `it has format ${version}, this idops knows formats up to ${JOURNAL_FORMAT}`);
  }
  const parsed = journalLineSchema.safeParse(data);
  if (parsed.success) return parsed.data;
  throw unreadable(path, `line ${number} is not a line of a journal`);
}

function unreadable(path: string, why: string): ProblemsError {
  return new ProblemsError([
    error(
      'journal-unreadable',
      `the journal ${relative(process.cwd(), path) || path} can't be used: ${why}`,
      [],
      'put a good copy back, or move it away; what it says of its run is then no longer known',
    ),
  ]);
}

/** Lines that come while the disk is busy are flushed together, so that one flush serves many requests. */
class FileJournal implements Journal {
  readonly #file: FileHandle;
  /** Where the last line ends that is surely on the disk. */
  #end: number;
  #broken: unknown;
  #waiting: { text: string; done: () => void; failed: (reason: unknown) => void }[] = [];
  #flushing: Promise<void> | undefined;

  constructor(file: FileHandle, end: number) {
    this.#file = file;
    this.#end = end;
  }

  write(line: JournalLine): Promise<void> {
    return new Promise((done, failed) => {
      this.#waiting.push({ text: `${stringifyJson(line)}\n`, done, failed });
      this.#flushing ??= this.#flush();
    });
  }

  async #flush(): Promise<void> {
    // The lines of one turn of the event loop go together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        if (this.#broken !== undefined) throw this.#broken;
        const text = batch.map((line) => line.text).join('');
        await this.#file.appendFile(text);
        await this.#file.datasync();
        this.#end += Buffer.byteLength(text);
        for (const { done } of batch) done();
      } catch (failure) {
        await this.#takeBack(failure);
        for (const { failed } of batch) failed(failure);
      }
    }
    this.#flushing = undefined;
  }

  /** A full disk can take a part of a line: nothing may come after that part, or the journal couldn't be read. */
  async #takeBack(failure: unknown): Promise<void> {
    try {
      await this.#file.truncate(this.#end);
    } catch {
      this.#broken = failure;
    }
  }

  async close(): Promise<void> {
    await this.#flushing;
    await this.#file.close();
  }
}
