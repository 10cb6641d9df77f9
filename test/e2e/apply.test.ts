import { describe, expect, it } from 'vitest';
import type { SandboxRequest } from '../../src/sandbox/index.js';
import { ids } from '../demo-ids.js';
import { config, failed, journals, project, succeeded } from './running.js';
import { expectToMatchSchema } from './schemas.js';

const renamed = 'kind: Organization\nname: acme\nlabel: ACME Corporation\n';
const unchanged = 'kind: Organization\nname: globex\nlabel: Globex Corporation\n';
const blocked = 'kind: Organization\nname: hooli\nlabel: Hooli\n';

const fiveKinds = `${renamed}---
kind: User
id: ${ids.ada}
blocked: true
group: guests
username: ada.lovelace
organizations: [initech, {name: globex, roles: [{id: ${ids.member}, name: member}]}]
authorized_scopes: [{id: ${ids.billingRead}, name: "billing:read", label: Read invoices}]
metadata: {department: {value: R&D, status: valid}}
whole: [metadata]
backend: {smtp_port: 25, smtp_password: hush-hush}
---
kind: KeyPair
id: ${ids.secondKey}
is_default: true
---
kind: KeyPair
id: ${ids.firstKey}
is_default: false
---
kind: EmailTemplate
backend_id: ${ids.backend}
type: reset_password_instructions
txt_content: {file: reset.txt}
---
kind: EmailTemplate
backend_id: ${ids.backend}
type: tx_code
state: absent
---
kind: Client
id: ${ids.portal}
did_generation: 3
`;
const fiveKindFiles = { 'manifests/all.yaml': fiveKinds, 'manifests/reset.txt': 'Reset: {{ url }}\r\n' };

describe('idops apply', () => {
  it('shows failures as text too if standard output is JSON', async () => {
    const refusal = { kind: 'answer', status: 422, body: { code: 'X', message: 'no such label' } } as const;
    const intercept = ({ method }: SandboxRequest) => (method === 'PATCH' ? refusal : undefined);
    const { idops } = await project({ 'manifests/all.yaml': renamed }, { intercept });
    const ran = await failed(
      idops('apply --yes --format json'),
      '✗ update Organization/acme failed (HTTP 422)',
    );
    expect(ran.stderr).toContain('no such label');
    expect(JSON.parse(ran.stdout).summary.failed).toBe(1);
  });

  it('does for five kinds what the plan shows, in order, and then the plan is empty', async () => {
    const { idops, sandbox, writes } = await project(fiveKindFiles);
    const { stdout, stderr } = await succeeded(idops('apply --yes --format json'));
    expect(stderr).toContain('Plan: 5 to update, 1 to delete');
    const result = JSON.parse(stdout);
    expectToMatchSchema('run', result);
    expect(result).toMatchObject({
      format_version: 1,
      run: expect.any(String),
      summary: { applied: 7, failed: 0, not_converged: 0, unknown: 0, skipped: 0 },
    });
    expect(result.results).toContainEqual({
      address: `User/${ids.ada}`,
      label: 'ada.lovelace',
      action: 'update',
      status: 'applied',
      http_status: 200,
      attempts: 1,
      unverified: ['backend.smtp_password'],
      error: null,
    });
    expect(writes()).toEqual([
      `PATCH /api/organizations/${ids.acme}`,
      `PATCH /api/users/${ids.ada}`,
      `PATCH /api/key-pairs/${ids.secondKey}`,
      `PATCH /api/key-pairs/${ids.firstKey}`,
      expect.stringContaining('/email-templates/'),
      expect.stringContaining('/email-templates/'),
    ]);
    const { data } = sandbox;
    expect(data.organizations[0]).toMatchObject({ name: 'acme', label: 'ACME Corporation' });
    expect(data.users[0]).toMatchObject({
      blocked: true,
      group: 'guests',
      username: 'ada.lovelace',
      uid: 'ada',
      metadata: { department: { value: 'R&D', status: 'valid' } },
      organizations: [{ id: ids.initech }, { id: ids.globex, roles: [{ id: ids.member }] }],
      authorized_scopes: [{ id: ids.billingRead }],
    });
    expect(data.backends[0]).toMatchObject({
      smtp_port: 25,
      smtp_password: 'hush-hush',
      smtp_relay: 'smtp.acme.example',
    });
    expect(data.keyPairs.map(({ is_default }) => is_default)).toEqual([false, true, false]);
    expect(data.templates).toMatchObject([
      { type: 'reset_password_instructions', txt_content: 'Reset: {{ url }}\r\n' },
    ]);
    expect(await idops('plan --detailed-exitcode')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('7 unchanged, 4 of them by record.'),
    });
  });

  it('sends nothing if nothing changes, and records observations once, without a journal', async () => {
    const { idops, writes, files } = await project({ 'manifests/all.yaml': unchanged });
    const before = await files();
    expect((await idops('apply --yes')).code).toBe(0);
    const { '.idops/state.json': state, ...rest } = await files();
    expect(rest).toEqual(before);
    expect((await idops('apply')).code).toBe(0);
    expect(writes()).toEqual([]);
    expect(await files()).toEqual({ ...before, '.idops/state.json': state });
  });

  it('needs no approval if nothing is sent, such as for an adoption', async () => {
    const { idops, writes, files } = await project({
      'manifests/all.yaml': `kind: Client\nid: ${ids.portal}\ndid_generation: 4\n`,
    });
    expect(await idops('apply')).toMatchObject({ code: 0, stdout: expect.stringContaining('adopted') });
    expect(writes()).toEqual([]);
    expect((await files())['.idops/state.json']).toContain('"did_generation": 4');
  });
});

