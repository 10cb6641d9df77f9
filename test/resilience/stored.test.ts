import { describe, expect, it } from 'vitest';
import { boruta, config, project, type TestProject } from '../e2e/running.js';
import { ids } from '../sandbox/asking.js';

const acme = 'kind: Organization\nname: acme\nlabel: New\n';
const ada = (group: string): string => `kind: User\nid: ${ids.ada}\ngroup: ${group}\n`;
const emails = `kind: EmailTemplate\nbackend_id: ${ids.backend}\ntype: tx_code\ntxt_content: new {{ code }}\n`;
const client = (generation: number): string =>
  `kind: Client\nid: ${ids.portal}\ndid_generation: ${generation}\n`;

/** A project that was applied once, so that something is recorded, and a plan of what is declared now. */
async function planned(): Promise<TestProject> {
  const at = await project({ 'manifests/all.yaml': [ada('first'), client(1)].join('---\n') });
  expect((await at.idops('apply --yes')).code).toBe(0);
  await at.write({ 'manifests/all.yaml': [acme, ada('second'), emails, client(3)].join('---\n') });
  expect((await at.idops('plan --out plan.json')).code).toBe(0);
  return at;
}

async function changeRecord(
  at: TestProject,
  address: string,
  change: (record: { [member: string]: unknown }) => object,
): Promise<void> {
  const state = JSON.parse(await at.read('.idops/state.json'));
  state.resources[address] = change(state.resources[address]);
  await at.write({ '.idops/state.json': JSON.stringify(state) });
}

describe('a stored plan that still holds', () => {
  it('is applied without a question, once', async () => {
    const at = await planned();
    const before = at.writes().length;
    const { code, stdout } = await at.idops('apply plan.json');
    expect(code).toBe(0);
    expect(stdout).toContain('Applied: 4 applied.');
    expect(at.writes()).toHaveLength(before + 4);
    await at.refused('apply plan.json', 'stale plan');
    expect(at.writes()).toHaveLength(before + 4);
  });

  it('holds where the server lists its rows and the members of sets in another order', async () => {
    const at = await project(
      {
        'idops.yaml': boruta,
        'manifests/all.yaml': `${acme}---\n${ada('second')}organizations: [initech, globex]\n`,
      },
      { profile: 'boruta' },
    );
    expect((await at.idops('plan --out plan.json')).code).toBe(0);
    at.sandbox.data.organizations.reverse();
    const [user] = at.sandbox.data.users;
    user?.organizations.reverse();
    user?.authorized_scopes.reverse();
    await at.write({
      'manifests/all.yaml': `${acme}---\n${ada('second')}organizations: [globex, initech]\n`,
    });
    const { code, stderr } = await at.idops('apply plan.json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('stale') });
  });
});

describe('a stored plan is stale', () => {
  const moves: readonly [string, (at: TestProject) => Promise<void> | void, string][] = [
    [
      'when a value that it changes was changed on the server',
      ({ sandbox }) => {
        for (const one of sandbox.data.organizations) if (one.id === ids.acme) one.label = 'by a person';
      },
      'Organization/acme was changed on the server',
    ],
    [
      'when a value that nobody manages of an object was changed',
      ({ sandbox }) => {
        for (const one of sandbox.data.templates)
          if (one.type === 'tx_code') one.html_content = 'by a person';
      },
      `EmailTemplate/${ids.backend}/tx_code was changed on the server`,
    ],
    [
      'when a manifest declares another value',
      (at) => at.write({ 'manifests/all.yaml': [acme, ada('third'), emails, client(3)].join('---\n') }),
      `User/${ids.ada} is declared otherwise`,
    ],
    [
      'when the record of a generation is another one',
      (at) => changeRecord(at, `Client/${ids.portal}`, (record) => ({ ...record, did_generation: 2 })),
      `Client/${ids.portal} was changed on the server, or its record was`,
    ],
  ];
  it.each(moves)('%s', async (_, move, names) => {
    const at = await planned();
    await move(at);
    const before = at.writes().length;
    await at.refused('apply plan.json --yes', ['error[stale-plan]: stale plan: ', names]);
    expect(at.writes()).toHaveLength(before);
  });

  it('on another server and in another environment', async () => {
    const at = await planned();
    const more = `${config}environments:\n  staging: {state: {path: .idops/state.json}}\n`;
    await at.write({ 'idops.yaml': more });
    expect((await at.idops('apply plan.json --env staging')).stderr).toContain(
      'it is for the environment none, and this is staging',
    );
    const other = await project({ 'plan.json': await at.read('plan.json'), 'manifests/all.yaml': acme });
    await other.refused('apply plan.json', `it is for ${at.sandbox.url}, and this is ${other.sandbox.url}`);
    expect(other.writes()).toEqual([]);
  });
});

describe('a file that is no plan', () => {
  it('missing is refused, and options that change a plan are', async () => {
    const at = await planned();
    await at.refused('apply no.json', 'no.json does not exist');
    for (const option of ['--target User/*', '--kind User', '--prune', '--assert']) {
      await at.refused(`apply plan.json ${option}`, 'error[wrong-option]');
    }
  });
});

describe('a stored plan', () => {
  it('remembers its targets, and refuses what is too destructive', async () => {
    const at = await planned();
    expect((await at.idops(`plan --out plan.json --target User/*`)).code).toBe(0);
    const before = at.writes().length;
    expect((await at.idops('apply plan.json')).code).toBe(0);
    expect(at.writes().slice(before)).toEqual([`PATCH /api/users/${ids.ada}`]);
    await at.write({ 'idops.yaml': `${config}safety: {max_destructive: 0}\n` });
    await at.idops('plan --out plan.json');
    await at.refused('apply plan.json', 'error[too-destructive]');
    expect((await at.idops('apply plan.json --allow-destructive 1')).code).toBe(0);
  });
});
