import { describe, expect, it } from 'vitest';
import { ids } from '../demo-ids.js';
import { project, trustedConfig } from './running.js';
import { expectToMatchSchema } from './schemas.js';

const renamed = 'kind: Organization\nname: acme\nlabel: ACME Corporation\n';
const unchanged = 'kind: Organization\nname: globex\nlabel: Globex Corporation\n';
const blocked = 'kind: Organization\nname: hooli\nlabel: Hooli\n';
const both = `${renamed}---\n${blocked}`;
const user = `kind: User\nid: ${ids.ada}\ngroup: staff\n`;
const client = `kind: Client\nid: ${ids.portal}\ndid_generation: 1\n`;

describe('the exit code of idops plan', () => {
  it.each([
    ['0 if something changes, without --detailed-exitcode', renamed, 'plan', 0],
    ['2 if something changes', renamed, 'plan --detailed-exitcode', 2],
    ['0 if nothing changes', unchanged, 'plan --detailed-exitcode', 0],
    ['0 if something is adopted', client, 'plan --detailed-exitcode', 0],
    ['1 if something is blocked', blocked, 'plan', 1],
    ['1 if something is blocked and something changes', both, 'plan --detailed-exitcode', 1],
    ['2 if what is blocked is not selected', both, 'plan --detailed-exitcode --target Organization/acme', 2],
  ])('is %s', async (_, manifest, args, expected) => {
    const { idops, writes } = await project({ 'manifests/all.yaml': manifest });
    expect((await idops(args)).code).toBe(expected);
    expect(writes()).toEqual([]);
  });
});

describe('a plan as JSON', () => {
  const all = [renamed, unchanged, blocked, user, client].join('---\n');

  it('is the only standard output, and matches its schema', async () => {
    const { json, sandbox } = await project({ 'manifests/all.yaml': all });
    const plan = await json('plan');
    expectToMatchSchema('plan', plan);
    expect(plan).toMatchObject({
      format_version: 1,
      server: sandbox.url,
      profile: 'documented',
      environment: null,
      summary: { update: 2, delete: 0, regenerate: 0, adopt: 1, blocked: 1, unchanged: 1 },
      required_scopes: ['users:manage:all'],
      warnings: [],
      digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    });
    expect(plan.changes.map(({ action }: { action: string }) => action)).not.toContain('unchanged');
    expect(plan.changes[0]).toMatchObject({
      address: 'Organization/acme',
      kind: 'Organization',
      action: 'update',
      observed: 'live',
      destructive: false,
      requests: [{ method: 'PATCH', path: `/api/organizations/${ids.acme}` }],
      fields: [{ path: 'label', before: 'ACME Corp', after: 'ACME Corporation', sensitive: false }],
      warnings: [],
      reason: null,
      declared_at: { file: 'manifests/all.yaml', line: 1 },
    });
    const [asserted] = plan.changes.filter(({ kind }: { kind: string }) => kind === 'User');
    expect(asserted).toMatchObject({
      observed: 'unknown',
      fields: [{ path: 'group', before: { unknown: true }, after: 'staff' }],
      declared_at: { file: 'manifests/all.yaml', line: 13 },
    });
  });
});

describe('a plan for programs on standard output', () => {
  it.each(['json', 'github', 'gitlab'])('is text on standard error, as for %s', async (format) => {
    const { idops } = await project({ 'manifests/all.yaml': renamed });
    const text = (await idops('plan')).stdout;
    expect((await idops(`plan --format ${format} --out plan.json`)).stderr).toContain(text);
    const stored = await idops(`plan plan.json --format ${format}`);
    expect(stored.stderr).toContain('"ACME Corp" → "ACME Corporation"');
    expect((await idops(`plan --format ${format} --quiet`)).stderr).toBe('');
    expect((await idops(`plan --format ${format}=file`)).stderr).not.toContain(text);
  });
});

describe('a target', () => {
  const files = { 'manifests/all.yaml': [renamed, unchanged, user, client].join('---\n') };
  it('may be an address by id, and makes the plan partial', async () => {
    const { idops, json } = await project(files);
    const { stdout } = await idops(`plan --format json --debug --target Organization/${ids.acme}`);
    const plan = JSON.parse(stdout);
    expect(plan.changes.map(({ address }: { address: string }) => address)).toEqual(['Organization/acme']);
    expect(plan.partial).toBe(true);
    expect(await json('plan')).not.toHaveProperty('partial');
  });

  it('leaves other kinds unread', async () => {
    const { idops, sandbox } = await project({ 'idops.yaml': trustedConfig, ...files });
    expect((await idops(`plan --target User/${ids.ada}`)).code).toBe(0);
    expect(sandbox.requests).toEqual([]);
  });
});

describe('a recorded value', () => {
  it('is compared without a request, but sent with --assert', async () => {
    const { idops, writes } = await project({ 'manifests/all.yaml': user });
    expect((await idops('apply --yes')).code).toBe(0);
    expect((await idops('plan --detailed-exitcode')).code).toBe(0);
    expect((await idops('plan --detailed-exitcode --assert')).code).toBe(2);
    expect((await idops('apply --yes --assert')).code).toBe(0);
    expect(writes()).toEqual([`PATCH /api/users/${ids.ada}`, `PATCH /api/users/${ids.ada}`]);
  });
});
