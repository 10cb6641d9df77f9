import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Intercept, SandboxRequest, Scope } from '../../src/sandbox/index.js';
import { ids } from '../sandbox/asking.js';
import { project } from './running.js';
import { expectToFit } from './schemas.js';

const organization = 'kind: Organization\nname: acme\nlabel: New\n';
const user = `kind: User\nid: ${ids.ada}\ngroup: guests\n`;
const keyPair = `kind: KeyPair\nid: ${ids.secondKey}\nis_default: true\n`;
const template = `kind: EmailTemplate\nbackend_id: ${ids.backend}\ntype: tx_code\ntxt_content: new\n`;
const absent = `kind: EmailTemplate\nbackend_id: ${ids.backend}\ntype: tx_code\nstate: absent\n`;

/** Once for each path and method: the first such request meets the fault, the next go well. */
function once(fault: Intercept, isMeant: (request: SandboxRequest) => boolean) {
  const met = new Set<string>();
  return (request: SandboxRequest): Intercept | undefined => {
    const key = `${request.method} ${request.path}`;
    if (met.has(key) || !isMeant(request)) return undefined;
    met.add(key);
    return fault;
  };
}

const isWrite = ({ method }: SandboxRequest): boolean => method !== 'GET';
const busy: Intercept = { kind: 'answer', status: 503, headers: { 'retry-after': '0' } };

// Pauses between tries last as long as chance says.
beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0));
afterEach(() => void vi.restoreAllMocks());

async function resultOf(ran: Promise<{ stdout: string; code: number | null }>) {
  const { stdout, code } = await ran;
  const result = JSON.parse(stdout);
  expectToFit('run', result);
  return { code, ...result };
}

describe('a fault that passes', () => {
  it.each<[string, Intercept]>([
    ['a busy server', busy],
    ['a full queue', { kind: 'answer', status: 429, headers: { 'retry-after': '0' } }],
    ['a lost connection', { kind: 'reset', when: 'before' }],
    ['a connection that is lost after the work', { kind: 'reset', when: 'after' }],
    ['an answer that breaks off', { kind: 'truncate' }],
  ])('is got over: %s', async (_, fault) => {
    const { idops, sandbox } = await project(
      { 'manifests/all.yaml': [organization, user, absent].join('---\n') },
      { intercept: once(fault, () => true) },
    );
    const result = await resultOf(idops('apply --yes --format json'));
    expect(result).toMatchObject({ code: 0, summary: { applied: 3 } });
    for (const { attempts } of result.results) expect(attempts).toBe(2);
    expect(sandbox.data.organizations[0]?.label).toBe('New');
    expect((await idops('plan --detailed-exitcode')).code).toBe(0);
  });

  it.each([
    ['0', 1],
    ['5', 6],
  ])('is given as many more tries as --retries %s says', async (retries, tries) => {
    const { idops, reads } = await project({ 'manifests/all.yaml': organization }, { intercept: () => busy });
    expect((await idops(`plan --retries ${retries}`)).code).toBe(1);
    expect(reads()).toHaveLength(tries);
    for (const wrong of ['-1', '1.5', 'x', '101']) {
      const { code, stderr } = await idops(`plan --retries=${wrong}`);
      expect(code).toBe(1);
      expect(stderr).toContain('It must be a whole number from 0 to 100');
    }
  });

  it('is given four tries', async () => {
    const { idops, reads } = await project({ 'manifests/all.yaml': organization }, { intercept: () => busy });
    const { code, stderr } = await idops('plan');
    expect(code).toBe(1);
    expect(stderr).toContain('(after 4 tries)');
    expect(reads()).toHaveLength(4);
  });

  it('may be a server that does not answer in time', async () => {
    const { idops, reads } = await project(
      { 'manifests/all.yaml': organization },
      { intercept: once({ kind: 'stall' }, () => true) },
    );
    expect((await idops('plan --timeout 0.5')).code).toBe(0);
    expect(reads()).toHaveLength(2);
  });
});

