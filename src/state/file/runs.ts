import { readSync } from 'node:fs';
import { type FileHandle, open, readdir, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { problemError } from '../../base/problems.js';
import { readTextFile, withFile } from '../../base/read-file.js';
import { isJournalName } from '../../base/shard.js';
import { systemErrorText } from '../../base/system-errors.js';
import { makeFolder, syncFolder } from '../../base/write-file.js';
import type { RunStore } from '../backend.js';
import {
  batchedJournal,
  isRunning,
  type Journal,
  type JournalContent,
  journalError,
  parseJournal,
  type RunLine,
  stillRunning,
} from '../journal.js';
import { withWriteErrors } from '../write-errors.js';

/** The journals in a folder, one file of lines for each run. */
export function fileRuns(folder: string): RunStore {
  return {
    list: async () => (await namesIn(folder)).filter(isJournalName),
    otherFiles: async () => (await namesIn(folder)).filter((name) => !isJournalName(name)),
    read: (run) => readJournal(folder, run),
    hasEnd: (run) => hasEnd(folder, run),
    buffered: async () => [],
    create: (first) => createJournal(folder, first),
    reopen: (content) => reopenJournal(folder, content),
    remove: (runs) => removeJournals(folder, runs),
  };
}

async function createJournal(folder: string, first: RunLine): Promise<Journal> {
  const path = join(folder, `${first.run}.jsonl`);
  const file = await withWriteErrors(unwritten(path), async () => {
    await makeFolder(folder);
    return await open(path, 'ax', 0o600);
  });
  const journal = fileJournal(file, 0, path);
  try {
    await journal.write(first);
    await withWriteErrors(unwritten(path), () => syncFolder(folder));
  } catch (failure) {
    await journal.close();
    await rm(path, { force: true }).catch(() => {});
    throw failure;
  }
  return journal;
}

async function reopenJournal(folder: string, content: JournalContent): Promise<Journal> {
  if (isRunning(content)) throw stillRunning(content.run);
  const path = join(folder, `${content.run.run}.jsonl`);
  return await withWriteErrors(unwritten(path), async () => {
    const file = await open(path, 'r+');
    await file.truncate(content.bytes).finally(() => file.close());
    return fileJournal(await open(path, 'a'), content.bytes, path);
  });
}

/** The names with the ending of a journal, without it, sorted: oldest first. */
async function namesIn(folder: string): Promise<string[]> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (failure) {
    if ((failure as NodeJS.ErrnoException).code === 'ENOENT') return [];
    const shown = relative(process.cwd(), folder) || folder;
    throw problemError(
      'journal-unreadable',
      `the folder of journals ${shown} can't be read: ${systemErrorText(failure)}`,
      'it has to be a folder that can be read: move what is in its place away, mend its permissions, or name another place with state.path',
    );
  }
  return names
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => name.slice(0, -'.jsonl'.length))
    .sort();
}

async function readJournal(folder: string, run: string): Promise<JournalContent | null> {
  const path = join(folder, `${run}.jsonl`);
  let text: string;
  try {
    text = await readTextFile(path);
  } catch (failure) {
    throw journalError(shownPath(path), systemErrorText(failure));
  }
  return parseJournal(text, run, shownPath(path));
}

/** Bytes that hold the last line of a run that ended. */
const TAIL = 4096;

async function hasEnd(folder: string, run: string): Promise<boolean> {
  return withFile(join(folder, `${run}.jsonl`), (file, { size }) => {
    const buffer = Buffer.alloc(TAIL);
    const length = readSync(file, buffer, 0, TAIL, Math.max(0, size - TAIL));
    const lines = buffer.subarray(0, length).toString('utf8').split('\n');
    return lines.pop() === '' && (lines.pop() ?? '').startsWith('{"type":"end"');
  });
}

function shownPath(path: string): string {
  return relative(process.cwd(), path) || path;
}

/** Throws a ProblemsError (`not-writable`) for the first that can't be removed; the others stay. */
async function removeJournals(folder: string, runs: readonly string[]): Promise<void> {
  for (const path of runs.map((run) => join(folder, `${run}.jsonl`)))
    await withWriteErrors(`the journal ${shownPath(path)} can't be removed`, () =>
      rm(path, { force: true, recursive: true }),
    );
  if (runs.length > 0)
    await withWriteErrors(`the folder of journals ${shownPath(folder)} can't be written`, () =>
      syncFolder(folder),
    );
}

function unwritten(path: string): string {
  return `the journal ${shownPath(path)} can't be written`;
}

/** A journal in a file that is open for appending, whose flushed lines end at `end`. */
function fileJournal(file: FileHandle, end: number, path: string): Journal {
  let written = end;
  let broken: unknown;
  const put = async (lines: readonly string[]): Promise<void> => {
    if (broken !== undefined) throw broken;
    const text = lines.map((line) => `${line}\n`).join('');
    try {
      await file.appendFile(text);
      await file.datasync();
      written += Buffer.byteLength(text);
    } catch (failure) {
      // A full disk can take a part of a line: nothing may follow that part, or the journal couldn't be read.
      await file.truncate(written).catch(() => {
        broken = failure;
      });
      throw failure;
    }
  };
  return batchedJournal(
    (lines) => withWriteErrors(unwritten(path), () => put(lines)),
    // Everything is flushed.
    () => file.close().catch(() => {}),
  );
}
