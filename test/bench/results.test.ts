import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { markdown, type Run, terminal } from '../../bench/results.js';

/** A run of one scenario, whose rounds took idops and its floor so long; starting takes 40 and 20. */
function run(times: readonly (readonly [idops: number, floor: number])[], more: object = {}): Run {
  const rounds = times.map(([idops, floor]) => ({
    empty: { idops: { ms: 40 }, floor: { ms: 20 } },
    floors: { requests: { ms: floor, rss: 50, cpu: 100 } },
    idops: { ms: idops, rss: idops, cpu: 150 },
  }));
  const result = { name: 'apply', most: { beyond: 1.15 }, sent: [102], necessary: 102, rounds, ...more };
  return {
    date: '2026-01-31',
    version: '0.1.0',
    node: 'v20.19.0',
    machine: '2 × processor, 8 GB, Linux 6.1.0',
    load: 0.1,
    scenarios: { a: { title: 'apply some', results: [result] } },
  };
}

const rows = (page: string): string[] => page.split('\n').filter((line) => line.startsWith('| apply'));

describe('the table', () => {
  const first = run([
    [240, 120],
    [140, 120],
    [340, 120],
  ]);

  it('has the median, the least and the most of the ratios of each round, with and without the start', () => {
    expect(rows(markdown([first]))).toEqual([
      '| apply | requests | 1.15 beyond the start | 2.00 (1.17–2.83) | 2.00 (1.00–3.00) | 1.50 (1.50–1.50) | 240 MB | 102 |',
    ]);
    expect(terminal(first)).toContain('2.00 (1.17–2.83)  2.00 (1.00–3.00)');
  });

  it('tells no ratio beyond the start where the floor took no longer than a start', () => {
    expect(rows(markdown([run([[240, 20]])]))[0]).toContain('| 12.0 (12.0–12.0) | – |');
  });

  it('has the newest runs side by side, each with what it ran on', () => {
    const others = ['2026-02-01', '2026-02-02', '2026-02-03'].map((date) => ({ ...run([[180, 100]]), date }));
    const page = markdown([first, ...others]);
    expect(page).not.toContain('2026-01-31');
    expect(page).toContain(
      '- Run 1: 2026-02-01, idops 0.1.0, Node v20.19.0, 2 × processor, 8 GB, Linux 6.1.0; load 0.1 before it',
    );
    expect(page).toContain('- Run 3: 2026-02-03');
    expect(page).toContain('| in all, run 3 |');
    expect(rows(page)[0]?.match(/1\.75 \(1\.75–1\.75\)/g)).toHaveLength(3);
  });

  it('says of a quick run that it measured nothing', () => {
    expect(terminal({ ...first, quick: true })).toMatch(/^A quick run: .*\n\n\(a\) apply some\n/);
    expect(terminal(first)).toMatch(/^\(a\) apply some\n/);
  });
});

describe('npm run bench', () => {
  it.each([
    [['z'], 'there is no scenario z'],
    [['--repeats', '0'], '--repeats takes a number from 1 on'],
    [['--repeats', '1e1'], '--repeats takes a number from 1 on'],
    [['--quick', '--write'], 'a quick run measures nothing worth keeping'],
    [['--quick', '--repeats', '2'], 'a quick run measures once'],
    [['a', '--json', 'no/such/folder/a.json'], "--json no/such/folder/a.json can't be written: ENOENT"],
    [['--fast'], "Unknown option '--fast'"],
  ])('refuses %j', (args, reason) => {
    const { status, stderr } = spawnSync(process.execPath, ['bench/main.js', ...args], { encoding: 'utf8' });
    expect(stderr).toContain(reason);
    expect(stderr).toContain('npm run bench -- [SCENARIO ...]');
    expect(status).toBe(1);
  });

  it('says in a sentence that it has no folder to work in', () => {
    const { status, stderr } = spawnSync(process.execPath, ['bench/main.js', '--quick', 'e'], {
      encoding: 'utf8',
      env: { ...process.env, TMPDIR: '/no/such/folder' },
    });
    expect(stderr).toContain('(e) failed: ENOENT');
    expect(stderr).not.toContain('    at ');
    expect(status).toBe(1);
  });
});