describe('a server that answers 500', () => {
  it('is not asked again, and is read back where that can be done', async () => {
    const { idops, writes, sandbox } = await project(
      { 'manifests/all.yaml': [organization, user, keyPair, template].join('---\n') },
      { intercept: (request) => (isWrite(request) ? { kind: 'replace', status: 500, body: {} } : undefined) },
    );
    const result = await resultOf(idops('apply --yes --format json'));
    expect(result.code).toBe(1);
    expect(writes()).toHaveLength(4);
    const statuses = Object.fromEntries(
      result.results.map(({ address, status }: { address: string; status: string }) => [address, status]),
    );
    expect(statuses['Organization/acme']).toBe('applied');
    expect(statuses[`EmailTemplate/${ids.backend}/tx_code`]).toBe('applied');
    expect(statuses[`User/${ids.ada}`]).not.toBe('applied');
    expect(sandbox.data.users[0]?.group).toBe('guests');
    const plan = JSON.parse((await idops('plan --format json')).stdout);
    expect(plan.changes.map(({ address }: { address: string }) => address)).toEqual([
      `User/${ids.ada}`,
      `KeyPair/${ids.secondKey}`,
    ]);
  });

  it('and did nothing is a failure', async () => {
    const { idops } = await project(
      { 'manifests/all.yaml': [organization, absent].join('---\n') },
      { intercept: (request) => (isWrite(request) ? { kind: 'answer', status: 500 } : undefined) },
    );
    const result = await resultOf(idops('apply --yes --format json'));
    expect(result).toMatchObject({ code: 1, summary: { applied: 0, failed: 2 } });
    expect((await idops('plan --detailed-exitcode')).code).toBe(2);
  });
});

describe('a server that refuses', () => {
  it('one object does not stop the others', async () => {
    const { idops, sandbox } = await project(
      { 'manifests/all.yaml': [organization, user, template].join('---\n') },
      {
        intercept: ({ path }) =>
          path.includes('/users/')
            ? { kind: 'answer', status: 422, body: { errors: { group: ['is not a group'] } } }
            : undefined,
      },
    );
    const { code, stdout } = await idops('apply --yes');
    expect(code).toBe(1);
    expect(stdout).toContain('group: is not a group');
    expect(stdout).toContain('Applied: 2 applied, 1 failed.');
    expect(sandbox.data.templates[1]?.txt_content).toBe('new');
  });

  it('the credentials stops everything', async () => {
    const { idops, writes } = await project(
      { 'manifests/all.yaml': [organization, user, keyPair].join('---\n') },
      { intercept: (request) => (isWrite(request) ? { kind: 'answer', status: 401 } : undefined) },
    );
    const result = await resultOf(idops('apply --yes --format json'));
    expect(result).toMatchObject({ code: 1, summary: { failed: 1, skipped: 2 } });
    expect(writes()).toHaveLength(1);
  });

  it('for want of a scope stops what needs the same, and names it', async () => {
    const scopes: Scope[] = ['users:manage:all', 'identity-providers:manage:all'];
    const { idops, sandbox } = await project(
      {
        'manifests/all.yaml': [
          organization,
          keyPair,
          `kind: KeyPair\nid: ${ids.thirdKey}\npublic_key: x\n`,
          template,
        ].join('---\n'),
      },
      { tokens: { t: scopes } },
    );
    const { code, stdout } = await idops('apply --yes');
    expect(code).toBe(1);
    expect(stdout).toContain('clients:manage:all');
    expect(stdout).toContain('Applied: 2 applied, 1 failed, 1 skipped.');
    expect(sandbox.data.organizations[0]?.label).toBe('New');
  });

  it('to be read for want of a scope keeps everything from being written', async () => {
    const { idops, writes } = await project(
      { 'manifests/all.yaml': [organization, template].join('---\n') },
      { tokens: { t: ['users:manage:all'] } },
    );
    const { code, stderr } = await idops('apply --yes');
    expect(code).toBe(1);
    expect(stderr).toContain('It needs the scope identity-providers:manage:all');
    expect(writes()).toEqual([]);
  });
});

