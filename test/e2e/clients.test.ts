import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Intercept } from '../../src/sandbox/index.js';
import { ids } from '../sandbox/asking.js';
import { project, sure } from './running.js';

function client(generation: number): { [path: string]: string } {
  return {
    'idops.yaml': sure,
    'manifests/all.yaml': `kind: Client\nid: ${ids.portal}\ndid_generation: ${generation}\n`,
  };
}

const post = `POST /api/clients/${ids.portal}/regenerate_did`;

describe('did_generation', () => {
  it('without a record is adopted, whatever it is', async () => {
    const { idops, writes } = await project(client(41));
    expect((await idops('plan --detailed-exitcode')).code).toBe(0);
    expect((await idops('apply --yes')).code).toBe(0);
    expect(writes()).toEqual([]);
    expect((await idops('plan')).stdout).toContain('1 unchanged, 1 of them by record.');
  });

  it('that grows regenerates the DID once, whatever the distance', async () => {
    const { idops, writes, write, sandbox } = await project(client(1));
    const before = sandbox.data.clients[0]?.did;
    await idops('apply --yes');
    await write(client(5));
    expect((await idops('plan --detailed-exitcode')).code).toBe(2);
    expect((await idops('apply --yes')).code).toBe(0);
    expect((await idops('apply --yes')).code).toBe(0);
    expect(writes()).toEqual([post]);
    expect(sandbox.data.clients[0]?.did).not.toBe(before);
  });

  it.each(['documented', 'boruta'] as const)(
    'is told with the recorded number on a %s server',
    async (profile) => {
      const { idops, write } = await project(
        { ...client(1), 'idops.yaml': sure.replace('documented', profile) },
        { profile },
      );
      const adopting = await idops('plan');
      expect(adopting.stdout).toContain(
        '\n    will be recorded, nothing is sent\n    did_generation: (unknown) → 1\n',
      );
      await idops('apply --yes');
      await write({ ...client(2), 'idops.yaml': sure.replace('documented', profile) });
      const planned = await idops('plan');
      expect(planned.stdout).toMatch(/did_generation as recorded \S+, /);
      expect(planned.stdout).toContain('did_generation: 1 → 2');
      expect((await idops('apply --yes')).code).toBe(0);
      const [, run] = (await idops('runs')).stdout.split('\n');
      expect((await idops(`runs show ${run?.split(' ')[0]}`)).stdout).toContain('did_generation: 1 → 2');
    },
  );

  it('whose DID comes out the same is told so for good', async () => {
    let did: string | null | undefined;
    const boruta = sure.replace('documented', 'boruta');
    const { idops, write, sandbox } = await project(
      { ...client(1), 'idops.yaml': boruta },
      {
        profile: 'boruta',
        intercept: ({ method }) =>
          method === 'POST' ? { kind: 'answer', status: 200, body: { data: { did } } } : undefined,
      },
    );
    did = sandbox.data.clients[0]?.did;
    await idops('apply --yes');
    await write({ ...client(2), 'idops.yaml': boruta });
    expect((await idops('apply --yes')).stdout).toContain('note: the DID came out the same');
    const run = (await idops('runs')).stdout.split('\n')[1]?.split(' ')[0];
    const { stdout } = await idops(`runs show ${run}`);
    expect(stdout).toContain('note: the DID came out the same');
    expect(stdout).not.toMatch(/ did: /);
    const shown = JSON.parse((await idops(`runs show ${run} --format json`)).stdout);
    expect(shown.changes[0].notes).toEqual([expect.stringContaining('the DID came out the same')]);
  });

  it('that gets smaller is an error, and nothing is sent', async () => {
    const { idops, writes, write } = await project(client(2));
    await idops('apply --yes');
    await write(client(1));
    const { code, stderr } = await idops('apply --yes');
    expect(code).toBe(1);
    expect(stderr).toContain('smaller than the recorded 2');
    expect(writes()).toEqual([]);
  });

  it('after a lost state regenerates nothing', async () => {
    const { idops, writes, write, folder } = await project(client(1));
    await idops('apply --yes');
    await write(client(2));
    await rm(join(folder, '.idops'), { recursive: true });
    expect((await idops('apply --yes')).code).toBe(0);
    expect(writes()).toEqual([]);
  });

  it('that the server refuses is tried again by the next apply', async () => {
    let refuse = true;
    const { idops, writes, write } = await project(client(1), {
      intercept: () => (refuse ? { kind: 'answer', status: 422, body: { errors: {} } } : undefined),
    });
    await idops('apply --yes');
    await write(client(2));
    expect((await idops('apply --yes')).code).toBe(1);
    refuse = false;
    expect((await idops('apply --yes')).code).toBe(0);
    expect(writes()).toEqual([post, post]);
  });
});

