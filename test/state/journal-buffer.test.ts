import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunStore, StateBackend } from '../../src/state/backend.js';
import { fileBackend } from '../../src/state/file/index.js';
import { fileRuns } from '../../src/state/file/runs.js';
import type { JournalLine } from '../../src/state/journal.js';
import { withJournalBuffer } from '../../src/state/journal-buffer.js';
import { emptyState } from '../../src/state/state.js';
import { temporaryFolder } from '../cleanups.js';
import { conforms } from './backends.js';
import { inFiles } from './file/place.js';
import { answer, at, runLine, sending as sendingLine, server } from './journal-lines.js';

const run = '20260131T120000Z-aaaaaa';
const state = emptyState(server);

const first = runLine(run, state, 'a.json');
const sending = (seq: number, key: string, last = true): JournalLine => ({
  ...sendingLine,
  seq,
  address: key,
  key,
  kind: 'Client',
  identity: { id: key },
  action: 'regenerate',
  operation: 'regenerateClientDid',
  method: 'POST',
  path: `/api/clients/${key}/regenerate-did`,
  last,
});
const answered = (seq: number, status: 'applied' | 'unknown' = 'applied'): JournalLine => ({
  ...answer,
  seq,
  status,
  ambiguous: status === 'unknown',
});
const end: JournalLine = { type: 'end', at, interrupted: false };

interface Place {
  readonly runs: RunStore;
  /** The journals of the backend itself, which are always reachable. */
  readonly there: RunStore;
  /** Whether the backend is reachable; `doubtful`: it writes, but then reports an error. */
  reach: 'yes' | 'no' | 'doubtful';
  kept(): Promise<string[]>;
}

async function place(): Promise<Place> {
  const folder = await temporaryFolder('kept');
  const backend = await fileBackend({ path: join(folder, 'a.json'), allowTracked: true });
  const { runs } = backend;
  const made: { reach: Place['reach'] } = { reach: 'yes' };
  const far =
    <A extends unknown[], R>(work: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (made.reach === 'no') throw new Error('out of reach');
      const done = await work(...args);
      if (made.reach === 'doubtful') throw new Error('out of reach');
      return done;
    };
  const journal = async (open: Promise<Awaited<ReturnType<RunStore['create']>>>) => {
    const opened = await open;
    return {
      bufferFolder: null,
      write: far((line: JournalLine) => opened.write(line)),
      close: () => opened.close(),
    };
  };
  const distant: StateBackend = {
    ...backend,
    runs: {
      ...runs,
      list: far(runs.list),
      read: far(runs.read),
      hasEnd: far(runs.hasEnd),
      create: far((line) => journal(runs.create(line))),
      reopen: far((content) => journal(runs.reopen(content))),
      remove: far(runs.remove),
    },
  };
  const here = join(folder, 'kept');
  return Object.assign(made, {
    runs: withJournalBuffer(distant, here).runs,
    there: runs,
    kept: () => readdir(here).catch(() => []),
  });
}

/** A place that failed (`no`), or wrote but reported an error (`doubtful`), when the only answer was written. */
async function withAnswer(reach: Place['reach']): Promise<Place> {
  const at = await place();
  const journal = await at.runs.create(first);
  await journal.write(sending(1, 'one'));
  at.reach = reach;
  await journal.write(answered(1));
  await journal.close();
  at.reach = 'yes';
  return at;
}

async function settle(runs: RunStore, ...lines: readonly JournalLine[]): Promise<void> {
  const content = await runs.read(run);
  if (content === null) throw new Error('no journal');
  const journal = await runs.reopen(content);
  for (const line of [...lines, end]) await journal.write(line);
  await journal.close();
}

conforms('file backend with a journal buffer', () =>
  inFiles((backend, folder, name) => withJournalBuffer(backend, join(folder, 'kept', name))),
);

