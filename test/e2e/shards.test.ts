import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ids } from '../demo-ids.js';
import { elsewhere } from '../state/backend-place.js';
import { gate } from './gate.js';
import { borutaProject, failed, project, succeeded, type TestProject, trustedConfig } from './running.js';
import { inFile, manifests, sharded } from './shards.js';

/** Two users of one group. */
const users = (group: string): string =>
  [ids.ada, ids.grace].map((id) => `kind: User\nid: ${id}\ngroup: ${group}\n`).join('---\n');

sharded('a file', inFile, 'in turn');

const sharedProject = (files = manifests): Promise<TestProject> =>
  project({ 'idops.yaml': trustedConfig, ...files });

describe('a shard', () => {
  it('is shown in the plan, in every format', async () => {
    const { idops, json } = await sharedProject();
    expect((await idops('plan --shard 2/3')).stdout).toMatch(/^Shard: {7}2\/3$/m);
    expect((await idops('plan --shard 2/3 --format markdown')).stdout).toContain('shard 2/3 of the objects');
    expect((await idops('plan --shard 2/3 --format html')).stdout).toContain('Shard 2/3');
    expect((await json('plan --shard 2/3')).shard).toEqual({ index: 2, count: 3 });
    const none = 'No selected and declared object is in shard 900/1000.';
    expect((await idops('plan --shard 900/1000')).stdout).toContain(none);
    expect((await idops('plan --shard 1/1')).stdout).not.toContain('Shard');
  });

  it.each<[{ [name: string]: string }, string | [number, number]]>([
    [{ JOB_COMPLETION_INDEX: '0', IDOPS_SHARD_COUNT: '4' }, [1, 4]],
    [{ JOB_COMPLETION_INDEX: '3', JOB_COMPLETIONS: '4' }, [4, 4]],
    [{ CI_NODE_INDEX: '2', CI_NODE_TOTAL: '3' }, [2, 3]],
    [{ IDOPS_SHARD_INDEX: '3', IDOPS_SHARD_COUNT: '3' }, [3, 3]],
    [
      { JOB_COMPLETION_INDEX: '4', IDOPS_SHARD_COUNT: '4' },
      'INDEX=4 and IDOPS_SHARD_COUNT=4 are not a valid shard',
    ],
    [{ JOB_COMPLETION_INDEX: '1' }, 'but no IDOPS_SHARD_COUNT or JOB_COMPLETIONS is set'],
    [
      { CI_NODE_INDEX: '2', CI_NODE_TOTAL: '3', IDOPS_SHARD_COUNT: '4' },
      'TOTAL is 3, but IDOPS_SHARD_COUNT is 4',
    ],
    [{}, 'no variable has the number of the shard'],
  ])('is read from the variables of a parallel job: %j', async (env, found) => {
    const { idops, json } = await sharedProject();
    if (typeof found === 'string') await failed(idops('plan --shard auto', { env }), found);
    else
      expect((await json('plan --shard auto', { env })).shard).toEqual({ index: found[0], count: found[1] });
  });

  it('finds two documents of one object, even if another shard has the other document', async () => {
    const twice = `kind: Organization\nid: ${ids.acme}\nlabel: One\n---\nkind: Organization\nname: acme\nlabel: Two\n`;
    const { json } = await sharedProject({ 'manifests/all.yaml': twice });
    const reasons: string[] = [];
    for (const index of [1, 2, 3, 4, 5, 6, 7])
      for (const { reason } of (await json(`plan --shard ${index}/7`)).changes) reasons.push(reason);
    const same = 'this is the same object as the one declared at manifests/all.yaml:';
    expect(reasons.toSorted()).toEqual([`${same}1: keep one document`, `${same}5: keep one document`]);
  });

  it('accepts a target of another shard, and refuses an unknown one', async () => {
    const { idops } = await sharedProject();
    const counts: number[] = [];
    for (const index of [1, 2, 3]) {
      const plan = `plan --shard ${index}/3 --format json --target`;
      const { stdout } = await succeeded(idops(`${plan} User/${ids.ada}`));
      counts.push(JSON.parse(stdout).changes.length);
      await succeeded(idops(`${plan} Organization/globex`));
      await failed(idops(`${plan} User/${ids.nobody}`), 'error[no-such-target]');
    }
    expect(counts.toSorted()).toEqual([0, 0, 1]);
  });

  it('deletes only its own objects with --prune', async () => {
    const type = (name: string) =>
      `kind: EmailTemplate\nbackend_id: ${ids.backend}\ntype: ${name}\ntxt_content: T {{{edit_password_url}}}\nhtml_content: <p>H</p>\n`;
    const both = `${type('reset_password_instructions')}---\n${type('tx_code')}`;
    const { idops, json, write, writes } = await sharedProject({ 'manifests/all.yaml': both });
    expect((await idops('apply --yes')).code).toBe(0);
    await write({ 'manifests/all.yaml': 'kind: Organization\nname: acme\nlabel: New\n' });
    const before = writes().length;
    const done: string[] = [];
    for (const index of [1, 2, 3])
      for (const { action } of (await json(`apply --yes --prune --shard ${index}/3`)).results)
        done.push(action);
    expect(done.toSorted()).toEqual(['delete', 'delete', 'update']);
    expect(writes().slice(before).length).toBe(3);
  });

  it('is stored with its plan, which applies only that part', async () => {
    const { idops, write } = await sharedProject();
    for (const index of [1, 2, 3]) {
      expect((await idops(`plan --shard ${index}/3 --out plan-${index}.json`)).code).toBe(0);
      expect((await idops(`plan plan-${index}.json`)).stdout).toContain(`Shard:       ${index}/3`);
    }
    await failed(idops('apply plan-2.json --shard 2/3'), "--ended and --out can't be used with a plan file");
    for (const index of [2, 1, 3]) await succeeded(idops(`apply plan-${index}.json`));
    expect((await idops('plan --detailed-exitcode')).code).toBe(0);
    await write({ 'manifests/all.yaml': 'kind: Organization\nname: acme\nlabel: Other\n' });
    await failed(idops('apply plan-1.json'), 'error[stale-plan]');
  });

  it('joins the run that its pipeline names, and no other', async () => {
    const { json, write } = await sharedProject();
    const runOf = async (index: number, group: string, env: { [name: string]: string }): Promise<string> => {
      await write({
        'manifests/all.yaml': `${manifests['manifests/all.yaml']}`
          .replace(/label: (\w+)/g, `label: $1 ${group}`)
          .replace(/group: (\w+)/g, `group: ${group}`),
      });
      return (await json(`apply --yes --shard ${index}/2`, { env })).run;
    };
    const [first, second] = [{ IDOPS_SHARD_RUN: 'one' }, { IDOPS_SHARD_RUN: 'two' }];
    const one = await runOf(1, 'a', first);
    expect(await runOf(2, 'a', first)).toBe(one);
    const two = await runOf(1, 'b', second);
    expect(two).not.toBe(one);
    expect(await runOf(2, 'b', second)).toBe(two);
    const github = { GITHUB_RUN_ID: '7', GITHUB_RUN_ATTEMPT: '1' };
    const three = await runOf(1, 'c', github);
    expect(await runOf(1, 'd', github)).toBe(three);
    expect(await runOf(2, 'd', { ...github, GITHUB_RUN_ATTEMPT: '2' })).not.toBe(three);
  });

  it.each([
    ['of another server', { server: 'https://other.example.com' }, 'state-other-server'],
    ['with invalid shards', { shards: { count: 1, parts: {} } }, 'state-unreadable'],
  ])('is refused for a state %s, without a lock', async (_, change, code) => {
    const { idops, read, write, files } = await sharedProject();
    expect((await idops('apply --yes --shard 1/3')).code).toBe(0);
    const state = JSON.parse(await read('.idops/state.json'));
    await write({ '.idops/state.json': JSON.stringify({ ...state, ...change }) });
    for (const shard of ['2/3', '1/2']) await failed(idops(`apply --yes --shard ${shard}`), `error[${code}]`);
    expect(Object.keys(await files()).filter((path) => path.endsWith('.lock'))).toEqual([]);
  });

  it('can be stored and applied even if other shards change labels of organizations', async () => {
    const doc = (label: string, group: string): string =>
      [
        `kind: Organization\nname: acme\nlabel: ${label}\n`,
        `kind: User\nid: ${ids.ada}\ngroup: ${group}\norganizations: [acme]\n`,
        `kind: User\nid: ${ids.grace}\ngroup: ${group}\norganizations: [acme]\n`,
      ].join('---\n');
    for (const profile of ['documented', 'boruta'] as const) {
      const files = {
        'idops.yaml': trustedConfig.replace('documented', profile),
        'manifests/all.yaml': doc('One', 'staff'),
      };
      const { idops, write, sandbox, json } = await project(files, { profile });
      await succeeded(idops('apply --yes --allow-destructive 9'));
      await write({ 'manifests/all.yaml': doc('Two', 'others') });
      const shards = [1, 2, 3, 4];
      for (const index of shards) await idops(`plan --shard ${index}/4 --out ${index}.json`);
      // The shard with the organization is applied first.
      const plans = await Promise.all(shards.map(async (index) => await json(`plan ${index}.json`)));
      const has = (index: number): boolean =>
        plans[index - 1].changes.some(({ kind }: { kind: string }) => kind === 'Organization');
      for (const index of shards.toSorted((a, b) => Number(has(b)) - Number(has(a)))) {
        await succeeded(idops(`apply ${index}.json --allow-destructive 9`));
      }
      expect((await idops('plan --detailed-exitcode')).code).toBe(0);
      expect(sandbox.snapshot().users.map(({ group }) => group)).toEqual(['others', 'others']);
    }
  });

  it('is undone completely even if it ran twice, and found by the beginning of its name', async () => {
    const env = { IDOPS_SHARD_RUN: 'one' };
    const { idops, write, sandbox } = await borutaProject({ 'manifests/all.yaml': users('first') });
    const before = sandbox.snapshot().users.map(({ group }) => group);
    const shards = ['1/2', '2/2'];
    for (const shard of shards) await idops(`apply --yes --shard ${shard}`, { env });
    await write({ 'manifests/all.yaml': users('second') });
    const results = [];
    for (const shard of shards) {
      const { stdout, stderr } = await idops(`apply --yes --shard ${shard} --format json`, { env });
      results.push({ ...JSON.parse(stdout), stderr });
    }
    const done = results.find(({ run }) => run !== null);
    const name = `${done.run}.${done.shard.index}-of-2`;
    expect(done.stderr).toContain(`idops undo ${name}\n`);
    expect((await idops(`runs show ${name}.02`)).stdout).toContain('first');
    const shown = await idops(`runs show ${name}`);
    expect(shown.stdout).toContain(`Run:         ${name} (finished)`);
    expect(shown.stdout).toContain(`${name}.02`);
    const several = await idops(`runs show ${name}.0`);
    expect(several.stdout).toContain(`${name}.02 (finished)`);
    await failed(idops(`runs show ${done.run}.2-of-3`), `there is no run "${done.run}.2-of-3"`);
    for (const index of [1, 2]) await idops(`undo ${done.run}.${index}-of-2 --yes`);
    expect(sandbox.snapshot().users.map(({ group }) => group)).toEqual(before);
  });

  it('gets its own run if nothing joins the shards', async () => {
    const { idops, json } = await sharedProject();
    for (const index of [1, 2, 3]) await idops(`apply --yes --shard ${index}/3`);
    const { runs } = await json('runs');
    expect(runs).toHaveLength(3);
  });

  it('has its own lock, which is reported by name', async () => {
    const { idops, write } = await sharedProject();
    expect((await idops('apply --yes --shard 1/3')).code).toBe(0);
    const holder = { ...elsewhere, command: 'apply --shard 2/3', at: 'then', nonce: 'n' };
    for (const index of [2, 3])
      await write({ [`.idops/state.json.${index}-of-3.lock`]: JSON.stringify(holder) });
    const by = /by grace on another-machine, process 4711, since then \(.*state\.json\.[23]-of-3\.lock\)/;
    await failed(idops('apply --yes'), by);
    const { stdout } = await idops('doctor');
    for (const index of [2, 3]) expect(stdout).toContain(`that of the shard ${index}/3 is held by apply`);
    expect((await idops('runs unlock --yes')).code).toBe(0);
    expect((await idops('apply --yes')).code).toBe(0);
  });

  it('reports the lock of a merge on another machine, which runs unlock removes', async () => {
    const { idops, write } = await sharedProject();
    expect((await idops('apply --yes --shard 1/3')).code).toBe(0);
    const holder = { ...elsewhere, command: 'merge', at: 'then', nonce: 'n' };
    await write({ '.idops/state.json.merge.lock': JSON.stringify(holder) });
    const said = 'error[locked]: the state is locked: merge by grace on another-machine';
    await failed(idops('apply --yes --shard 2/3'), said);
    expect((await idops('doctor')).stdout).toContain('it is held by merge by grace');
    expect((await idops('runs unlock --yes')).stderr).toContain('Removed the lock of merge by grace');
    expect((await idops('apply --yes --shard 2/3')).code).toBe(0);
  });

  it('is newer than a run of the whole state that an older copy of the state lacks', async () => {
    const { idops, read, write, sandbox } = await sharedProject({ 'manifests/all.yaml': users('one') });
    for (const index of [1, 2]) await idops(`apply --yes --shard ${index}/2`);
    const copy = await read('.idops/state.json');
    await write({ 'manifests/all.yaml': users('two') });
    expect((await idops('apply --yes')).code).toBe(0);
    await write({ '.idops/state.json': copy, 'manifests/all.yaml': users('three') });
    for (const index of [1, 2]) expect((await idops(`apply --yes --shard ${index}/2`)).code).toBe(0);
    await succeeded(idops('plan --detailed-exitcode'));
    expect(sandbox.snapshot().users.map(({ group }) => group)).toEqual(['three', 'three']);
  });

  it('keeps all journals of its run, or none', async () => {
    const { idops, write, files } = await project({ 'idops.yaml': trustedConfig });
    const names = async (): Promise<string[]> =>
      Object.keys(await files()).filter((path) => path.endsWith('.jsonl'));
    const shards = [1, 2, 3];
    for (const [index, run] of ['first', 'second', 'second', 'third'].entries()) {
      await write({ 'manifests/all.yaml': users(`group ${index}`) });
      const env = { IDOPS_SHARD_RUN: run };
      for (const shard of shards) await succeeded(idops(`apply --yes --shard ${shard}/3`, { env }));
    }
    const all = await names();
    expect(all.length).toBe(8);
    expect((await idops('runs prune --keep-last 2 --yes')).code).toBe(0);
    expect(await names()).toEqual(all.slice(2));
    expect((await idops('runs prune --keep-last 1 --yes')).code).toBe(0);
    expect(await names()).toEqual(all.slice(6));
  });

  it('reads journals if the state was lost', async () => {
    const { arrived, open, intercept } = gate();
    const files = { 'idops.yaml': trustedConfig, ...manifests };
    const { folder, idops, begin, sandbox } = await project(files, {
      intercept: async ({ method, path }) =>
        method === 'GET' || !path.includes(ids.grace) ? undefined : await intercept(),
    });
    const whole = begin(['apply', '--yes']);
    await arrived;
    whole.child.kill('SIGKILL');
    await whole.ended;
    open();
    await rm(join(folder, '.idops/state.json'));
    const ended = [];
    for (const index of [1, 2, 3]) ended.push(await succeeded(idops(`apply --yes --shard ${index}/3`)));
    expect(ended.filter(({ stderr }) => stderr.includes('had not ended'))).toHaveLength(1);
    expect((await idops('plan --detailed-exitcode')).code).toBe(0);
    expect(sandbox.snapshot().users.find(({ id }) => id === ids.grace)?.group).toBe('others');
  });
});
