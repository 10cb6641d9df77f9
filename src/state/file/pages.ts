import { randomUUID } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { ownMark } from '../../base/process.js';
import { temporaryName } from '../../base/temporary.js';
import { LEFT, READS_FOR, type SharedPages, type SharedReading } from '../pages.js';

/** A reader, or a page that one asks for, or has. */
const entrySchema = z.object({
  reader: z.string(),
  /** Milliseconds since 1970, by the clock of this machine. */
  at: z.number(),
  /** The machine and its boot: another one has another clock. */
  machine: z.string(),
  text: z.string().optional(),
});

type Entry = z.infer<typeof entrySchema>;

/** The pages that shards share in files of a folder beside the state, as long as they read: for processes of one machine. */
export function pageFiles(state: string): SharedPages {
  const root = `${state}.pages`;
  const { host, boot } = ownMark();
  const machine = `${host} ${boot}`;

  const read = async (path: string): Promise<Entry | undefined> => {
    try {
      const entry = entrySchema.safeParse(JSON.parse(await readFile(path, 'utf8'))).data;
      return entry?.machine === machine ? entry : undefined;
    } catch {
      return undefined;
    }
  };

  return {
    async join(list, { index, count }) {
      const folder = join(root, `${list}-${count}`);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      // What is behind a link is somebody else's.
      for (const one of [root, folder]) if ((await lstat(one)).isSymbolicLink()) return null;
      const reader = randomUUID();
      const write = async (name: string, entry: Omit<Entry, 'reader' | 'machine'>): Promise<void> => {
        const temporary = join(folder, temporaryName());
        try {
          await writeFile(temporary, JSON.stringify({ ...entry, reader, machine }), { mode: 0o600 });
          await rename(temporary, join(folder, name));
        } catch (failure) {
          await rm(temporary, { force: true });
          throw failure;
        }
      };
      const since = Date.now();
      const pageFile = (page: number): string => `page-${page}.json`;
      await write(`reader-${index}.json`, { at: since });
      const readers = async (): Promise<[number, Entry][]> => {
        const numbers = (await readdir(folder)).flatMap((name) => {
          const [, number] = /^reader-(\d+)\.json$/.exec(name) ?? [];
          return number === undefined ? [] : [Number(number)];
        });
        const found = await Promise.all(
          numbers.map(async (number) => [number, await read(join(folder, `reader-${number}.json`))] as const),
        );
        const now = Date.now();
        return found
          .flatMap(([number, entry]): [number, Entry][] =>
            entry === undefined || entry.at <= now - READS_FOR ? [] : [[number, entry]],
          )
          .sort(([a], [b]) => a - b);
      };
      const reading: SharedReading = {
        readers: async () => (await readers()).map(([number]) => number),
        async claim(pages) {
          // Two that claim one page at the same moment both read it, which costs a request and nothing else.
          const claimed = await Promise.all(
            pages.map(async (page) => {
              const there = await read(join(folder, pageFile(page)));
              if (there !== undefined && there.at >= since && there.reader !== reader) return [];
              await write(pageFile(page), { at: Date.now() });
              return [page];
            }),
          );
          return claimed.flat();
        },
        async put(page, text) {
          const there = await read(join(folder, pageFile(page)));
          if (there?.reader === reader) await write(pageFile(page), { at: there.at, text });
        },
        async found(pages) {
          const entries = await Promise.all(
            pages.map(async (page) => [page, await read(join(folder, pageFile(page)))] as const),
          );
          return new Map(
            entries.flatMap(([page, entry]): [number, string][] =>
              entry?.text === undefined || entry.at < since ? [] : [[page, entry.text]],
            ),
          );
        },
        async leave() {
          if ((await read(join(folder, `reader-${index}.json`)))?.reader === reader)
            await rm(join(folder, `reader-${index}.json`), { force: true });
          if ((await readers()).length > 0) return;
          await rm(folder, { recursive: true, force: true });
          // Another list may be read at the same time; one that nobody has touched for long was left by those who were killed.
          for (const name of await readdir(root)) {
            const { mtimeMs } = await lstat(join(root, name));
            if (Date.now() - mtimeMs > LEFT) await rm(join(root, name), { recursive: true, force: true });
          }
          await rmdir(root).catch(() => {});
        },
      };
      return reading;
    },
  };
}