describe('a journal whose backend is unreachable', () => {
  it('buffers answers, refuses new requests, and writes all lines before the run ends', async () => {
    const at = await place();
    const journal = await at.runs.create(first);
    await journal.write(sending(1, 'one'));
    at.reach = 'no';
    await journal.write(answered(1));
    expect(journal.bufferFolder).toContain('kept');
    await expect(journal.write(sending(2, 'two'))).rejects.toThrow('out of reach');
    await expect(journal.write(end)).rejects.toThrow('out of reach');
    await expect(at.runs.read(run)).rejects.toThrow('out of reach');
    at.reach = 'yes';
    expect((await at.there.read(run))?.lines).toEqual([sending(1, 'one')]);
    const refused = { ...answered(2), status: 'skipped', http_status: null, attempts: 0 };
    const whole = [
      sending(1, 'one'),
      answered(1),
      sending(2, 'two'),
      { ...refused, at: expect.any(String), error: expect.any(String) },
    ];
    expect(await at.runs.read(run)).toMatchObject({ lines: whole, ended: false, late: false });
    await journal.write(end);
    await journal.close();
    expect(await at.there.read(run)).toMatchObject({ lines: [...whole, end], ended: true });
    expect(await at.kept()).toEqual([]);
    expect(journal.bufferFolder).toBeNull();
  });

  it('continues in order as soon as the backend is reachable', async () => {
    const at = await place();
    const journal = await at.runs.create(first);
    await journal.write(sending(1, 'one'));
    at.reach = 'no';
    await journal.write(answered(1));
    at.reach = 'yes';
    await Promise.all([journal.write(sending(2, 'two')), journal.write(sending(3, 'three'))]);
    await journal.write(answered(3));
    await journal.write(answered(2));
    await journal.write(end);
    await journal.close();
    expect((await at.there.read(run))?.lines).toEqual([
      sending(1, 'one'),
      answered(1),
      sending(2, 'two'),
      sending(3, 'three'),
      answered(3),
      answered(2),
      end,
    ]);
    expect(await at.kept()).toEqual([]);
  });

  it('buffers the second request of a change that has begun', async () => {
    const at = await place();
    const journal = await at.runs.create(first);
    await journal.write(sending(1, 'one', false));
    at.reach = 'no';
    await journal.write(answered(1));
    await journal.write(sending(2, 'one'));
    await journal.write(answered(2));
    await journal.close();
    at.reach = 'yes';
    expect((await at.runs.read(run))?.lines).toEqual([
      sending(1, 'one', false),
      answered(1),
      sending(2, 'one'),
      answered(2),
    ]);
  });

  it('has a line once if it was written although the backend reported an error', async () => {
    const at = await withAnswer('doubtful');
    expect((await at.runs.read(run))?.lines).toEqual([sending(1, 'one'), answered(1)]);
    await settle(at.runs);
    expect((await at.there.read(run))?.lines).toEqual([sending(1, 'one'), answered(1), end]);
    expect(await at.kept()).toEqual([]);
  });

  it('is removed from the buffer once the run is settled, if the backend has all its lines', async () => {
    const at = await withAnswer('doubtful');
    expect(await at.runs.buffered()).toEqual([]);
    expect(await at.kept()).toHaveLength(1);
    await settle(at.there);
    expect(await at.runs.buffered()).toEqual([]);
    expect(await at.kept()).toEqual([]);
  });

  it('is not ended if it was settled without its buffered lines', async () => {
    const at = await withAnswer('no');
    await settle(at.there, answered(1, 'unknown'));
    expect(await at.runs.buffered()).toEqual([run]);
    expect(await at.runs.hasEnd(run)).toBe(false);
    expect(await at.runs.read(run)).toMatchObject({
      lines: [sending(1, 'one'), answered(1, 'unknown'), end, answered(1)],
      ended: false,
      late: true,
    });
    await settle(at.runs);
    expect(await at.there.read(run)).toMatchObject({ ended: true });
    expect([await at.runs.buffered(), await at.runs.hasEnd(run)]).toEqual([[], true]);
  });
});

describe('buffered lines of a state whose place was renamed', () => {
  /** The same state in another place, with the run that began, and a buffered line of it. */
  async function moved(lineage = state.lineage) {
    const folder = await temporaryFolder('kept');
    const local = fileRuns(join(folder, 'kept'));
    const kept = await local.create({ ...first, state: { file: 'a.json', lineage } });
    await kept.write(answered(1));
    await kept.close();
    const backend = await fileBackend({ path: join(folder, 'b.json'), allowTracked: true });
    await backend.save(state);
    const journal = await backend.runs.create(first);
    for (const line of [sending(1, 'one'), end]) await journal.write(line);
    await journal.close();
    return { runs: withJournalBuffer(backend, join(folder, 'kept')).runs, local, backend };
  }

  it('are written to the backend, then removed from the buffer', async () => {
    const { runs, local } = await moved();
    expect(await runs.buffered()).toEqual([run]);
    const content = await runs.read(run);
    expect(content).toMatchObject({ ended: false, late: true });
    expect(content?.lines).toEqual([sending(1, 'one'), end, answered(1)]);
    await settle(runs);
    expect(await runs.buffered()).toEqual([]);
    expect(await local.list()).toEqual([]);
  });

  it('stay buffered if they belong to another state or to an unknown run', async () => {
    const other = await moved('another');
    expect(await other.runs.read(run)).toMatchObject({ lines: [sending(1, 'one'), end], ended: true });
    const unknown = await moved();
    await unknown.backend.runs.remove([run]);
    expect(await unknown.runs.buffered()).toEqual([]);
    expect(await unknown.local.list()).toEqual([run]);
  });
});
