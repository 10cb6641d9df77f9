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
