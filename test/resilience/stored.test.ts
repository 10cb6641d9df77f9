import { describe, expect, it } from 'vitest';
import { ids } from '../demo-ids.js';
import { config, project, type TestProject } from '../e2e/running.js';

const acme = 'kind: Organization\nname: acme\nlabel: New\n';
const ada = (group: string): string => `kind: User\nid: ${ids.ada}\ngroup: ${group}\n`;
const emails = `kind: EmailTemplate\nbackend_id: ${ids.backend}\ntype: tx_code\ntxt_content: new {{ code }}\n`;
const client = (generation: number): string =>
  `kind: Client\nid: ${ids.portal}\ndid_generation: ${generation}\n`;

/** A project that was applied once, and a stored plan of other manifests. */
async function planned(): Promise<TestProject> {
  const at = await project({ 'manifests/all.yaml': [ada('first'), client(1)].join('---\n') });
  expect((await at.idops('apply --yes')).code).toBe(0);
  await at.write({ 'manifests/all.yaml': [acme, ada('second'), emails, client(3)].join('---\n') });
  expect((await at.idops('plan --out plan.json')).code).toBe(0);
  return at;
}

describe('a current stored plan', () => {
  it('is applied without confirmation, once', async () => {
    const at = await planned();
    const before = at.writes().length;
    const { code, stdout } = await at.idops('apply plan.json');
    expect(code).toBe(0);
    expect(stdout).toContain('Applied: 4 applied.');
    expect(at.writes()).toHaveLength(before + 4);
    await at.refused('apply plan.json', 'stale plan');
    expect(at.writes()).toHaveLength(before + 4);
  });
});

describe('a stored plan is stale if', () => {
  const moves: readonly [string, (at: TestProject) => void, string][] = [
    [
      'a value that it changes was changed on the server',
      ({ sandbox }) => {
        for (const one of sandbox.data.organizations) if (one.id === ids.acme) one.label = 'by a person';
      },
      'Organization/acme was changed on the server',
    ],
    [
      'an unmanaged value of an object was changed on the server',
      ({ sandbox }) => {
        for (const one of sandbox.data.templates)
          if (one.type === 'tx_code') one.html_content = 'by a person';
      },
      `EmailTemplate/${ids.backend}/tx_code was changed on the server`,
    ],
  ];
  it.each(moves)('%s', async (_, move, names) => {
    const at = await planned();
    move(at);
    const before = at.writes().length;
    await at.refused('apply plan.json --yes', ['error[stale-plan]: stale plan: ', names]);
    expect(at.writes()).toHaveLength(before);
  });
});

describe('apply with a plan file', () => {
  it('is refused if the file is missing, or with options that change a plan', async () => {
    const at = await planned();
    await at.refused('apply no.json', 'no.json does not exist');
    for (const option of ['--target User/*', '--kind User', '--prune', '--assert']) {
      await at.refused(`apply plan.json ${option}`, 'error[wrong-option]');
    }
  });
});

describe('a stored plan', () => {
  it('keeps its targets, and is refused if it is too destructive', async () => {
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
