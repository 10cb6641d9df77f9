import { describe, expect, test } from 'vitest';
import type { JournalLine } from '../../src/state/journal.js';
import { emptyState, type State } from '../../src/state/state.js';
import type { BackendPlace } from './backend-place.js';
import { answer, at, runLine, server } from './journal-lines.js';
import { racesOfShards } from './shards.js';

/** What every state backend must do if several processes use it at the same time. */
export function races(kind: string, place: () => Promise<BackendPlace>): void {
  describe(`${kind}: concurrent use`, () => {
    test('readers see the old state or the new one while it is written', async () => {
      const here = await place();
      const state = emptyState(server);
      const version = (serial: number): State => ({
        ...state,
        serial,
        resources: Object.fromEntries(
          Array.from({ length: 40 }, (_, index) => [
            `User/${index}`,
            {
              kind: 'User' as const,
              identity: { id: String(index) },
              recorded_at: at,
              run: String(serial),
              managed: [],
              fields: { group: `${serial}`.repeat(100) },
              hashes: {},
            },
          ]),
        ),
      });
      const [writer, reader] = [await here.open('a'), await here.open('a')];
      await writer.save(version(1));
      let writing = true;
      const read = async (): Promise<void> => {
        while (writing) {
          const found = await reader.saved();
          expect(found).toEqual(version(found?.serial ?? 0));
        }
      };
      const reading = read();
      for (let serial = 2; serial <= 8; serial += 1) await writer.save(version(serial));
      writing = false;
      await reading;
      expect(await (await here.open('a')).saved()).toEqual(version(8));
    });

    test('one of several processes gets the lock', async () => {
      const here = await place();
      const wanted = Array.from({ length: 12 }, async () =>
        (await here.open('a')).lock('apply', new Date(at)),
      );
      const got = (await Promise.allSettled(wanted)).filter(({ status }) => status === 'fulfilled');
      expect(got).toHaveLength(1);
    });

    test('runs of several states are written at the same time, each with all its lines in order', async () => {
      const here = await place();
      const state = emptyState(server);
      const names = ['a', 'b', 'c'];
      const runOf = (name: string): string => `20260131T12000${names.indexOf(name)}Z-aaaaaa`;
      const linesOf = (name: string): JournalLine[] =>
        Array.from({ length: 30 }, (_, index) => ({ ...answer, seq: index, error: `${name} ${index}` }));
      await Promise.all(
        names.map(async (name) => {
          const journal = await (await here.open(name)).runs.create(runLine(runOf(name), state, name));
          const lines = linesOf(name);
          await Promise.all(lines.slice(0, 20).map((line) => journal.write(line)));
          for (const line of lines.slice(20)) await journal.write(line);
          await journal.close();
        }),
      );
      for (const name of names)
        expect((await (await here.open('a')).runs.read(runOf(name)))?.lines).toEqual(linesOf(name));
    });
  });

  racesOfShards(kind, place);
}
