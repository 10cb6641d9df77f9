import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { failed, project, refused, trustedConfig } from './running.js';

it('commands in a subfolder find the project, and print paths relative to the subfolder', async () => {
  const { idops, read, write, folder, json } = await project({
    'idops.yaml': trustedConfig,
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
  // Output for programs names files relative to the project.
  const inProject = { file: 'manifests/all.yaml', line: 1 };
  expect(await json('plan', below)).toMatchObject({ changes: [{ declared_at: inProject }] });
  await write({ 'manifests/bad.yaml': 'kind: Organisation\n' });
  const wrong = await idops('validate --format json', below);
  const places = [{ file: 'manifests/bad.yaml' }];
  expect(JSON.parse(wrong.stdout)).toMatchObject({ problems: [{ places }] });
  expect(wrong.stderr).toContain('--> bad.yaml:1:');
  await write({ 'manifests/bad.yaml': '' });
  // An output file is relative to the current folder, and may not be an input.
  expect((await idops('plan --out plan.json', below)).code).toBe(0);
  const stored = JSON.parse(await read('manifests/plan.json'));
  expect(stored).toMatchObject({ changes: [{ declared_at: inProject }] });
  await failed(idops('plan --out ../idops.yaml', below), 'error[output-is-input]');
  expect((await idops('apply manifests/plan.json')).code).toBe(0);
  expect(await read('.idops/state.json')).toContain('"resources"');
  expect((await idops('runs', below)).stdout).toContain('apply');
});

it('a broken configuration in a parent folder is not overwritten', async () => {
  const { idops, folder, read } = await project({ 'idops.yaml': 'version: 2\n', 'sub/kept': '' });
  await mkdir(join(folder, '.git'));
  await refused(idops('plan --format json=../idops.yaml', { cwd: join(folder, 'sub') }));
  expect(await read('idops.yaml')).toBe('version: 2\n');
});