describe('a plan with blocked objects', () => {
  it('is not applied, and every blocked object is reported', async () => {
    const { idops, writes, files } = await project({
      'manifests/all.yaml': `${renamed}---\n${blocked}---\nkind: User\nid: ${ids.ada}\norganizations: [pied piper]\n`,
    });
    const before = await files();
    await failed(
      idops('apply --yes'),
      'Organization/hooli is blocked: the server has no organization "hooli"',
      `User/${ids.ada} is blocked`,
    );
    expect(writes()).toEqual([]);
    expect(await files()).toEqual(before);
  });
});

describe('destructive changes', () => {
  const limited = { ...fiveKindFiles, 'idops.yaml': `${config}safety: {max_destructive: 1}\n` };

  it('are refused above the limit, which --allow-destructive replaces in both directions', async () => {
    const { idops, writes } = await project(limited);
    // The user is blocked, the default key pair moves and a template is deleted. What leaves the sets is unknown.
    const message = 'error[too-destructive]: the plan does 3 destructive things';
    await failed(idops('apply --yes'), message, '--allow-destructive 3');
    expect((await idops('apply --yes --allow-destructive 2')).code).toBe(1);
    expect(writes()).toEqual([]);
    expect((await idops('apply --yes --allow-destructive 3')).code).toBe(0);
    expect(writes()).toHaveLength(6);
  });
});

describe('the JSON result', () => {
  it('names no run if nothing changed', async () => {
    const result = await (await project({ 'manifests/all.yaml': unchanged })).json('apply --yes');
    expectToMatchSchema('run', result);
    expect(result).toMatchObject({ run: null, results: [] });
  });
});

describe('the files of a run', () => {
  it('are a journal whose lines match the schema, and a state by address, with organizations by id', async () => {
    const { files, json, read, sandbox } = await project(fiveKindFiles);
    const { run } = await json('apply --yes');
    const written = await files();
    expect(journals(written)).toEqual([`.idops/runs/${run}.jsonl`]);
    const lines = (written[`.idops/runs/${run}.jsonl`] ?? '').trimEnd().split('\n');
    const parsed = lines.map((line) => JSON.parse(line));
    for (const line of parsed) expectToMatchSchema('run', line);
    const types = parsed.map(({ type }) => type);
    expect([types[0], types.at(-1)]).toEqual(['run', 'end']);
    for (const wanted of ['sending', 'answered'])
      expect(types.filter((type) => type === wanted)).toHaveLength(7);
    expect(parsed.find(({ address }) => address === 'Organization/acme')).toMatchObject({
      method: 'PATCH',
      path: `/api/organizations/${ids.acme}`,
      before: { fields: { label: 'ACME Corp' } },
    });
    const state = JSON.parse(await read('.idops/state.json'));
    expect(state).toMatchObject({ format_version: 1, serial: 1, server: sandbox.url });
    expect(Object.keys(state.resources).sort()).toEqual(
      [
        `Organization/${ids.acme}`,
        `User/${ids.ada}`,
        `KeyPair/${ids.secondKey}`,
        `KeyPair/${ids.firstKey}`,
        `EmailTemplate/${ids.backend}/reset_password_instructions`,
        `EmailTemplate/${ids.backend}/tx_code`,
        `Client/${ids.portal}`,
      ].sort(),
    );
    expect(state.resources[`Client/${ids.portal}`].did_generation).toBe(3);
  });

  it('are at the configured path, with the journals next to the state', async () => {
    const { idops, files } = await project({
      'idops.yaml': `${config}state: {path: records/prod.json}\n`,
      'manifests/all.yaml': renamed,
    });
    await idops('apply --yes');
    const written = await files();
    expect(Object.keys(written)).toContain('records/prod.json');
    expect(journals(written)[0]).toMatch(/^records\/runs\//);
  });
});
