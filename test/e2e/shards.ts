import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SandboxOptions } from '../../src/sandbox/index.js';
import { ids } from '../demo-ids.js';
import { gate } from './gate.js';
import {
  type Files,
  failed,
  project,
  type Ran,
  succeeded,
  type TestProject,
  trustedConfig,
} from './running.js';

/** A project with a state that several runners share. */
export interface SharedProject extends TestProject {
  /** The folder of another runner's copy of the project. */
  runner(): Promise<string>;
}

/** Creates such a project with any backend. */
export type MakeShared = (files: Files, options?: SandboxOptions) => Promise<SharedProject>;

/** Concurrent processes race, so they are for the soak. */
type How = 'in turn' | 'at once';

const SHARDS = 3;

/** Joins all shards into one run. */
const env = { IDOPS_SHARD_RUN: 'one' };

/** Objects of several kinds; the objects of each kind are in several shards. */
export const manifests: Files = {
  'manifests/all.yaml': [
    `kind: User\nid: ${ids.ada}\ngroup: staff\n`,
    `kind: User\nid: ${ids.grace}\ngroup: others\n`,
    'kind: Organization\nname: acme\nlabel: Acme\n',
    'kind: Organization\nname: globex\nlabel: Globex\n',
    `kind: Organization\nid: ${ids.initech}\nlabel: Initech Ltd\n`,
    `kind: KeyPair\nid: ${ids.secondKey}\nis_default: true\n`,
    `kind: Client\nid: ${ids.portal}\ndid_generation: 1\n`,
    `kind: EmailTemplate\nbackend_id: ${ids.backend}\ntype: reset_password_instructions\ntxt_content: Hello {{{edit_password_url}}}\nhtml_content: <p>Hello</p>\n`,
  ].join('---\n'),
};

interface RunJson {
  readonly run: string;
  readonly ended: string;
  readonly summary: { readonly applied: number };
  readonly shards?: readonly { readonly shard: object; readonly run: string; readonly ended: string }[];
}

function applying(shard: string, ...more: string[]): string[] {
  return ['apply', '--yes', '--shard', shard, ...more];
}

/** Runs all shards, each in another runner's copy. */
async function all({ begin, runner }: SharedProject, how: How): Promise<Ran[]> {
  const runs: Promise<Ran>[] = [];
  for (let index = 1; index <= SHARDS; index += 1) {
    const run = begin(applying(`${index}/${SHARDS}`, '--format', 'json'), { cwd: await runner(), env });
    runs.push(run.ended);
    if (how === 'in turn') await run.ended;
  }
  return await Promise.all(runs);
}

async function runsOf({ idops }: SharedProject): Promise<readonly RunJson[]> {
  const { stdout } = await idops('runs --format json');
  return JSON.parse(stdout).runs;
}

