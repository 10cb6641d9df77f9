import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { failed, project, refused, sure } from './running.js';

it('commands find the project of a folder below it, and tell paths from there', async () => {
  const { idops, read, write, folder, json } = await project({
    'idops.yaml': sure,
    'manifests/all.yaml': 'kind: Organization\nname: acme\nlabel: Changed\n',
  });
  await mkdir(join(folder, '.git'));
  const below = { cwd: join(folder, 'manifests') };
  const planned = await idops('plan', below);
  expect(planned).toMatchObject({ code: 0, stdout: expect.stringContaining('~ update Organization/acme') });
  expect(planned.stdout).toContain('at all.yaml:1');
  expect(planned.stderr.split('\n')[0]).toBe('The configuration is ../idops.yaml');
  expect((await idops('plan --quiet', below)).stderr).toBe('');
  expect((await idops('plan --config ../idops.yaml', below)).stderr).not.toContain('configuration');
  // A program knows the files from the root of the project, whatever folder it is started in.
  const inProject = { file: 'manifests/all.yaml', line: 1 };
  expect(await json('plan', below)).toMatchObject({ changes: [{ declared_at: inProject }] });
  await write({ 'manifests/bad.yaml': 'kind: Organisation\n' });
  const wrong = await idops('validate --format json', below);
  const places = [{ file: 'manifests/bad.yaml' }];
  expect(JSON.parse(wrong.stdout)).toMatchObject({ problems: [{ places }] });
  expect(wrong.stderr).toContain('--> bad.yaml:1:');
  await write({ 'manifests/bad.yaml': '' });
  // What is asked for lies where it is asked for, and is no input.
  expect((await idops('plan --out plan.json', below)).code).toBe(0);
  const stored = JSON.parse(await read('manifests/plan.json'));
  expect(stored).toMatchObject({ changes: [{ declared_at: inProject }] });
  await failed(idops('plan --out ../idops.yaml', below), 'error[output-is-input]');
  expect((await idops('apply manifests/plan.json')).code).toBe(0);
  expect(await read('.idops/state.json')).toContain('"resources"');
  expect((await idops('runs', below)).stdout).toContain('apply');
});

it('a configuration above that is broken is no place to write to either', async () => {
  const { idops, folder, read } = await project({ 'idops.yaml': 'version: 2\n', 'sub/kept': '' });
  await mkdir(join(folder, '.git'));
  await refused(idops('plan --format json=../idops.yaml', { cwd: join(folder, 'sub') }));
  expect(await read('idops.yaml')).toBe('version: 2\n');
});
