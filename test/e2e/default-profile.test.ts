import { describe, expect, it } from 'vitest';
import type { Intercept, SandboxRequest } from '../../src/sandbox/index.js';
import { ids } from '../sandbox/asking.js';
import { boruta, config, failed, journals, project, succeeded } from './running.js';

const probe = 'GET /api/idops-doctor';
const list = 'GET /api/organizations?page=1';
const user = `kind: User\nid: ${ids.ada}\ngroup: ops\n`;
const organization = 'kind: Organization\nname: acme\nlabel: Ltd\n';
const keyPair = `kind: KeyPair\nid: ${ids.secondKey}\nis_default: true\n`;
const template = (type: string) =>
  `kind: EmailTemplate\nbackend_id: ${ids.backend}\ntype: ${type}\ntxt_content: own\n`;
const reason = /this server answers like one of the profile boruta.*set "profile: boruta" under server/s;

function all(...documents: string[]): { [path: string]: string } {
  return { 'manifests/all.yaml': documents.join('---\n') };
}

interface Planned {
  readonly changes: readonly {
    address: string;
    action: string;
    reason: string | null;
    requests: unknown[];
  }[];
  readonly warnings: readonly { code: string }[];
}

function planned(stdout: string): Planned {
  return JSON.parse(stdout);
}

describe('where no profile is written out', () => {
  it('a Boruta is found out with one GET, and what it would lose is blocked', async () => {
    const { idops, reads, writes, sandbox } = await project(all(user, organization, keyPair), {
      profile: 'boruta',
    });
    const before = sandbox.snapshot();
    const plan = await idops('plan --format json');
    expect(plan.code).toBe(1);
    expect(reads()).toEqual([list, probe]);
    const { changes } = planned(plan.stdout);
    expect(changes.map(({ address, action }) => `${action} ${address}`)).toEqual([
      'update Organization/acme',
      `blocked User/${ids.ada}`,
      `blocked KeyPair/${ids.secondKey}`,
    ]);
    for (const { action, reason: why, requests } of changes) {
      if (action !== 'blocked') continue;
      expect(why).toMatch(reason);
      expect(requests).toEqual([]);
    }
    expect((await idops('apply --yes')).code).toBe(1);
    expect(writes()).toEqual([]);
    expect(sandbox.snapshot()).toEqual(before);
    expect((await idops('apply --yes --kind Organization')).code).toBe(0);
    expect(writes()).toEqual([`PATCH /api/organizations/${ids.acme}`]);
  });

  it('a server of the document costs one GET in a run, and nothing is blocked', async () => {
    const { idops, reads, writes } = await project(all(user, template('tx_code')));
    expect((await idops('apply --yes')).code).toBe(0);
    expect(reads().filter((path) => path === probe)).toHaveLength(1);
    expect(writes()).toHaveLength(2);
    const asked = reads().length;
    // Nothing is left to be written, so nothing is at stake.
    expect((await idops('plan --detailed-exitcode')).code).toBe(0);
    expect(reads().slice(asked)).not.toContain(probe);
  });

  it('a template that gives the server away saves the GET', async () => {
    const { idops, reads } = await project(all(template('confirmation_instructions'), user), {
      profile: 'boruta',
    });
    const { code, stdout } = await idops('plan --format json');
    expect(code).toBe(1);
    const { changes, warnings } = planned(stdout);
    expect(changes.map(({ action }) => action)).toEqual(['blocked', 'blocked']);
    expect(warnings).toEqual([]);
    expect(reads()).not.toContain(probe);
  });

  it('--base-url without a server section is looked at too', async () => {
    const { idops, sandbox, writes } = await project(
      { 'idops.yaml': 'version: 1\n', ...all(user) },
      { profile: 'boruta' },
    );
    const { code, stdout } = await idops(`plan --base-url ${sandbox.url}`, {
      env: { IDOPS_BASE_URL: undefined },
    });
    expect(code).toBe(1);
    expect(stdout.replace(/\s+/g, ' ')).toMatch(reason);
    expect(writes()).toEqual([]);
  });

  it('regenerate-did and undo are refused too', async () => {
    const { idops, writes, write, files } = await project(all(template('tx_code')), { profile: 'boruta' });
    const regeneration = await idops(`regenerate-did ${ids.portal} --yes`);
    expect(regeneration.code).toBe(1);
    expect(regeneration.stdout.replace(/\s+/g, ' ')).toMatch(reason);
    expect(writes()).toEqual([]);

    await write({ 'idops.yaml': boruta });
    expect((await idops('apply --yes')).code).toBe(0);
    const sent = writes().length;
    await write({ 'idops.yaml': config });
    const undone = await idops(`undo ${journals(await files())[0]?.match(/([^/]+)\.jsonl$/)?.[1]} --yes`);
    expect(undone.code).toBe(1);
    expect(undone.stderr.replace(/\s+/g, ' ')).toMatch(reason);
    expect(writes()).toHaveLength(sent);
  });

  it.each<[string, Intercept]>([
    ['403', { kind: 'answer', status: 403, body: {} }],
    ['200', { kind: 'answer', status: 200, body: { data: {} } }],
  ])('an answer that tells nothing (%s) blocks nothing, and is told', async (status, answer) => {
    const intercept = ({ path }: SandboxRequest) => (path === '/api/idops-doctor' ? answer : undefined);
    const { idops, writes } = await project(all(user), { intercept });
    const { stdout } = await succeeded(idops('plan --format json'));
    const { changes, warnings } = planned(stdout);
    expect(changes.map(({ action }) => action)).toEqual(['update']);
    expect(warnings).toEqual([
      { code: 'profile-unsure', message: expect.stringContaining(`(${status}) does not tell`) },
    ]);
    expect(writes()).toEqual([]);
  });

  it('a server that fails meanwhile fails the plan, as with any read', async () => {
    const intercept = ({ path }: SandboxRequest): Intercept | undefined =>
      path === '/api/idops-doctor' ? { kind: 'answer', status: 500, body: {} } : undefined;
    const { idops, writes } = await project(all(user), { intercept });
    await failed(idops('apply --yes'), 'ask for a path that no server has');
    expect(writes()).toEqual([]);
  });
});

describe('a profile that is written out', () => {
  it('is made sure of all the same', async () => {
    const text = config.replace('server:\n', 'server:\n  profile: documented\n');
    const { idops, writes } = await project({ 'idops.yaml': text, ...all(user) }, { profile: 'boruta' });
    const { code, stdout } = await idops('plan');
    expect(code).toBe(1);
    expect(stdout.replace(/\s+/g, ' ')).toMatch(reason);
    expect(writes()).toEqual([]);
  });

  it('is trusted with trust_profile, so that nothing more is asked', async () => {
    const trusting = config.replace('server:\n', 'server:\n  profile: documented\n  trust_profile: true\n');
    const { idops, reads } = await project({ 'idops.yaml': trusting, ...all(user) });
    expect((await idops('apply --yes')).code).toBe(0);
    expect(reads()).toEqual([]);
  });

  it('is needed for that', async () => {
    const { idops } = await project({
      'idops.yaml': config.replace('server:\n', 'server:\n  trust_profile: true\n'),
      ...all(user),
    });
    await failed(idops('plan'), 'trust_profile is set without a profile', /idops\.yaml:3:\d+/);
  });
});
