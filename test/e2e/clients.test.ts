import { describe, expect, it } from 'vitest';
import { ids } from '../demo-ids.js';
import { project, succeeded, trustedConfig } from './running.js';

const client = (generation: number, profile = 'documented') => ({
  'idops.yaml': trustedConfig.replace('documented', profile),
  'manifests/all.yaml': `kind: Client\nid: ${ids.portal}\ndid_generation: ${generation}\n`,
});

const post = `POST /api/clients/${ids.portal}/regenerate_did`;

describe('did_generation', () => {
  it.each(['documented', 'boruta'] as const)(
    'is shown with the recorded number on a %s server',
    async (profile) => {
      const { idops, write, sandbox, json } = await project(client(1, profile), { profile });
      const adopting = '\n    will be recorded, nothing is sent\n    did_generation: (unknown) → 1\n';
      expect((await idops('plan')).stdout).toContain(adopting);
      await idops('apply --yes');
      await write(client(2, profile));
      const planned = await idops('plan');
      expect(planned.stdout).toMatch(/did_generation as recorded \S+, /);
      expect(planned.stdout).toContain('did_generation: 1 → 2');
      const applied = await json('apply --yes');
      const { did } = sandbox.data.clients.find(({ id }) => id === ids.portal) ?? {};
      expect(applied.results).toMatchObject([{ action: 'regenerate', status: 'applied', did }]);
      const [, run] = (await idops('runs')).stdout.split(/\n(?=\d)/);
      expect((await idops(`runs show ${run?.split(' ')[0]}`)).stdout).toContain('did_generation: 1 → 2');
    },
  );

  it('adds a note to the run if the DID is unchanged', async () => {
    let did: string | null | undefined;
    const profile = 'boruta';
    const { idops, write, sandbox, json } = await project(client(1, profile), {
      profile,
      intercept: ({ method }) =>
        method === 'POST' ? { kind: 'answer', status: 200, body: { data: { did } } } : undefined,
    });
    did = sandbox.data.clients[0]?.did;
    await idops('apply --yes');
    await write(client(2, profile));
    expect((await idops('apply --yes')).stdout).toContain('note: the DID is the same as before');
    const run = (await idops('runs')).stdout.split(/\n(?=\d)/)[1]?.split(' ')[0];
    const { stdout } = await idops(`runs show ${run}`);
    expect(stdout).toContain('note: the DID is the same as before');
    expect(stdout).not.toMatch(/ did: /);
    const shown = await json(`runs show ${run}`);
    expect(shown.changes[0].notes).toEqual([expect.stringContaining('the DID is the same as before')]);
  });
});

describe('idops regenerate-did', () => {
  it('regenerates one DID now, writes a journal, and keeps did_generation', async () => {
    const { idops, writes, files, read, sandbox } = await project(client(7));
    await idops('apply --yes');
    const { stdout } = await succeeded(idops(`regenerate-did ${ids.portal} --yes`));
    expect(stdout).toContain('Applied: 1 applied.');
    const { did } = sandbox.data.clients.find(({ id }) => id === ids.portal) ?? {};
    expect(stdout.replace(/\s+/g, ' ')).toContain(`note: the DID is now ${did} `);
    expect(writes()).toEqual([post]);
    const runs = Object.values(await files()).filter((text) => text.includes('"command":"regenerate-did"'));
    expect(runs).toHaveLength(1);
    const state = JSON.parse(await read('.idops/state.json'));
    expect(state.resources[`Client/${ids.portal}`].did_generation).toBe(7);
    expect((await idops('plan --detailed-exitcode')).code).toBe(0);
  });
});
