import { relative } from 'node:path';
import { stringifyJson } from '../base/json.js';
import type { RunStore, StateBackend } from './backend.js';
import { fileRuns } from './file/runs.js';
import {
  type Journal,
  type JournalContent,
  type JournalLine,
  type RunLine,
  withoutAnswer,
} from './journal.js';

/**
 * Adds a local buffer to a remote backend: journal lines that it can't take in the middle of a run are written to a folder, and brought
 * to it by the next run from here. Nothing new is started meanwhile. All states of a project share the folder, since a line belongs to
 * its run.
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
    const there = await base.read(run);
    const lines = there === null ? [] : await missing(there);
    if (there === null || lines.length === 0) return there;
    return { ...there, lines: [...there.lines, ...lines], ended: false, late: there.ended };
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
        const there = await base.read(run);
        if (there !== null && (await missing(there)).length > 0) found.push(run);
        // All lines had arrived, and the answer was lost.
        else if (there?.ended === true) await local.remove([run]);
      }
      return found;
    },
    async create(first) {
      return new BufferedJournal(await base.create(first), first, local, place);
    },
    async reopen(content) {
      const { run: first } = content;
      const there = (await base.read(first.run)) ?? content;
      const journal = await base.reopen(there);
      await Promise.all((await missing(there)).map((line) => journal.write(line)));
      return new BufferedJournal(journal, first, local, place);
    },
    async remove(runs) {
      await base.remove(runs);
      await forget(local, runs);
    },
  };
}

async function forget(local: RunStore, runs: readonly string[]): Promise<void> {
  const here = new Set(await local.list());
  await local.remove(runs.filter((run) => here.has(run)));
}

/** A journal whose lines are buffered while its backend can't be reached. */
class BufferedJournal implements Journal {
  readonly #base: Journal;
  readonly #first: RunLine;
  readonly #local: RunStore;
  readonly #place: string;
  /** The objects with a request under way: what was started is finished. */
  readonly #begun = new Set<string>();
  #kept: JournalLine[] = [];
  #keeping: Promise<Journal> | undefined;
  #bringing: Promise<void> | undefined;

  constructor(base: Journal, first: RunLine, local: RunStore, place: string) {
    this.#base = base;
    this.#first = first;
    this.#local = local;
    this.#place = place;
  }

  get kept(): string | null {
    return this.#kept.length === 0 ? null : this.#place;
  }

  async write(line: JournalLine): Promise<void> {
    // An answer doesn't wait for a backend that could not be reached a moment ago.
    if (this.#kept.length > 0 && line.type === 'answered') return await this.#keep(line);
    try {
      while (this.#kept.length > 0) await this.#bring();
      await this.#base.write(line);
    } catch (failure) {
      await this.#instead(line, failure);
    }
    if (line.type === 'sending') this.#begun.add(line.key);
    if (line.type === 'end') await forget(this.#local, [this.#first.run]);
  }

  /** Buffers a line that the backend didn't take. Throws if nothing may follow it. */
  async #instead(line: JournalLine, failure: unknown): Promise<void> {
    if (line.type === 'answered' || (line.type === 'sending' && this.#begun.has(line.key))) {
      return await this.#keep(line);
    }
    // The line may have arrived all the same: without this answer nobody would know that nothing was sent.
    if (line.type === 'sending') {
      const why = 'not sent: the journal could not be written';
      const answer = withoutAnswer(line.seq, new Date().toISOString(), 'skipped', why);
      await this.#keep(line, answer).catch(() => {});
    }
    throw failure;
  }

  async #keep(...lines: readonly JournalLine[]): Promise<void> {
    this.#keeping ??= this.#open();
    const journal = await this.#keeping;
    await Promise.all(lines.map((line) => journal.write(line)));
    this.#kept.push(...lines);
  }

  /** The buffer of the run, new or reopened. */
  async #open(): Promise<Journal> {
    const { run } = this.#first;
    const content = (await this.#local.list()).includes(run) ? await this.#local.read(run) : null;
    return await (content === null ? this.#local.create(this.#first) : this.#local.reopen(content));
  }

  /** Writes the buffered lines to the backend; those that ask meanwhile wait for the same. */
  async #bring(): Promise<void> {
    this.#bringing ??= this.#brought().finally(() => {
      this.#bringing = undefined;
    });
    await this.#bringing;
  }

  async #brought(): Promise<void> {
    const lines = [...this.#kept];
    await Promise.all(lines.map((line) => this.#base.write(line)));
    this.#kept = this.#kept.slice(lines.length);
  }

  async close(): Promise<void> {
    await this.#base.close();
    await (await this.#keeping)?.close();
  }
}
