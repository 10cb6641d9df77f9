import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readOrganizations } from '../../src/kinds/organizations.js';
import type { Organization } from '../../src/server/answers.js';
import type { Reader } from '../../src/server/reader.js';
import { sharedReader } from '../../src/session/shared-reader.js';
import { pageFiles } from '../../src/state/file/pages.js';
import type { SharedPages } from '../../src/state/pages.js';
import { afterwards } from '../cleanups.js';

const SIZE = 3;

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'idops-pages-'));
  // Readers say that they leave, and what they read, when what they read is known already.
  afterwards(() => rm(folder, { recursive: true, force: true, maxRetries: 100, retryDelay: 10 }));
  return folder;
}

async function shelf(): Promise<SharedPages> {
  return pageFiles(join(await emptyFolder(), 'state.json'));
}

/** A server with so many organizations, and which of its pages were asked for. */
class Server {
  readonly asked: number[] = [];
  /** What happens before a page is answered. */
  before: (page: number) => Promise<void> | void = () => {};
  organizations: Organization[];

  constructor(count: number) {
    this.organizations = Array.from({ length: count }, (_, index) => ({
      id: `id-${index}`,
      name: `organization ${index}`,
      label: null,
    }));
  }

  get reader(): Reader {
    const unasked = () => Promise.reject(new Error('nobody asked for this'));
    return {
      listOrganizations: async (page, wanted = () => true) => {
        if (!wanted()) throw new Error(`page ${page} is no longer wanted`);
        this.asked.push(page);
        await this.before(page);
        return {
          organizations: this.organizations.slice((page - 1) * SIZE, page * SIZE),
          pageNumber: page,
          pageSize: SIZE,
          totalPages: Math.ceil(this.organizations.length / SIZE),
          totalEntries: this.organizations.length,
        };
      },
      showTemplate: unasked,
      showExtra: unasked,
      listExtra: unasked,
    };
  }
}

interface Part {
  readonly index?: number;
  readonly count?: number;
  readonly signal?: AbortSignal;
}

function part(
  server: Server,
  pages: SharedPages,
  { index = 1, count = 3, signal = new AbortController().signal }: Part = {},
): Reader {
  return sharedReader(server.reader, {
    pages,
    list: 'l',
    shard: { index, count },
    concurrency: 10,
    signal,
  });
}

/** The names that a reader lists. */
async function listed(reader: Reader): Promise<unknown[]> {
  return (await readOrganizations(reader)).rows().map(({ name }) => name);
}

const namesOf = ({ organizations }: Server): unknown[] =>
  organizations.toSorted((a, b) => (String(a.id) < String(b.id) ? -1 : 1)).map(({ name }) => name);
const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);
const inOrder = (numbers: readonly number[]): number[] => numbers.toSorted((a, b) => a - b);

