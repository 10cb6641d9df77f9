import { relative } from 'node:path';
import { stringifyJson } from '../base/json.js';
import type { RunStore, StateBackend } from './backend.js';
import { fileRuns } from './file/runs.js';
import {
  type Journal,
  type JournalContent,
  type JournalLine,
  type RunLine,
  unansweredLine,
} from './journal.js';

/**
 * Adds a local buffer to a remote backend: if it can't be reached during a run, journal lines are written to a folder, and the next run
 * from here uploads them. No new change is sent meanwhile. All states of a project share the folder, since a line belongs to its run.
 */
export function withJournalBuffer(backend: StateBackend, folder: string): StateBackend {
  return { ...backend, runs: bufferedRuns(backend.runs, folder) };
}

function bufferedRuns(base: RunStore, folder: string): RunStore {
  const local = fileRuns(folder);
  const place = relative(process.cwd(), folder) || folder;
  /** The buffered lines that a journal doesn't have. */
  const missing = async ({ run: { run, state }, lines }: JournalContent): Promise<readonly JournalLine[]> => {
    const here = (await local.list()).includes(run) ? await local.read(run) : null;
    if (here?.run.state.lineage !== state.lineage) return [];
    const known = new Set(lines.map((line) => stringifyJson(line)));
    return here.lines.filter((line) => !known.has(stringifyJson(line)));
  };
  const read = async (run: string): Promise<JournalContent | null> => {
    const remote = await base.read(run);
    const lines = remote === null ? [] : await missing(remote);
    if (remote === null || lines.length === 0) return remote;
    return { ...remote, lines: [...remote.lines, ...lines], ended: false, late: remote.ended };
  };
  return {
    ...base,
    read,
    hasEnd: async (run) =>
      (await local.list()).includes(run) ? (await read(run))?.ended === true : await base.hasEnd(run),
    async buffered() {
      const here = await local.list();
      const known = new Set(here.length === 0 ? [] : await base.list());
      const found: string[] = [];
      for (const run of here.filter((name) => known.has(name))) {
        const remote = await base.read(run);
        if (remote !== null && (await missing(remote)).length > 0) found.push(run);
        // All lines had arrived; only the backend's answer was lost.
        else if (remote?.ended === true) await local.remove([run]);
      }
      return found;
    },
    async create(first) {
      return new BufferedJournal(await base.create(first), first, local, place);
    },
    async reopen(content) {
      const { run: first } = content;
      const remote = (await base.read(first.run)) ?? content;
      const journal = await base.reopen(remote);
      await Promise.all((await missing(remote)).map((line) => journal.write(line)));
      return new BufferedJournal(journal, first, local, place);
    },
    async remove(runs) {
      await base.remove(runs);
      await removeLocal(local, runs);
    },
  };
}

async function removeLocal(local: RunStore, runs: readonly string[]): Promise<void> {
  const here = new Set(await local.list());
  await local.remove(runs.filter((run) => here.has(run)));
}

/** A journal that buffers lines while the backend can't be reached. */
class BufferedJournal implements Journal {
  readonly #base: Journal;
  readonly #first: RunLine;
  readonly #local: RunStore;
  readonly #place: string;
  /** The objects with a first request: their changes are finished. */
  readonly #begun = new Set<string>();
  #buffered: JournalLine[] = [];
  #bufferJournal: Promise<Journal> | undefined;
  #uploading: Promise<void> | undefined;

  constructor(base: Journal, first: RunLine, local: RunStore, place: string) {
    this.#base = base;
    this.#first = first;
    this.#local = local;
    this.#place = place;
  }

  get bufferFolder(): string | null {
    return this.#buffered.length === 0 ? null : this.#place;
  }

  async write(line: JournalLine): Promise<void> {
    // The backend could not be reached a moment ago, and an answer must not wait for it.
    if (this.#buffered.length > 0 && line.type === 'answered') return await this.#buffer(line);
    try {
      while (this.#buffered.length > 0) await this.#upload();
      await this.#base.write(line);
    } catch (failure) {
      await this.#bufferOrThrow(line, failure);
    }
    if (line.type === 'sending') this.#begun.add(line.key);
    if (line.type === 'end') await removeLocal(this.#local, [this.#first.run]);
  }

  /** Buffers a line after a failure of the backend, or throws the failure if the line starts something new. */
  async #bufferOrThrow(line: JournalLine, failure: unknown): Promise<void> {
    if (line.type === 'answered' || (line.type === 'sending' && this.#begun.has(line.key))) {
      return await this.#buffer(line);
    }
    // The line may have arrived, so an answer records that nothing was sent.
    if (line.type === 'sending') {
      const why = 'not sent: the journal could not be written';
      const answer = unansweredLine(line.seq, new Date().toISOString(), 'skipped', why);
      await this.#buffer(line, answer).catch(() => {});
    }
    throw failure;
  }

  async #buffer(...lines: readonly JournalLine[]): Promise<void> {
    this.#bufferJournal ??= this.#openBuffer();
    const journal = await this.#bufferJournal;
    await Promise.all(lines.map((line) => journal.write(line)));
    this.#buffered.push(...lines);
  }

  /** The buffer of the run, new or reopened. */
  async #openBuffer(): Promise<Journal> {
    const { run } = this.#first;
    const content = (await this.#local.list()).includes(run) ? await this.#local.read(run) : null;
    return await (content === null ? this.#local.create(this.#first) : this.#local.reopen(content));
  }

  /** Uploads the buffered lines; concurrent calls share one upload. */
  async #upload(): Promise<void> {
    this.#uploading ??= this.#uploadLines().finally(() => {
      this.#uploading = undefined;
    });
    await this.#uploading;
  }

  async #uploadLines(): Promise<void> {
    const lines = [...this.#buffered];
    await Promise.all(lines.map((line) => this.#base.write(line)));
    this.#buffered = this.#buffered.slice(lines.length);
  }

  async close(): Promise<void> {
    await this.#base.close();
    await (await this.#bufferJournal)?.close();
  }
}
