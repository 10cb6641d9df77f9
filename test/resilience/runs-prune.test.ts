import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ids } from '../demo-ids.js';
import { journals, project, type TestProject } from '../e2e/running.js';

const acme = (label: string): string => `kind: Organization\nname: acme\nlabel: ${label}\n`;
const nameOf = (path: string): string => path.replace(/^.*\//, '').replace('.jsonl', '');
const day = 86_400_000;

/** A project with a run for each label, the oldest first. */
async function runsOf(...labels: string[]): Promise<{ at: TestProject; names: string[] }> {
  const at = await project({});
  for (const label of labels) {
    await at.write({ 'manifests/all.yaml': acme(label) });
    expect((await at.idops('apply --yes')).code).toBe(0);
  }
  return { at, names: await left(at) };
}

const left = async (at: TestProject): Promise<string[]> =>
  journals(await at.files())
    .sort()
    .map(nameOf);

/** Makes every line of a journal older by the given number of days; its name stays. */
async function age(at: TestProject, name: string, days: number): Promise<void> {
  const path = join('.idops/runs', `${name}.jsonl`);
  const older = (await at.read(path)).replace(/"at":"([^"]+)"/g, (_, time: string) =>
    JSON.stringify({ at: new Date(Date.parse(time) - days * day).toISOString() }).slice(1, -1),
  );
  await at.write({ [path]: older });
}

describe('idops runs prune', () => {
  it('removes journals older than --keep, and lists them', async () => {
    const { at, names } = await runsOf('One', 'Two', 'Three');
    const [first = '', second = '', third = ''] = names;
    await age(at, first, 91);
    await age(at, second, 89);
    const { code, stdout, stderr } = await at.idops('runs prune --keep 90d --yes');
    expect(code).toBe(0);
    expect(stdout).toContain(first);
    expect(stdout).toContain('1 journal removed, 2 kept.');
    expect(stderr).toBe('');
    expect(await left(at)).toEqual([second, third]);
    expect((await at.idops('plan --detailed-exitcode')).code).toBe(0);
    expect((await at.idops('apply --yes')).code).toBe(0);
  });

  it('keeps the newest journals with --keep-last, and what either option keeps', async () => {
    const { at, names } = await runsOf('One', 'Two', 'Three', 'Four');
    for (const name of names) await age(at, name, 100);
    expect((await at.idops('runs prune --keep 90d --keep-last 3 --yes')).code).toBe(0);
    expect(await left(at)).toEqual(names.slice(1));
    const { stdout } = await at.idops('runs prune --keep-last 2 --yes --format json');
    expect(JSON.parse(stdout)).toEqual({
      format_version: 1,
      removed: [{ run: names[1], command: 'apply', at: expect.any(String) }],
      kept: names.slice(2).map((run) => expect.objectContaining({ run, reason: null })),
    });
  });

  it('keeps the newest run in the state, a killed one, and one that a restored state lacks', async () => {
    const { at, names } = await runsOf('One');
    const before = await at.read('.idops/state.json');
    await at.write({ 'manifests/all.yaml': acme('Two') });
    await at.idops('apply --yes');
    const [first = '', second = ''] = await left(at);
    expect(first).toBe(names[0]);
    for (const name of [first, second]) await age(at, name, 100);
    await at.write({ '.idops/state.json': before });
    const older = await at.idops('runs prune --keep 0d --yes');
    expect(older).toMatchObject({ code: 0, stdout: '0 journals removed, 2 kept.\n' });
    expect(older.stderr).toContain(`Run ${first} is kept: it is the newest in the state.`);
    expect(older.stderr).toContain(`Run ${second} is kept: it is not in the state yet.`);
    const path = `.idops/runs/${first}.jsonl`;
    const lines = (await at.read(path)).trimEnd().split('\n');
    await at.write({ [path]: `${lines.slice(0, -1).join('\n')}\n` });
    expect((await at.idops('runs prune --keep 0d --yes')).stderr).toContain(
      `Run ${first} is kept: it has not ended.`,
    );
    expect(await left(at)).toEqual([first, second]);
  });

  it('keeps a run with an unsettled regeneration', async () => {
    const post = /regenerate_did$/;
    const at = await project(
      { 'manifests/all.yaml': acme('One') },
      { intercept: ({ path }) => (post.test(path) ? { kind: 'answer', status: 502 } : undefined) },
    );
    expect((await at.idops(`regenerate-did ${ids.portal} --yes`)).code).toBe(1);
    expect((await at.idops('apply --yes')).code).toBe(0);
    const [open = ''] = await left(at);
    const { stderr } = await at.idops('runs prune --keep-last 0 --yes');
    expect(stderr).toContain(`Run ${open} is kept: the outcome of a regeneration in it is unknown`);
    expect(await left(at)).toHaveLength(2);
    expect((await at.idops(`runs settle ${open} Client/${ids.portal} --done --yes`)).code).toBe(0);
    expect((await at.idops('runs prune --keep-last 0 --yes')).code).toBe(0);
    expect(await left(at)).toHaveLength(1);
  });

  it('keeps journals of another state in the same folder', async () => {
    const { at, names } = await runsOf('One', 'Two');
    const own = await at.read('idops.yaml');
    await at.write({
      'idops.yaml': `${own}state: {path: .idops/other.json}\n`,
      'manifests/all.yaml': acme('X'),
      // A state with records has to be migrated.
      '.idops/state.json': '',
    });
    expect((await at.idops('apply --yes')).code).toBe(0);
    await at.write({ 'manifests/all.yaml': acme('Y') });
    expect((await at.idops('apply --yes')).code).toBe(0);
    expect((await at.idops('runs prune --keep-last 0 --yes')).code).toBe(0);
    const rest = await left(at);
    expect(rest).toHaveLength(3);
    expect(rest).toEqual(expect.arrayContaining(names));
  });

  it('removes nothing without a state, without --yes, or with an invalid age', async () => {
    const { at, names } = await runsOf('One', 'Two');
    await at.refused('runs prune', '--keep AGE');
    await at.refused('runs prune --keep 0d', 'no-terminal');
    for (const wrong of ['90', 'd', '-1d', '1.5d', '3m', '']) {
      expect(await at.idopsWith(['runs', 'prune', `--keep=${wrong}`, '--yes'])).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/90d|empty/),
      });
    }
    expect((await at.idops('runs prune --keep-last -1 --yes')).code).toBe(1);
    expect(await left(at)).toEqual(names);
    await rm(join(at.folder, '.idops/state.json'));
    expect(await at.idops('runs prune --keep 0d --yes')).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('There is no state'),
    });
    expect(await left(at)).toEqual(names);
  });

  it('keeps and reports an unreadable journal', async () => {
    const { at, names } = await runsOf('One', 'Two', 'Three');
    const path = `.idops/runs/${names[0]}.jsonl`;
    await at.write({ [path]: '{"type": "nonsense"}\n' });
    await at.refused('runs prune --keep-last 0 --yes', 'journal-unreadable');
    expect(await left(at)).toEqual([names[0], names[2]]);
  });
});
