import { describe, expect, it } from 'vitest';
import { boruta, project, type TestProject } from '../e2e/running.js';
import { ids } from '../sandbox/asking.js';

const key = `Client/${ids.portal}`;
const client = (generation: number): { [path: string]: string } => ({
  'manifests/all.yaml': `kind: Client\nid: ${ids.portal}\ndid_generation: ${generation}\n`,
});
const post = `POST /api/clients/${ids.portal}/regenerate_did`;

/** What regenerating with another key comes to. */
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

/** Expects that a plan and an apply are refused with these words, and that nothing is sent. */
async function expectBlocked(at: TestProject, ...parts: readonly string[]): Promise<void> {
  const plan = await at.idops('plan');
  expect(plan.code).toBe(1);
  const said = plan.stdout.replaceAll(/\s+/g, ' ');
  for (const part of parts) expect(said).toContain(part);
  expect((await at.idops('apply --yes')).code).toBe(1);
  expect(at.writes()).toEqual([]);
}

describe('an older copy of the state', () => {
  it('regenerates nothing again: the client is blocked until a person takes the DID that is there', async () => {
    const at = await adopted();
    expect(JSON.parse(await at.read('.idops/state.json')).resources[key].fields).toEqual({
      name: 'Customer portal',
      did: 'did:example:first',
    });
    // Another machine, whose journals this one never sees, did the second.
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

  it('knows that a client had no DID, so that its first one is not made twice', async () => {
    const at = await adopted(null);
    expect(JSON.parse(await at.read('.idops/state.json')).resources[key].fields).toEqual({
      name: 'Customer portal',
      did: null,
    });
    expect((await at.idops('plan')).stdout).toContain('1 unchanged');
    // Another machine made the first.
    regenerated(at, 'did:example:first');
    await at.write(client(2));
    await expectBlocked(at, 'DID was none', 'is did:example:first now', `idops state rm ${key}`);
    expect((await at.idops(`state rm ${key} --yes`)).code).toBe(0);
    expect((await at.idops('apply --yes')).code).toBe(0);
    expect(at.writes()).toEqual([]);
  });
});

describe('a record that is forgotten', () => {
  it('sends nothing after a person regenerated, which leaves the number alone', async () => {
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
