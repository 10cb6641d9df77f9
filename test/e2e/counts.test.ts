import { describe, expect, it, vi } from 'vitest';
import { loadProject } from '../../src/project/index.js';
import { openForWriting } from '../../src/session/open.js';
import { organizations } from '../action/running.js';
import { holdWrites } from './gate.js';
import { journals, project, type TestProject } from './running.js';

const count = 100;
const changed = 10;

const { seed, all } = organizations(count);
const manifest = all
  .map(({ name, label }, index) => {
    const isNew = index % (count / changed) === 0;
    return `kind: Organization\nname: ${name}\nlabel: ${isNew ? 'new ' : ''}${label}\n`;
  })
  .join('---\n');

describe('an apply that changes 10 of 100 organizations', () => {
  it('needs two GETs and ten PATCHes with pages of 50, and only the GETs if repeated', async () => {
    const { idops, sandbox, reads, writes, files } = await project(
      { 'manifests/all.yaml': manifest },
      { seed, pageSize: 50 },
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
});

describe('the apply after a killed one', () => {
  /** A project whose apply was killed during its first PATCH, long enough ago to check its outcome once. */
  async function killed(): Promise<TestProject> {
    const { arrived, open, intercept } = holdWrites();
    const given = await project({ 'manifests/all.yaml': manifest }, { seed, pageSize: 50, intercept });
    const running = given.begin(['apply', '--yes', '--concurrency', '1']);
    await arrived;
    running.child.kill('SIGKILL');
    await running.ended;
    const [journal = ''] = journals(await given.files());
    const aged = (await given.read(journal)).replace(/"at":"[^"]+"/g, '"at":"2026-01-31T12:00:00.000Z"');
    await given.write({ [journal]: aged });
    open();
    return given;
  }

  it('reads each page once, for the outcome of the last change and for the plan', async () => {
    const { idops, reads, writes, sandbox } = await killed();
    const before = sandbox.requests.length;
    const { code, stderr } = await idops('apply --yes');
    expect(stderr).toContain('had not ended');
    expect(code).toBe(0);
    expect(reads().slice(2)).toEqual(['GET /api/organizations?page=1', 'GET /api/organizations?page=2']);
    // The change in flight either arrived before the list was read, or is sent again.
    expect(sandbox.requests.length - before).toBeLessThanOrEqual(2 + changed);
    expect(writes().length).toBeGreaterThanOrEqual(changed);
    expect((await idops('plan --detailed-exitcode')).code).toBe(0);
    expect(reads()).toHaveLength(6);
  });

  it('needs only the scopes of the selected objects', async () => {
    const { idops } = await killed();
    const { stdout, stderr } = await idops('plan --kind Client --format json');
    expect(stderr).toContain('had not ended');
    expect(JSON.parse(stdout)).toMatchObject({ required_scopes: [], changes: [] });
  });

  it.each([
    ['another plan of the same session', 0, [1, 2]],
    ['a plan that is made much later', 60_000, [2, 3]],
  ])("doesn't reuse the list for %s", async (_, late, readings) => {
    const { folder, sandbox, reads } = await killed();
    const variables = { IDOPS_BASE_URL: sandbox.url, IDOPS_TOKEN: sandbox.token };
    const session = await openForWriting(await loadProject({ cwd: folder, variables }), 'apply');
    const now = performance.now.bind(performance);
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + late);
    const listed = () => reads().filter((line) => line.endsWith('page=1')).length - 1;
    try {
      for (const reading of readings) {
        await session.plan();
        expect(listed()).toBe(reading);
      }
    } finally {
      clock.mockRestore();
      await session.close();
    }
  });
});