/** What every shared backend must do with shards. */
export function sharded(kind: string, make: MakeShared, how: How): void {
  describe(`shards ${how} over a state in ${kind}`, () => {
    it('apply everything, each object once, as one run', async () => {
      const made = await make(manifests);
      const { idops, writes, json } = made;
      const whole = await json('plan --debug');
      const results = await all(made, how);
      for (const { code, stdout, stderr } of results) expect(code, stdout + stderr).toBe(0);
      const printed = results.map(({ stdout }) => JSON.parse(stdout));
      const addresses = printed.flatMap(({ results: done }) =>
        done.map((one: { address: string }) => one.address),
      );
      const wanted = whole.changes.map((one: { address: string }) => one.address);
      expect(addresses.toSorted()).toEqual(wanted.toSorted());
      expect(new Set(printed.map(({ run }) => run)).size).toBe(1);
      expect(printed.map(({ shard }) => shard)).toEqual([1, 2, 3].map((index) => ({ index, count: SHARDS })));
      const sent = whole.changes.flatMap(({ requests }: { requests: { method: string; path: string }[] }) =>
        requests.map(({ method, path }) => `${method} ${path}`),
      );
      expect(writes().toSorted()).toEqual(sent.toSorted());
      const next = await succeeded(idops('plan --detailed-exitcode'));
      expect(next.stdout).toContain('Nothing to change');
      const [run, ...others] = await runsOf(made);
      expect(others).toEqual([]);
      expect(run).toMatchObject({
        run: printed[0].run,
        ended: 'finished',
        summary: { applied: wanted.length },
      });
      expect(run?.shards?.map(({ shard }) => shard)).toEqual(printed.map(({ shard }) => shard));
      const shown = await idops(`runs show ${printed[0].run}`);
      for (const address of wanted) expect(shown.stdout).toContain(address);
      const one = await idops(`runs show ${printed[1].run}.2-of-3`);
      for (const { address } of printed[1].results) expect(one.stdout).toContain(address);
      for (const { address } of printed[0].results) expect(one.stdout).not.toContain(address);
      const recorded = await json('state show');
      expect(recorded.records.length).toBe(wanted.length);
      expect(recorded.last_run).toContain(printed[0].run);
      const undone = await idops('undo --last --yes --allow-destructive 10');
      expect(undone.stdout + undone.stderr).not.toContain('no-such-run');
      expect(made.sandbox.snapshot().organizations.find(({ id }) => id === ids.acme)?.label).not.toBe('Acme');
      expect(made.sandbox.snapshot().organizations.find(({ id }) => id === ids.initech)?.label).not.toBe(
        'Initech Ltd',
      );
    });

    it('continue without a killed shard, which rejoins the run when it is repeated', async () => {
      const { arrived, open, intercept } = gate();
      let held = '';
      const made = await make(manifests, {
        intercept: async ({ method, path }) =>
          method === 'GET' || held === '' || !path.includes(held) ? undefined : await intercept(),
      });
      const { idops, begin, runner, sandbox, json } = made;
      const plans = await Promise.all([1, 2, 3].map(async (index) => await json(`plan --shard ${index}/3`)));
      const killed = plans.findIndex(({ changes }) =>
        changes.some(({ kind: of }: { kind: string }) => of === 'User'),
      );
      held = '/users/';
      const cwd = await runner();
      // Its request must last until the others end.
      const first = begin(applying(`${killed + 1}/3`, '--timeout', '3000'), { cwd, env });
      await arrived;
      const others = [1, 2, 3].filter((index) => index !== killed + 1);
      held = '/none/';
      for (const index of others) {
        await succeeded(idops(`apply --yes --shard ${index}/3`, { cwd: await runner(), env }));
      }
      const busy = await runner();
      // Meanwhile, neither this shard, nor the whole state, nor another split can be applied.
      for (const args of [`--shard ${killed + 1}/3`, '', '--shard 1/2']) {
        const locked = 'error[locked]: the state is locked';
        await failed(
          idops(`apply --yes ${args}`, { cwd: busy }),
          locked,
          `apply --shard ${killed + 1}/3 by `,
        );
      }
      first.child.kill('SIGKILL');
      await first.ended;
      open();
      const [before] = await runsOf(made);
      expect(before?.ended).toBe('unfinished');
      const again = await succeeded(idops(`apply --yes --shard ${killed + 1}/3`, { cwd, env }));
      expect(again.stderr).toMatch(/took over the lock of apply --shard/);
      expect(again.stderr).toMatch(/run \S+ had not ended: /);
      const [run, ...more] = await runsOf(made);
      expect(more).toEqual([]);
      expect(run).toMatchObject({ run: before?.run, ended: 'finished' });
      await succeeded(idops('plan --detailed-exitcode'));
      const { users } = sandbox.snapshot();
      expect(users.find(({ id }) => id === ids.ada)?.group).toBe('staff');
      expect(users.find(({ id }) => id === ids.grace)?.group).toBe('others');
    });

    it(`are ${kind === 'a file' ? '' : 'not '}warned that other machines have another state`, async () => {
      const { idops } = await make(manifests);
      const job = { CI_NODE_INDEX: '1', CI_NODE_TOTAL: '2' };
      const { code, stderr } = await idops('plan --shard auto', { env: job });
      expect(code, stderr).toBe(0);
      expect(stderr.includes('warning[state-not-shared]')).toBe(kind === 'a file');
    });

    it('allow a run of the whole state, and another split, after they ended', async () => {
      const made = await make(manifests);
      const { idops, write } = made;
      for (const { code, stdout, stderr } of await all(made, how)) expect(code, stdout + stderr).toBe(0);
      await write({ 'manifests/all.yaml': `kind: User\nid: ${ids.ada}\ngroup: others\n` });
      expect((await idops('apply --yes')).code).toBe(0);
      await write({ 'manifests/all.yaml': `kind: User\nid: ${ids.ada}\ngroup: staff\n` });
      for (const shard of ['1/2', '2/2']) await succeeded(idops(`apply --yes --shard ${shard}`));
      expect((await idops('plan --detailed-exitcode')).code).toBe(0);
      expect((await runsOf(made)).map(({ shards }) => shards?.length)).toEqual([3, undefined, 1]);
      expect((await idops('undo --last --yes')).code).toBe(0);
      expect(made.sandbox.snapshot().users.find(({ id }) => id === ids.ada)?.group).toBe('others');
    });
  });
}

export const inFile: MakeShared = async (files, options) => {
  const made = await project({ 'idops.yaml': trustedConfig, ...files }, options);
  return { ...made, runner: async () => made.folder };
};

/** Copies the configuration and the manifests of a project into another folder. */
export async function copyOf({ files }: TestProject, folder: string): Promise<void> {
  for (const [path, text] of Object.entries(await files())) {
    if (path !== 'idops.yaml' && !path.startsWith('manifests/')) continue;
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}