describe('a server that answers 200', () => {
  it('and keeps another value has not converged, and the next plan says so', async () => {
    const { idops, sandbox } = await project(
      { 'manifests/all.yaml': [organization, user, template].join('---\n') },
      {
        intercept: ({ path, method }) => {
          if (method === 'GET') return undefined;
          const data = path.includes('/users/')
            ? { id: ids.ada, group: 'staff' }
            : path.includes('/organizations/')
              ? { id: ids.acme, name: 'acme', label: 'ACME Corp' }
              : { type: 'tx_code', backend_id: ids.backend, txt_content: 'built-in', html_content: 'x' };
          return { kind: 'answer', status: 200, body: { data } };
        },
      },
    );
    const result = await resultOf(idops('apply --yes --format json'));
    expect(result).toMatchObject({ code: 1, summary: { applied: 0, not_converged: 3 } });
    expect(result.results[1].error).toContain('group: asked "guests", the server has "staff"');
    expect(sandbox.data.organizations[0]?.label).toBe('ACME Corp');
    const plan = JSON.parse((await idops('plan --format json')).stdout);
    expect(plan.summary).toMatchObject({ update: 3, unchanged: 0 });
  });

  it('about another object is not believed', async () => {
    const { idops } = await project(
      { 'manifests/all.yaml': [user, template].join('---\n') },
      {
        intercept: ({ path, method }) =>
          method === 'GET'
            ? undefined
            : {
                kind: 'replace',
                body: {
                  data: path.includes('/users/')
                    ? { id: ids.grace, group: 'guests' }
                    : { backend_id: ids.backend, type: 'reset_password_instructions', txt_content: 'new' },
                },
              },
      },
    );
    const result = await resultOf(idops('apply --yes --format json'));
    expect(result.code).toBe(1);
    expect(result.results.map(({ status }: { status: string }) => status)).toEqual(['unknown', 'applied']);
  });

  it.each<[string, unknown]>([
    ['with no object', '{"data": []}'],
    ['with something else', '<html>'],
    ['with nothing', ''],
  ])('%s is read back where that can be done', async (_, body) => {
    const { idops } = await project(
      { 'manifests/all.yaml': [organization, user].join('---\n') },
      { intercept: (request) => (isWrite(request) ? { kind: 'replace', body } : undefined) },
    );
    const result = await resultOf(idops('apply --yes --format json'));
    expect(result.code).toBe(1);
    expect(result.results.map(({ status }: { status: string }) => status)).toEqual(['applied', 'unknown']);
  });
});

it('a template that is gone when it is to be deleted is a success', async () => {
  const { idops } = await project(
    { 'manifests/all.yaml': absent },
    { intercept: ({ method }) => (method === 'DELETE' ? { kind: 'answer', status: 404 } : undefined) },
  );
  const result = await resultOf(idops('apply --yes --format json'));
  expect(result).toMatchObject({ code: 0, results: [{ status: 'applied', http_status: 404 }] });
});

describe('a server whose answers', () => {
  const all = [organization.replace('name: acme', `id: ${ids.acme}`), user, keyPair, template].join('---\n');

  it('leave out every optional field breaks nothing', async () => {
    const { idops, writes, sandbox } = await project(
      { 'manifests/all.yaml': all },
      { omitOptionalFields: true },
    );
    const result = await resultOf(idops('apply --yes --format json'));
    expect(result).toMatchObject({ code: 0, summary: { applied: 4 } });
    expect(result.results.map(({ unverified }: { unverified: string[] }) => unverified)).toEqual([
      ['id', 'label'],
      ['group'],
      ['is_default'],
      ['txt_content'],
    ]);
    expect(sandbox.data.users[0]?.group).toBe('guests');
    expect(writes()).toHaveLength(4);
    expect((await idops('plan --detailed-exitcode')).code).toBe(0);
    expect((await idops('apply --yes')).code).toBe(0);
    expect(writes()).toHaveLength(4);
  });

  it('have fields that no document knows breaks nothing', async () => {
    const { idops, writes } = await project({ 'manifests/all.yaml': all }, { addUnknownFields: true });
    const result = await resultOf(idops('apply --yes --format json'));
    expect(result).toMatchObject({ code: 0, summary: { applied: 4 } });
    expect(writes()).toHaveLength(4);
    expect((await idops('plan --detailed-exitcode')).code).toBe(0);
  });
});
