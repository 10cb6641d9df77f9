import { describe, expect, it } from 'vitest';
import type { SandboxSeed } from '../../src/sandbox/index.js';
import { journals, project } from './running.js';

const count = 1000;
const changed = 100;

function seed(): SandboxSeed {
  return {
    organizations: Array.from({ length: count }, (_, index) => ({
      id: `id-${index}`,
      name: `organization ${index}`,
      label: `label ${index}`,
    })),
    users: [],
    backends: [],
    templates: [],
    keyPairs: [],
    clients: [],
    scopes: [],
    roles: [],
  };
}

const manifest = Array.from({ length: count }, (_, index) => {
  const label = index % (count / changed) === 0 ? `new label ${index}` : `label ${index}`;
  return `kind: Organization\nname: organization ${index}\nlabel: ${label}\n`;
}).join('---\n');

describe('a thousand organizations of which a hundred change', () => {
  it('take two GETs and a hundred PATCHes on pages of 500, and nothing more the second time', async () => {
    const { idops, sandbox, reads, writes, files } = await project(
      { 'manifests/all.yaml': manifest },
      { seed: seed(), pageSize: 500 },
    );
    expect((await idops('apply --yes')).code).toBe(0);
    expect(reads()).toEqual(['GET /api/organizations?page=1', 'GET /api/organizations?page=2']);
    expect(writes()).toHaveLength(changed);
    expect(writes().every((line) => line.startsWith('PATCH /api/organizations/'))).toBe(true);
    expect(sandbox.requests).toHaveLength(2 + changed);

    const after = await files();
    expect(journals(after)).toHaveLength(1);
    expect((await idops('apply --yes')).code).toBe(0);
    expect(writes()).toHaveLength(changed);
    expect(sandbox.requests).toHaveLength(2 + changed + 2);
    expect(await files()).toEqual(after);
  });

  it('make the same plan on pages of 1, 7 and 500', async () => {
    const plans = [];
    for (const pageSize of [1, 7, 500]) {
      const { idops, reads } = await project({ 'manifests/all.yaml': manifest }, { seed: seed(), pageSize });
      const {
        server: _,
        created_at,
        digest,
        ...plan
      } = JSON.parse((await idops('plan --format json')).stdout);
      expect(digest).toMatch(/^sha256:/);
      expect(created_at).toBeDefined();
      expect(reads()).toHaveLength(Math.ceil(count / pageSize));
      plans.push(plan);
    }
    expect(plans[0].summary).toMatchObject({ update: changed, unchanged: count - changed });
    expect(plans[1]).toEqual(plans[0]);
    expect(plans[2]).toEqual(plans[0]);
  });

  it('are not listed further once a page is refused', async () => {
    const { idops, reads } = await project(
      { 'manifests/all.yaml': manifest },
      {
        seed: seed(),
        pageSize: 50,
        intercept: ({ path }) =>
          path.endsWith('page=3') ? { kind: 'answer', status: 403, body: { code: 'FORBIDDEN' } } : undefined,
      },
    );
    const { code, stderr } = await idops('plan --concurrency 1');
    expect(stderr).toContain('error[server-forbidden]: list organizations: GET /api/organizations?page=3');
    expect(code).toBe(1);
    // One more may be on its way by then; there are twenty.
    expect(reads().slice(0, 3)).toEqual([1, 2, 3].map((page) => `GET /api/organizations?page=${page}`));
    expect(reads().length).toBeLessThanOrEqual(4);
  });
});
