import { describe, expect, it } from 'vitest';
import { ids } from '../demo-ids.js';
import { borutaProject, project, refused, succeeded, type TestProject } from './running.js';

/** Three runs: two change acme, which the second renames, and one changes ada. */
async function written(): Promise<TestProject> {
  const made = await borutaProject();
  for (const manifest of [
    `kind: Organization\nid: ${ids.acme}\nlabel: ACME 1\n`,
    `kind: User\nid: ${ids.ada}\ngroup: office\n`,
    `kind: Organization\nid: ${ids.acme}\nname: acme-2\nlabel: ACME 2\n`,
  ]) {
    await made.write({ 'manifests/all.yaml': manifest });
    expect((await made.idops('apply --yes')).code).toBe(0);
  }
  return made;
}

describe('idops runs', () => {
  it('shows when, who, what and why, and filters by each', async () => {
    const { idops, idopsWith, json, write } = await written();
    await write({ 'manifests/all.yaml': `kind: User\nid: ${ids.ada}\ngroup: staff\n` });
    const env = { GITHUB_ACTIONS: 'true', GITHUB_ACTOR: 'grace', GITHUB_REF: 'refs/pull/12/merge' };
    const why = 'OPS-7: back to \u001b[31mstaff\u001b[0m';
    expect((await idopsWith(['apply', '--yes', '--message', why], { env })).code).toBe(0);
    const runsOf = async (filter: string): Promise<string[]> =>
      (await json(`runs ${filter}`)).runs.map(({ run }: { run: string }) => run);
    const all = await runsOf('');
    const [, ada, , last] = all;
    expect(await runsOf('--actor GRACE')).toEqual([last]);
    expect(await runsOf('--kind User')).toEqual([ada, last]);
    expect(await runsOf('--kind User --actor grace --since 1h')).toEqual([last]);
    expect(await runsOf('--until 2020-01-31')).toEqual([]);
    expect(await runsOf(`--until ${new Date().toISOString().slice(0, 10)}`)).toEqual(all);

    const { stdout } = await idops('runs --actor grace');
    expect(stdout).toMatch(
      /^\S+ {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}apply by grace \(pull request 12\): 1 applied\n {4}User\/\S+ \(ada@acme\.example\)\n {4}message: OPS-7: back to \[31mstaff ?\[0m\n$/,
    );
    const who = /\nWho: +grace \(pull request 12\), process \d+ of \S+ on \S+\nMessage: +OPS-7/;
    expect((await idops(`runs show ${last}`)).stdout).toMatch(who);
    const history = await json('runs --address ada@acme.example --actor grace');
    expect(history.changes).toMatchObject([{ run: last, actor: 'grace', pull_request: 12, author: null }]);
    const none = await idops('runs --address ada@acme.example --until 2020-01-31');
    expect(none.stdout).toBe('No run matches.\n');
    expect((await idops('runs --since 2026-02-30')).stderr).toContain('error[wrong-option]');
  });

  it('finds an object by a name that only the state has', async () => {
    const { idops, read, write } = await written();
    const state = JSON.parse(await read('.idops/state.json'));
    state.resources[`User/${ids.ada}`].fields.username = 'ada@new.example';
    state.resources[`User/${ids.ada}`].left = undefined;
    await write({ '.idops/state.json': JSON.stringify(state) });
    const { stdout } = await succeeded(idops('runs --address ada@new.example'));
    expect(stdout).toContain(`update User/${ids.ada}`);
  });
});

describe('idops runs --address', () => {
  it('shows what runs did to one object, with differences, oldest first, under all its names', async () => {
    const { idops } = await written();
    for (const address of ['Organization/acme', 'Organization/acme-2', `Organization/${ids.acme}`]) {
      const { stdout } = await succeeded(idops(`runs --address ${address}`));
      expect(stdout.indexOf('"ACME Corp" → "ACME 1"')).toBeGreaterThan(0);
      expect(stdout.indexOf('"ACME 1" → "ACME 2"')).toBeGreaterThan(stdout.indexOf('"ACME Corp" → "ACME 1"'));
      expect(stdout).not.toContain('User/');
      expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    }
  });

  it('prints the same as JSON, without requests', async () => {
    const { sandbox, json } = await written();
    const before = sandbox.requests.length;
    const history = await json(`runs --address User/${ids.ada}`);
    expect(history).toMatchObject({
      format_version: 1,
      address: `User/${ids.ada}`,
      changes: [
        {
          command: 'apply',
          server: sandbox.url,
          address: `User/${ids.ada}`,
          label: 'ada@acme.example',
          action: 'update',
          status: 'applied',
          fields: [{ path: 'group', before: 'staff finance', after: 'office', sensitive: false }],
        },
      ],
    });
    const { runs } = await json('runs');
    expect(runs.map(({ run }: { run: string }) => run)).toContain(history.changes[0].run);
    expect(sandbox.requests).toHaveLength(before);
  });

  it('reports an object without history', async () => {
    const { idops } = await written();
    const said = /error\[no-such-address\]: no run of this state wrote Organization\/acmee\s/;
    await refused(idops('runs --address Organization/acmee'), said);
    const none = await project({});
    await refused(none.idops('runs --address Organization/acme'));
  });

  it('finds an object by its id, or by its name with or without its kind', async () => {
    const { idops } = await written();
    for (const [asked, found] of [
      ['User/ada@acme.example', `User/${ids.ada}`],
      ['ada@acme.example', `User/${ids.ada}`],
      [ids.ada, `User/${ids.ada}`],
      [ids.acme, 'Organization/acme'],
      ['acme', 'Organization/acme'],
      ['acme-2', 'Organization/acme'],
    ]) {
      const { stdout } = await succeeded(idops(`runs --address ${asked}`));
      expect(stdout).toContain(`update ${found}`);
    }
  });

  it('finds templates by the name of their backend, and clients by their name, and shows these names', async () => {
    const { idops, idopsWith } = await borutaProject({
      'manifests/all.yaml': [
        `kind: EmailTemplate\nbackend_id: ${ids.backend}\ntype: tx_code\ntxt_content: "new {{ tx_code }}"\n`,
        // Its response contains the backend's name.
        `kind: User\nid: ${ids.ada}\ngroup: office\n`,
        `kind: Client\nid: ${ids.portal}\ndid_generation: 1\n`,
      ].join('---\n'),
    });
    expect((await idops('apply --yes')).code).toBe(0);
    const template = `EmailTemplate/${ids.backend}/tx_code ("Company directory")`;
    for (const asked of [
      'EmailTemplate/Company directory',
      'Company directory/tx_code',
      'Company directory',
      ids.backend,
      `EmailTemplate/${ids.backend}`,
    ]) {
      const { stdout } = await succeeded(idopsWith(['runs', '--address', asked]));
      expect(stdout.replaceAll(/\s+/g, ' ')).toContain(template);
    }
    const client = await idopsWith(['runs', '--address', 'Customer portal']);
    expect(client.stdout).toContain(`Client/${ids.portal} ("Customer portal")`);
    expect(client.stdout).toContain('recorded, nothing was sent');
  });

  it('hides members of an element that were only sent with a change', async () => {
    const { idops } = await borutaProject({
      'manifests/all.yaml': `kind: User\nid: ${ids.ada}\nauthorized_scopes: [{name: "billing:read"}]\n`,
    });
    const plan = await idops('plan');
    expect(plan.stdout).not.toContain('Read invoices');
    expect((await idops('apply --yes')).code).toBe(0);
    const { stdout } = await succeeded(idops(`runs --address ${ids.ada}`));
    expect(stdout).not.toContain('label');
  });
});
