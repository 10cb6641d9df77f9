import { chown, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Problem, ProblemsError } from '../../src/base/problems.js';
import { loadProject, type ProjectOptions } from '../../src/project/index.js';
import { temporaryFolder } from '../cleanups.js';

let top: string;
let deep: string;

/** A folder that contains only a deeply nested one. */
beforeEach(async () => {
  top = await temporaryFolder('find');
  deep = join(top, 'repository/manifests/emails');
  await mkdir(deep, { recursive: true });
});

async function workTree(folder: string): Promise<void> {
  await mkdir(join(top, folder, '.git'));
}

async function configure(folder: string, text = 'version: 1\n'): Promise<void> {
  await writeFile(join(top, folder, 'idops.yaml'), text);
}

async function find(options: Partial<ProjectOptions> = {}): Promise<string> {
  return (await loadProject({ cwd: deep, variables: {}, ...options })).file;
}

async function refusal(options: Partial<ProjectOptions> = {}): Promise<Problem | undefined> {
  const failure = await find(options).catch((thrown: unknown) => thrown);
  if (failure instanceof ProblemsError) return failure.problems[0];
  throw new Error(`found ${failure}`);
}

const notHere = { code: 'no-config', message: 'there is no idops.yaml in this folder' };

describe('the configuration is looked for', () => {
  it('in the parent folders, up to the root of the work tree', async () => {
    await workTree('repository');
    await configure('repository');
    const project = await loadProject({ cwd: deep, variables: {} });
    expect(project).toMatchObject({ file: '../../idops.yaml', root: join(top, 'repository'), cwd: deep });
    await configure('repository/manifests');
    expect(await find()).toBe('../idops.yaml');
    await configure('repository/manifests/emails');
    expect(await find()).toBe('idops.yaml');
  });

  it('and a broken link counts as found', async () => {
    await symlink('nosuch.yaml', join(deep, 'idops.yaml'));
    const dangling = { code: 'file-unreadable', message: 'idops.yaml does not exist' };
    for (const options of [{}, { config: 'idops.yaml' }])
      expect(await refusal(options)).toMatchObject(dangling);
  });

  it('never outside the work tree', async () => {
    await configure('.');
    await workTree('repository');
    expect(await refusal()).toMatchObject(notHere);
    // A work tree within another, such as a submodule, ends the search as well.
    await configure('repository');
    await writeFile(join(deep, '.git'), 'gitdir: elsewhere\n');
    expect(await refusal()).toMatchObject(notHere);
  });

  it('only in the folder itself without a work tree', async () => {
    expect(await refusal()).toMatchObject(notHere);
    await configure('repository');
    expect(await refusal()).toMatchObject(notHere);
  });

  it('only in the folder itself if a program asks for that', async () => {
    await workTree('repository');
    await configure('repository');
    expect(await refusal({ above: false })).toMatchObject(notHere);
  });

  it('nowhere if it is named', async () => {
    await workTree('repository');
    await configure('repository');
    for (const named of [{ config: 'idops.yaml' }, { variables: { IDOPS_CONFIG: 'idops.yaml' } }]) {
      expect(await refusal(named)).toMatchObject({ message: 'there is no file idops.yaml' });
    }
    expect(await find({ variables: { IDOPS_CONFIG: '' } })).toBe('../../idops.yaml');
  });

  it('from the real folder, whatever link leads there', async () => {
    await workTree('repository');
    await configure('repository');
    await symlink(deep, join(top, 'link'));
    expect(await find({ cwd: join(top, 'link') })).toBe('../repository/idops.yaml');
  });

  it('and the nearest is used, even if it is invalid', async () => {
    await workTree('repository');
    await configure('repository');
    await configure('repository/manifests', 'version: 2\n');
    expect(await refusal()).toMatchObject({ code: 'wrong-value', places: [{ file: '../idops.yaml' }] });
  });

  it.skipIf(process.getuid?.() !== 0).each([
    ['configuration', 'idops.yaml'],
    ['repository', '.git'],
  ])('and not used from a parent if the %s belongs to another user', async (_, owned) => {
    await workTree('repository');
    await configure('repository');
    await chown(join(top, 'repository', owned), 12_345, 12_345);
    expect(await refusal()).toMatchObject({
      code: 'no-config',
      message: expect.stringContaining(`since ../../${owned} belongs to another user`),
      hint: 'use --config ../../idops.yaml if you trust it',
    });
    expect(await find({ config: '../../idops.yaml' })).toBe('../../idops.yaml');
  });
});