describe('a regeneration whose outcome is not known', () => {
  it.each<[string, Intercept]>([
    ['a server error', { kind: 'answer', status: 500 }],
    ['a busy gateway', { kind: 'answer', status: 503, headers: { 'retry-after': '0' } }],
    ['a connection lost before the work', { kind: 'reset', when: 'before' }],
    ['a connection lost after the work', { kind: 'reset', when: 'after' }],
    ['no answer', { kind: 'stall', when: 'after' }],
    ['half an answer', { kind: 'truncate' }],
    ['an answer about another client', { kind: 'replace', body: { data: { id: ids.wallet, did: 'did:x' } } }],
    ['an answer that is no object', { kind: 'replace', body: 'thanks' }],
  ])('is sent once, told, and left to a person: %s', async (_, fault) => {
    let faulty = true;
    const { idops, writes, write } = await project(client(1), {
      intercept: () => (faulty ? fault : undefined),
    });
    await idops('apply --yes');
    await write(client(2));
    const { code, stdout } = await idops('apply --yes --timeout 1');
    expect(code).toBe(1);
    expect(stdout).toContain('1 unknown');
    faulty = false;
    const next = await idops('apply --yes');
    expect(next.code).toBe(1);
    expect(next.stderr).toContain('whose outcome is not known');
    expect(writes()).toEqual([post]);
  });

  it('is settled by a person who regenerates it', async () => {
    let faulty = true;
    const { idops, writes, write } = await project(client(1), {
      intercept: () => (faulty ? { kind: 'answer', status: 500 } : undefined),
    });
    await idops('apply --yes');
    await write(client(2));
    await idops('apply --yes');
    faulty = false;
    expect((await idops(`regenerate-did ${ids.portal} --yes`)).code).toBe(0);
    expect((await idops('plan')).code).toBe(0);
    expect(writes()).toEqual([post, post]);
  });

  it('is no doubt where no connection was made', async () => {
    const { idops, write, sandbox } = await project(client(1));
    await idops('apply --yes');
    await write(client(2));
    await sandbox.close();
    const { code, stdout } = await idops('apply --yes');
    expect(code).toBe(1);
    expect(stdout).toContain('Applied: 0 applied, 1 failed.');
  });
});

describe('idops regenerate-did', () => {
  it('regenerates one DID now, journals it, and leaves the number alone', async () => {
    const { idops, writes, files, read } = await project(client(7));
    await idops('apply --yes');
    const { code, stdout } = await idops(`regenerate-did ${ids.portal} --yes`);
    expect(code).toBe(0);
    expect(stdout).toContain('Applied: 1 applied.');
    expect(writes()).toEqual([post]);
    const runs = Object.values(await files()).filter((text) => text.includes('"command":"regenerate-did"'));
    expect(runs).toHaveLength(1);
    const state = JSON.parse(await read('.idops/state.json'));
    expect(state.resources[`Client/${ids.portal}`].did_generation).toBe(7);
    expect((await idops('plan --detailed-exitcode')).code).toBe(0);
  });

  it('asks, and so needs --yes without a terminal', async () => {
    const { idops, writes } = await project({});
    const { code, stderr } = await idops(`regenerate-did ${ids.portal}`);
    expect(code).toBe(1);
    expect(stderr).toContain('error[no-terminal]');
    expect(writes()).toEqual([]);
  });

  it('tells of a client that is not there', async () => {
    const { idops } = await project({});
    const { code, stdout } = await idops(`regenerate-did ${ids.nobody} --yes`);
    expect(code).toBe(1);
    expect(stdout).toMatch(/answered\s+404/);
  });

  it.each(['.', '..', ''])('refuses an id that can not stand in a path: %j', async (id) => {
    const { idopsWith, sandbox } = await project({});
    const { code, stderr } = await idopsWith(['regenerate-did', id, '--yes']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error\[(?!internal)/);
    expect(sandbox.requests).toEqual([]);
  });
});
