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
  journalError,
  parseJournal,
  runningError,
} from '../journal.js';
import { withWriteErrors } from '../write-errors.js';

/** Bytes to read for the last line of an ended run. */
const TAIL_BYTES = 4096;

/** The journals in a folder, one file for each run. */
export function fileRuns(folder: string): RunStore {
  const pathOf = (run: string): string => join(folder, `${run}.jsonl`);
  return {
    list: async () => (await namesIn(folder)).filter(isJournalName),
    otherFiles: async () => (await namesIn(folder)).filter((name) => !isJournalName(name)),
    async read(run) {
      const path = relativePath(pathOf(run));
      const text = await readTextFile(pathOf(run)).catch((failure: unknown) => {
        throw journalError(path, systemErrorText(failure));
      });
      return parseJournal(text, run, path);
    },
    hasEnd: async (run) =>
      withFile(pathOf(run), (file, { size }) => {
        const buffer = Buffer.alloc(TAIL_BYTES);
        const length = readSync(file, buffer, 0, TAIL_BYTES, Math.max(0, size - TAIL_BYTES));
        const lines = buffer.subarray(0, length).toString('utf8').split('\n');
        return lines.pop() === '' && (lines.pop() ?? '').startsWith('{"type":"end"');
      }),
    buffered: async () => [],
    async create(first) {
      const path = pathOf(first.run);
      const file = await withWriteErrors(notWritten(path), async () => {
        await makeFolder(folder);
        return await open(path, 'ax', 0o600);
      });
      const journal = fileJournal(file, 0, path);
      try {
        await journal.write(first);
        await withWriteErrors(notWritten(path), () => syncFolder(folder));
      } catch (failure) {
        await journal.close();
        await rm(path, { force: true }).catch(() => {});
        throw failure;
      }
      return journal;
    },
    async reopen(content) {
      if (isRunning(content)) throw runningError(content.run);
      const path = pathOf(content.run.run);
      return await withWriteErrors(notWritten(path), async () => {
        const file = await open(path, 'r+');
        await file.truncate(content.bytes).finally(() => file.close());
        return fileJournal(await open(path, 'a'), content.bytes, path);
      });
    },
    /** Stops at the first that can't be removed. */
    async remove(runs) {
      for (const path of runs.map(pathOf))
        await withWriteErrors(`the journal ${relativePath(path)} can't be removed`, () =>
          rm(path, { force: true, recursive: true }),
        );
      if (runs.length > 0)
        await withWriteErrors(`the folder of journals ${relativePath(folder)} can't be written`, () =>
          syncFolder(folder),
        );
    },
  };
}

/** The names of journals without their extension, sorted: oldest first. */
async function namesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((failure: NodeJS.ErrnoException) => {
    if (failure.code === 'ENOENT') return [];
    throw problemError(
      'journal-unreadable',
      `the folder of journals ${relativePath(folder)} can't be read: ${systemErrorText(failure)}`,
      'it must be a readable folder: move away what is in its place, fix its permissions, or name another place with state.path',
    );
  });
  return names
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => name.slice(0, -'.jsonl'.length))
    .sort();
}

function relativePath(path: string): string {
  return relative(process.cwd(), path) || path;
}

function notWritten(path: string): string {
  return `the journal ${relativePath(path)} can't be written`;
}

/** A journal in a file that is open for appending. Its flushed lines end at `end`. */
function fileJournal(file: FileHandle, end: number, path: string): Journal {
  const unwrittenJournal = notWritten(path);
  let written = end;
  let broken: unknown;
  const append = async (lines: readonly string[]): Promise<void> => {
    if (broken !== undefined) throw broken;
    const text = lines.map((line) => `${line}\n`).join('');
    try {
      await file.appendFile(text);
      await file.datasync();
      written += Buffer.byteLength(text);
    } catch (failure) {
      // A full disk may have a part of a line. Any line after it would make the journal unreadable.
      await file.truncate(written).catch(() => {
        broken = failure;
      });
      throw failure;
    }
  };
  return batchedJournal(
    (lines) => withWriteErrors(unwrittenJournal, () => append(lines)),
    // Everything is flushed.
    () => file.close().catch(() => {}),
  );
}
