import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { gitBackend } from '../../../src/state/git/index.js';
import { emptyState } from '../../../src/state/state.js';
import { conforms } from '../backends.js';
import { line, recordOf, runLine } from '../postgres/lines.js';
import { races } from '../races.js';
import { conforming, overFile, overHttp } from './place.js';

conforms('git backend over HTTP', conforming(overHttp));
races('git backend', conforming(overFile));
races('git backend over HTTP', conforming(overHttp));

it('a branch keeps states that are saved at the same time', async () => {
  const { open } = await overFile();
  const states = Array.from({ length: 6 }, (_, index) => ({
    ...emptyState('https://id.example.com'),
    serial: index,
  }));
  await Promise.all(states.map((state, index) => open(`s${index}`).save(state)));
  const found = await Promise.all(states.map((_, index) => open(`s${index}`).saved()));
  expect(found).toEqual(states);
});

describe('a state on a branch', () => {
  it.each(['full', 'shallow'])(
    'keeps what shards merge and journal at the same time, in %s clones',
    async (how) => {
      const { bare, open } = await overFile();
      const runs = [1, 2, 3].map((index) => `20260131T120000Z-aaaaaa.${index}-of-3`);
      const state = { ...emptyState('https://id.example.com'), shards: { count: 3, parts: {} } };
      for (const serial of [0, 1, 2]) await open('a').save({ ...state, serial });
      const lines = Array.from({ length: 6 }, (_, index) => line(index + 1));
      await Promise.all(
        runs.map(async (run, index) => {
          const root = `${bare}-${index}`;
          const depth = how === 'shallow' ? ['--depth=1'] : [];
          const from = ['--branch=idops-state', `file://${bare}`, root];
          execFileSync('git', ['clone', '--quiet', ...depth, ...from], { stdio: 'ignore' });
          const backend = gitBackend({ root, remote: 'origin', branch: 'idops-state', path: 'a.json' });
          const lock = await backend.lock('apply', new Date(), { index: index + 1, count: 3 });
          const journal = await backend.runs.create(runLine(run, state));
          const merging = (async () => {
            for (const id of [1, 2, 3].map((number) => `${index}-${number}`)) {
              const records = new Map([[`User/${id}`, recordOf(id)]]);
              await backend.merge({ records, head: (head) => ({ ...head, serial: head.serial + 1 }) });
            }
          })();
          for (const one of lines) await journal.write(one);
          await Promise.all([merging, journal.close()]);
          await lock.confirm();
          await lock.release();
        }),
      );
      const found = await open('a').saved();
      expect(found?.serial).toBe(2 + 9);
      expect(Object.keys(found?.resources ?? {})).toHaveLength(9);
      for (const run of runs) expect((await open('a').runs.read(run))?.lines).toEqual(lines);
      const log = execFileSync('git', ['log', '--format=%s', 'idops-state'], { cwd: bare, encoding: 'utf8' });
      expect(log).toContain('idops: a.json, serial 11\n');
    },
  );
});
