import { describe, expect, it } from 'vitest';
import type { Intercept, SandboxRequest } from '../../src/sandbox/index.js';
import { ids } from '../demo-ids.js';
import { blocked, boruta, config, failed, journals, project, trustedConfig } from './running.js';

const probe = 'GET /api/idops-doctor';
const list = 'GET /api/organizations?page=1';
const user = `kind: User\nid: ${ids.ada}\ngroup: ops\n`;
const organization = 'kind: Organization\nname: acme\nlabel: Ltd\n';
const keyPair = `kind: KeyPair\nid: ${ids.secondKey}\nis_default: true\n`;
const template = (type: string) =>
  `kind: EmailTemplate\nbackend_id: ${ids.backend}\ntype: ${type}\ntxt_content: own\n`;
const onBoruta = { profile: 'boruta' } as const;
const reason = /this server answers like one of the profile boruta.*set "profile: boruta" under server/s;

function all(...documents: string[]): { [path: string]: string } {
  return { 'manifests/all.yaml': documents.join('---\n') };
}

describe('a server section without a profile', () => {
  it('detects a Boruta with one GET, and blocks what it would lose', async () => {
    const { idops, json, reads, writes, sandbox } = await project(all(user, organization, keyPair), onBoruta);
    const before = sandbox.snapshot();
    const { changes } = await json('plan');
    expect(reads()).toEqual([list, probe]);
    const blocked = { action: 'blocked', reason: expect.stringMatching(reason), requests: [] };
    expect(changes).toMatchObject([
      { address: 'Organization/acme', action: 'update' },
      { address: `User/${ids.ada}`, ...blocked },
      { address: `KeyPair/${ids.secondKey}`, ...blocked },
    ]);
    expect((await idops('apply --yes')).code).toBe(1);
    expect(writes()).toEqual([]);
    expect(sandbox.snapshot()).toEqual(before);
    expect((await idops('apply --yes --kind Organization')).code).toBe(0);
    expect(writes()).toEqual([`PATCH /api/organizations/${ids.acme}`]);
  });

  it('costs one GET per run on a documented server, and blocks nothing', async () => {
    const { idops, reads, writes } = await project(all(user, template('tx_code')));
    expect((await idops('apply --yes')).code).toBe(0);
    expect(reads().filter((path) => path === probe)).toHaveLength(1);
    expect(writes()).toHaveLength(2);
    const asked = reads().length;
    // Nothing is to be written, so the profile doesn't matter.
    expect((await idops('plan --detailed-exitcode')).code).toBe(0);
    expect(reads().slice(asked)).not.toContain(probe);
  });

  it('blocks nothing on a documented server whose built-in templates have no id', async () => {
    const intercept = ({ method, path }: SandboxRequest): Intercept | undefined =>
      method === 'GET' && path.includes('/email-templates/')
        ? { kind: 'answer', status: 200, body: { data: { id: null, txt_content: 'built-in' } } }
        : undefined;
    const { json, reads } = await project(all(template('tx_code')), { intercept });
    expect(await json('plan')).toMatchObject({ changes: [{ action: 'update' }], warnings: [] });
    expect(reads()).toContain(probe);
  });

  it('trusts what a template suggests if the response to the GET is inconclusive', async () => {
    const intercept = ({ path }: SandboxRequest): Intercept | undefined =>
      path === '/api/idops-doctor' ? { kind: 'answer', status: 403, body: {} } : undefined;
    const { json } = await project(all(template('confirmation_instructions'), user), {
      ...onBoruta,
      intercept,
    });
    const blocked = { action: 'blocked', reason: expect.stringMatching(reason) };
    expect(await json('plan')).toMatchObject({ changes: [blocked, blocked], warnings: [] });
  });

  it('detects the server with --base-url and no server section too', async () => {
    const { idops, sandbox, writes } = await project(
      { 'idops.yaml': 'version: 1\n', ...all(user) },
      onBoruta,
    );
    const env = { IDOPS_BASE_URL: undefined };
    await blocked(idops(`plan --base-url ${sandbox.url}`, { env }), reason);
    expect(writes()).toEqual([]);
  });

  it('refuses regenerate-did and undo too', async () => {
    const { idops, writes, write, files } = await project(all(template('tx_code')), onBoruta);
    await blocked(idops(`regenerate-did ${ids.portal} --yes`), reason);
    expect(writes()).toEqual([]);

    await write({ 'idops.yaml': boruta });
    expect((await idops('apply --yes')).code).toBe(0);
    const sent = writes().length;
    await write({ 'idops.yaml': config });
    const [run] = journals(await files()).map((path) => path.match(/([^/]+)\.jsonl$/)?.[1]);
    const undone = await failed(idops(`undo ${run} --yes`));
    expect(undone.stderr.replace(/\s+/g, ' ')).toMatch(reason);
    expect(writes()).toHaveLength(sent);
  });

  it.each<[string, Intercept]>([
    ['403', { kind: 'answer', status: 403, body: {} }],
    ['200', { kind: 'answer', status: 200, body: { data: {} } }],
    ['500', { kind: 'answer', status: 500, body: {} }],
    ['501', { kind: 'answer', status: 501, body: {} }],
  ])('blocks nothing but warns if the response is inconclusive (%s)', async (status, answer) => {
    const intercept = ({ path }: SandboxRequest) => (path === '/api/idops-doctor' ? answer : undefined);
    const { json } = await project(all(user), { intercept });
    const message = expect.stringContaining(`(${status}) does not tell`);
    const warnings = [{ code: 'profile-unsure', message }];
    expect(await json('plan')).toMatchObject({ changes: [{ action: 'update' }], warnings });
  });

  it('fails the plan if the server does not answer, as any read does', async () => {
    const intercept = ({ path }: SandboxRequest): Intercept | undefined =>
      path === '/api/idops-doctor' ? { kind: 'reset', when: 'before' } : undefined;
    const { idops, writes } = await project(all(user), { intercept });
    await failed(idops('apply --yes --retries 0'), 'get an unknown path');
    expect(writes()).toEqual([]);
  });
});

describe('a configured profile', () => {
  it('is checked too', async () => {
    const text = config.replace('server:\n', 'server:\n  profile: documented\n');
    const { idops } = await project({ 'idops.yaml': text, ...all(user) }, onBoruta);
    await blocked(idops('plan'), reason);
  });

  it('is trusted with trust_profile, without a request', async () => {
    const { idops, reads } = await project({ 'idops.yaml': trustedConfig, ...all(user) });
    expect((await idops('apply --yes')).code).toBe(0);
    expect(reads()).toEqual([]);
  });

  it('is required for trust_profile', async () => {
    const { idops } = await project({
      'idops.yaml': config.replace('server:\n', 'server:\n  trust_profile: true\n'),
      ...all(user),
    });
    await failed(idops('plan'), 'trust_profile is set without a profile', /idops\.yaml:3:\d+/);
  });
});
