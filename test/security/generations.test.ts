import { describe, expect, it } from 'vitest';
import { ids } from '../demo-ids.js';
import { boruta, project, type TestProject } from '../e2e/running.js';

const key = `Client/${ids.portal}`;
const client = (generation: number): { [path: string]: string } => ({
  'manifests/all.yaml': `kind: Client\nid: ${ids.portal}\ndid_generation: ${generation}\n`,
});
const post = `POST /api/clients/${ids.portal}/regenerate_did`;

/** Changes the DID, as a regeneration with another key does. */
function regenerated(at: TestProject, did: string | null): void {
  const found = at.sandbox.data.clients.find(({ id }) => id === ids.portal);
  if (found === undefined) throw new Error('no such client');
  found.did = did;
}

/** A client whose first generation is recorded with its DID. */
async function adopted(did: string | null = 'did:example:first'): Promise<TestProject> {
  const at = await project({ 'idops.yaml': boruta, ...client(1) }, { profile: 'boruta' });
  regenerated(at, did);
  expect((await at.idops('apply --yes')).code).toBe(0);
  return at;
}

/** Expects that plan and apply are blocked with these texts, and that nothing is written. */
async function expectBlocked(at: TestProject, ...parts: readonly string[]): Promise<void> {
  const plan = await at.idops('plan');
  expect(plan.code).toBe(1);
  const said = plan.stdout.replaceAll(/\s+/g, ' ');
  for (const part of parts) expect(said).toContain(part);
  expect((await at.idops('apply --yes')).code).toBe(1);
  expect(at.writes()).toEqual([]);
}

describe('an older copy of the state', () => {
  it('regenerates nothing again: the client is blocked until a person accepts the current DID', async () => {
    const at = await adopted();
    expect(JSON.parse(await at.read('.idops/state.json')).resources[key].fields).toEqual({
      name: 'Customer portal',
      did: 'did:example:first',
    });
    // Another machine, whose journals aren't here, regenerated it a second time.
    regenerated(at, 'did:example:second');
    await at.write(client(2));
    await expectBlocked(at, 'did:example:first', 'did:example:second', `idops state rm ${key}`);

    expect((await at.idops(`state rm ${key} --yes`)).code).toBe(0);
    const accepted = await at.idops('apply --yes');
    expect(accepted).toMatchObject({ code: 0, stdout: expect.stringContaining('1 applied') });
    expect(at.writes()).toEqual([]);
    const state = JSON.parse(await at.read('.idops/state.json')).resources[key];
    expect(state).toMatchObject({ did_generation: 2, fields: { did: 'did:example:second' } });
    expect((await at.idops('plan')).stdout).toContain('1 unchanged');

    await at.write(client(3));
    expect((await at.idops('apply --yes')).code).toBe(0);
    expect(at.writes()).toEqual([post]);
  });

  it('records that a client had no DID, so that the first is not made twice', async () => {
    const at = await adopted(null);
    expect(JSON.parse(await at.read('.idops/state.json')).resources[key].fields).toEqual({
      name: 'Customer portal',
      did: null,
    });
    expect((await at.idops('plan')).stdout).toContain('1 unchanged');
    // Another machine made the first DID.
    regenerated(at, 'did:example:first');
    await at.write(client(2));
    await expectBlocked(at, 'DID was none', 'is did:example:first now', `idops state rm ${key}`);
    expect((await at.idops(`state rm ${key} --yes`)).code).toBe(0);
    expect((await at.idops('apply --yes')).code).toBe(0);
    expect(at.writes()).toEqual([]);
  });
});

describe('a removed record', () => {
  it('regenerates nothing after a person regenerated with the same did_generation', async () => {
    const at = await adopted();
    regenerated(at, 'did:example:second');
    await at.write(client(2));
    const blocked = await at.idops('plan');
    expect(blocked.stdout.replaceAll(/\s+/g, ' ')).toContain('idops state rm');
    expect(blocked.stdout).not.toContain('regenerate-did');
    expect((await at.idops(`regenerate-did ${ids.portal} --yes`)).code).toBe(0);
    expect(at.writes()).toEqual([post]);
    expect((await at.idops('plan')).stdout.replaceAll(/\s+/g, ' ')).toContain(
      'destructive: regenerates the DID',
    );
    expect((await at.idops(`state rm ${key} --yes`)).code).toBe(0);
    expect((await at.idops('apply --yes')).code).toBe(0);
    expect(at.writes()).toEqual([post]);
    expect((await at.idops('plan')).stdout).toContain('1 unchanged');
  });
});
