import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { planHash } from '../../src/plan/stored.js';
import { config, project, type TestProject } from '../e2e/running.js';
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

/** Changes one resource record in the state. */
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
    const again = await at.idops('apply plan.json');
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('stale plan') });
    expect(at.writes()).toHaveLength(before + 4);
  });

  it('holds with the manifests in another layout and order', async () => {
    const at = await planned();
    await rm(join(at.folder, 'manifests'), { recursive: true });
    await at.write({
      'manifests/b/clients.yaml': `did_generation: 3 # three\nid: "${ids.portal}"\nkind: Client\n`,
      'manifests/a.yaml': [emails, `{group: second, id: ${ids.ada}, kind: User}\n`].join('---\n'),
      'manifests/z.yaml': `label: "New"\nkind: Organization\nname: 'acme'\n`,
    });
    expect(await at.idops('apply plan.json')).toMatchObject({
      code: 0,
      stderr: expect.not.stringContaining('stale'),
    });
  });

  it('holds where the server lists its rows and the members of sets in another order', async () => {
    const at = await project(
      {
        'idops.yaml': config.replace('server:\n', 'server:\n  profile: boruta\n'),
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
      'when an object is gone',
      ({ sandbox }) => {
        sandbox.data.templates.length = 0;
      },
      `EmailTemplate/${ids.backend}/tx_code was changed on the server`,
    ],
    [
      'when a manifest declares another value',
      (at) => at.write({ 'manifests/all.yaml': [acme, ada('third'), emails, client(3)].join('---\n') }),
      `User/${ids.ada} is declared otherwise`,
    ],
    [
      'when a manifest declares one object more',
      (at) => at.write({ 'manifests/more.yaml': `kind: User\nid: ${ids.grace}\ngroup: staff\n` }),
      `User/${ids.grace} is new in it`,
    ],
    [
      'when a manifest declares one object less',
      (at) => at.write({ 'manifests/all.yaml': [acme, emails, client(3)].join('---\n') }),
      `User/${ids.ada} is no longer in it`,
    ],
    [
      'when another generation is declared',
      (at) => at.write({ 'manifests/all.yaml': [acme, ada('second'), emails, client(4)].join('---\n') }),
      `Client/${ids.portal}`,
    ],
    [
      'when the record of a generation is another one',
      (at) => changeRecord(at, `Client/${ids.portal}`, (record) => ({ ...record, did_generation: 2 })),
      `Client/${ids.portal} was changed on the server, or its record was`,
    ],
    [
      'when the record of an object is another one',
      (at) =>
        changeRecord(at, `User/${ids.ada}`, (record) => ({
          ...record,
          fields: { ...Object(record.fields), group: 'other' },
        })),
      `User/${ids.ada} was changed on the server, or its record was`,
    ],
    ['when the state is gone', (at) => rm(join(at.folder, '.idops'), { recursive: true }), `User/${ids.ada}`],
  ];
  it.each(moves)('%s', async (_, move, names) => {
    const at = await planned();
    await move(at);
    const before = at.writes().length;
    const { code, stderr } = await at.idops('apply plan.json --yes');
    expect(code).toBe(1);
    expect(stderr).toContain('error[stale-plan]: stale plan: ');
    expect(stderr).toContain(names);
    expect(at.writes()).toHaveLength(before);
  });

  it('on another server and in another environment', async () => {
    const at = await planned();
    const more = `${config}environments:\n  staging: {vars: {a: b}}\n`;
    await at.write({ 'idops.yaml': more });
    expect((await at.idops('apply plan.json --env staging')).stderr).toContain(
      'it is for the environment none, and this is staging',
    );
    const other = await project({ 'plan.json': await at.read('plan.json'), 'manifests/all.yaml': acme });
    const { code, stderr } = await other.idops('apply plan.json');
    expect(code).toBe(1);
    expect(stderr).toContain(`it is for ${at.sandbox.url}, and this is ${other.sandbox.url}`);
    expect(other.writes()).toEqual([]);
  });

  it('when its own text was changed', async () => {
    const at = await planned();
    const stored = JSON.parse(await at.read('plan.json'));
    await at.write({ 'plan.json': JSON.stringify({ ...stored, digest: 'sha256:other' }) });
    expect(await at.idops('apply plan.json')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('plan.json was changed after it was stored'),
    });
    const altered = { ...stored, digest: 'sha256:other' };
    const apply = { ...stored.apply, whole: planHash(altered) };
    await at.write({ 'plan.json': JSON.stringify({ ...altered, apply }) });
    expect(await at.idops('apply plan.json')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('its digest is another one'),
    });
  });
});