describe('a list that several shards read', () => {
  it('is shared out among those that read it at the same time', async () => {
    const [server, pages] = [new Server(60), await shelf()];
    // Nobody goes on before all have begun, and all wait for the others, and for their pages, as long as this takes.
    let begun = 0;
    server.before = async (page) => {
      if (page === 1) begun += 1;
      while (begun < 3) await new Promise((done) => setTimeout(done, 5));
      await new Promise((done) => setTimeout(done, 2_000));
    };
    const readers = [1, 2, 3].map((index) => part(server, pages, { index }));
    for (const names of await Promise.all(readers.map(listed))) expect(names).toEqual(namesOf(server));
    expect(inOrder(server.asked)).toEqual([1, 1, ...upTo(20)]);
  });

  it('leaves nothing where it was shared', async () => {
    const folder = await emptyFolder();
    const [server, pages] = [new Server(30), pageFiles(join(folder, 'state.json'))];
    const killed = await pages.join('l', { index: 2, count: 2 });
    await killed?.claim([2, 3]);
    await Promise.all([1, 2].map((index) => listed(part(server, pages, { index, count: 2 }))));
    while ((await readdir(folder)).length > 0) await new Promise((done) => setTimeout(done, 5));
    expect(await readdir(folder)).toEqual([]);
  });

  it('is read as it is then, where it is read again', async () => {
    const [server, pages] = [new Server(30), await shelf()];
    const reader = part(server, pages);
    await listed(reader);
    server.organizations = server.organizations.map((one) => ({ ...one, name: `${one.name} Ltd` }));
    server.asked.length = 0;
    expect(await listed(reader)).toEqual(namesOf(server));
    expect(inOrder(server.asked)).toEqual(upTo(10));
  });

  it('is read whole by one that is alone, also after another one was there', async () => {
    const [server, pages] = [new Server(30), await shelf()];
    expect(await listed(part(server, pages))).toEqual(namesOf(server));
    server.organizations = server.organizations.map((one) => ({ ...one, name: `${one.name} Ltd` }));
    expect(await listed(part(server, pages, { index: 2 }))).toEqual(namesOf(server));
    expect(inOrder(server.asked)).toEqual(inOrder([...upTo(10), ...upTo(10)]));
  });

  it('is read by the others where one that reads it is killed', async () => {
    const [server, pages] = [new Server(30), await shelf()];
    // It joins while the other one waits for it, says what it asks for, and isn't heard of any more.
    server.before = async (page) => {
      if (page !== 1) return;
      const killed = await pages.join('l', { index: 2, count: 2 });
      setTimeout(() => void killed?.claim([3, 5, 7, 9]).catch(() => {}), 50);
    };
    expect(await listed(part(server, pages, { count: 2 }))).toEqual(namesOf(server));
    expect(inOrder(server.asked)).toEqual(upTo(10));
  });

  it('is read whole where the others can not be heard, or say what is no page', async () => {
    const spoilt = (
      pages: SharedPages,
      how: 'join' | 'found' | 'put' | 'claim' | 'none' | 'text',
    ): SharedPages => ({
      async join(list, shard) {
        if (how === 'none') return null;
        if (how === 'join') throw new Error('out of reach');
        const reading = await pages.join(list, shard);
        if (reading === null) return null;
        const failing = { [how]: () => Promise.reject(new Error('out of reach')) };
        const text = {
          found: async (wanted: readonly number[]) => new Map(wanted.map((page) => [page, '{}'])),
        };
        return { ...reading, claim: async () => [], ...(how === 'text' ? text : failing) };
      },
    });
    for (const how of ['join', 'found', 'put', 'claim', 'none', 'text'] as const) {
      const server = new Server(30);
      expect(await listed(part(server, spoilt(await shelf(), how))), how).toEqual(namesOf(server));
      expect(inOrder(server.asked), how).toEqual(upTo(10));
    }
  });

  it('fails as it does otherwise, and asks for nothing more then', async () => {
    const [server, pages] = [new Server(300), await shelf()];
    server.before = (page) => {
      if (page === 4) throw new Error('no page 4');
    };
    await expect(listed(part(server, pages, { count: 2 }))).rejects.toThrow('no page 4');
    const asked = server.asked.length;
    await new Promise((done) => setTimeout(done, 100));
    expect(server.asked.length).toBe(asked);
    // The next one reads what this one left.
    server.before = () => {};
    expect(await listed(part(server, pages, { index: 2, count: 2 }))).toEqual(namesOf(server));
  });

  it('is waited for no longer where it is interrupted', async () => {
    const [server, pages] = [new Server(30), await shelf()];
    const stop = new AbortController();
    const held = await pages.join('l', { index: 2, count: 2 });
    server.before = (page) => {
      if (page === 2) setTimeout(() => stop.abort(), 20);
    };
    // It says that it will ask for all of it, again and again.
    const claiming = setInterval(() => void held?.claim(upTo(10)).catch(() => {}), 5);
    afterwards(() => clearInterval(claiming));
    await listed(part(server, pages, { count: 2, signal: stop.signal }));
    expect(inOrder(server.asked)).toEqual(upTo(10));
  });

  it('is not shared out where there is nothing to ask for to some of them', async () => {
    const server = new Server(3 * SIZE);
    const pages: SharedPages = { join: () => Promise.reject(new TypeError('nobody is to be told')) };
    let joined = false;
    const watched: SharedPages = {
      join: (list, shard) => {
        joined = true;
        return pages.join(list, shard);
      },
    };
    expect(await listed(part(server, watched))).toEqual(namesOf(server));
    expect(joined).toBe(false);
    expect(await listed(part(server, watched, { count: 2 }))).toEqual(namesOf(server));
    expect(joined).toBe(true);
  });
});
