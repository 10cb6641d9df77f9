import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { project } from '../e2e/running.js';

describe('idops init', () => {
  it.each([
    [
      'github',
      [
        '.github/workflows/idops-drift.yml',
        '.github/workflows/idops-merge.yml',
        '.github/workflows/idops-pull-request.yml',
      ],
    ],
    ['gitlab', ['.gitlab-ci.yml']],
  ])('writes a project that is valid, and the workflows for %s', async (ci, workflows) => {
    const { idops, files, folder } = await project({});
    const { code, stdout } = await idops(`init new --ci ${ci}`);
    expect(code).toBe(0);
    const written = Object.keys(await files()).filter((path) => path.startsWith('new/'));
    expect(stdout.trim().split('\n').sort()).toEqual(written.map((path) => `wrote ${path}`).sort());
    for (const path of ['idops.yaml', '.gitignore', 'manifests/organizations.yaml', ...workflows]) {
      expect(written).toContain(`new/${path}`);
    }
    expect(written.filter((path) => path.includes('.yml'))).toHaveLength(workflows.length);
    const run = { cwd: `${folder}/new` };
    expect(await idops('validate', run)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/objects are valid/),
    });
    expect(await idops('plan --detailed-exitcode', run)).toMatchObject({ code: 2 });
  });

  it('writes the workflows of the examples, as they are', async () => {
    const { idops, read } = await project({});
    await idops('init');
    expect(await read('.github/workflows/idops-merge.yml')).toBe(
      await readFile('examples/github/merge.yml', 'utf8'),
    );
  });

  it.each(['documented', 'boruta'] as const)('writes the profile that it found (%s)', async (profile) => {
    const { idops, read, writes, reads, sandbox, folder } = await project({}, { profile });
    const { code, stderr } = await idops('init new');
    expect(code).toBe(0);
    expect(stderr).toContain(`The profile ${profile} fits ${sandbox.url}`);
    expect(await read('new/idops.yaml')).toMatch(new RegExp(`# Found by .*\\n {2}profile: ${profile}\\n`));
    expect(writes()).toEqual([]);
    const asked = reads().length;
    expect(asked).toBeGreaterThan(0);
    expect(await idops('validate', { cwd: `${folder}/new` })).toMatchObject({ code: 0 });
    // What is there already needs no look at the server.
    await idops('init new');
    expect(reads()).toHaveLength(asked);
  });

  it.each([
    ['without an address', { IDOPS_BASE_URL: undefined }],
    ['without a token', { IDOPS_TOKEN: undefined }],
    ['with a token that is refused', { IDOPS_TOKEN: 'wrong-token-0123456789' }],
    ['with nobody at the address', { IDOPS_BASE_URL: 'http://127.0.0.1:9' }],
  ])('%s writes the document and says who finds out more', async (_, env) => {
    const { idops, read } = await project({}, { profile: 'boruta' });
    const { code, stderr } = await idops('init new', { env });
    expect(code).toBe(0);
    expect(await read('new/idops.yaml')).toMatch(/# .*idops doctor.*\n {2}profile: documented\n/);
    expect(stderr).not.toContain('wrong-token');
  });

  it('never overwrites, and says what it left', async () => {
    const { idops, read } = await project({
      'idops.yaml': 'mine',
      '.github/workflows/idops-merge.yml': 'mine too',
    });
    const { code, stdout, stderr } = await idops('init');
    expect(code).toBe(0);
    expect(await read('idops.yaml')).toBe('mine');
    expect(await read('.github/workflows/idops-merge.yml')).toBe('mine too');
    expect(stderr).toContain('idops.yaml was there already');
    expect(stdout).not.toContain('wrote idops.yaml');
    expect((await idops('init')).stdout).toBe('');
  });

  it('says where it can not write, and refuses a CI that it does not know', async () => {
    const { idops } = await project({ taken: 'a file' });
    expect(await idops('init taken')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('not-writable'),
    });
    expect(await idops('init --ci jenkins')).toMatchObject({ code: 1 });
  });
});