describe('a file that is no plan', () => {
  const files: readonly [string, (text: string) => string, string][] = [
    ['empty', () => '', 'it is not JSON'],
    ['rubbish', () => 'rubbish', 'it is not JSON'],
    ['half of one', (text) => text.slice(0, text.length / 2), 'it is not JSON'],
    ['null', () => 'null', 'it is not a plan that was stored with --out'],
    ['another JSON', () => '{"a": 1}', 'it is not a plan that was stored with --out'],
    [
      'shown and not stored',
      (text) => {
        const { apply: _, ...shown } = JSON.parse(text);
        return JSON.stringify(shown);
      },
      'it is not a plan that was stored with --out (see apply)',
    ],
    ['newer', (text) => text.replace('"format_version": 1', '"format_version": 2'), 'it has format 2'],
    ['older', (text) => text.replace('"format_version": 1', '"format_version": 0'), 'it is not a plan'],
  ];
  it.each(files)('%s is refused', async (_, damage, why) => {
    const at = await planned();
    const damaged = damage(await at.read('plan.json'));
    await at.write({ 'plan.json': damaged });
    const before = at.sandbox.requests.length;
    const { code, stderr } = await at.idops('apply plan.json --yes');
    expect(code).toBe(1);
    expect(stderr).toContain('error[plan-unreadable]');
    expect(stderr).toContain(why);
    expect(at.sandbox.requests).toHaveLength(before);
  });

  it('missing is refused, and options that change a plan are', async () => {
    const at = await planned();
    expect(await at.idops('apply no.json')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no.json is not there'),
    });
    for (const option of ['--target User/*', '--kind User', '--prune', '--assert']) {
      const { code, stderr } = await at.idops(`apply plan.json ${option}`);
      expect(code).toBe(1);
      expect(stderr).toContain('error[wrong-option]');
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
    expect(await at.idops('apply plan.json')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('error[too-destructive]'),
    });
    expect((await at.idops('apply plan.json --allow-destructive 1')).code).toBe(0);
  });

  it('holds no secret that can be read, and neither do the state and the journal', async () => {
    const secret = 'correct-horse-battery';
    const at = await project({
      'idops.yaml': `${config}allow_env: [SMTP_PASSWORD]\n`,
      'manifests/all.yaml': `kind: User\nid: ${ids.ada}\ngroup: "\${SMTP_PASSWORD}"\nbackend: {smtp_password: "\${SMTP_PASSWORD}"}\n`,
    });
    const env = { SMTP_PASSWORD: secret };
    expect((await at.idops('plan --out plan.json', { env })).code).toBe(0);
    expect((await at.idops('apply plan.json', { env })).code).toBe(0);
    expect(at.sandbox.data.backends[0]?.smtp_password).toBe(secret);
    expect(JSON.stringify(await at.files())).not.toContain(secret);
    const text = await readFile(join(at.folder, 'plan.json'), 'utf8');
    expect(text).not.toContain(Buffer.from(secret).toString('base64').slice(0, 12));
    // Another secret is another plan.
    await at.idops('plan --assert --out plan.json', { env });
    const other = await at.idops('apply plan.json', { env: { SMTP_PASSWORD: 'another-horse-battery' } });
    expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining('stale plan') });
  });
});
