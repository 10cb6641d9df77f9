import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { describe, expect, it } from 'vitest';
import { afterwards } from '../cleanups.js';
import { signal } from './in-process.js';
import { config, type Files, project } from './running.js';

/** Presses Ctrl-C when the last manifest is opened. */
function interruptLastRead(): void {
  const { openSync } = fs;
  fs.openSync = (path, ...rest) => {
    if (String(path).endsWith('manifests/z.yaml')) signal('SIGINT');
    return openSync(path, ...rest);
  };
  syncBuiltinESMExports();
  afterwards(() => {
    fs.openSync = openSync;
    syncBuiltinESMExports();
  });
}

const users = (count: number, filling: number): string =>
  Array.from(
    { length: count },
    (_, index) => `kind: User\nid: user-${index}\nmetadata: {department: "${'x'.repeat(filling)}"}\n`,
  ).join('---\n');

const wrong = 'kind: User\nid: last\nmetadat: {}\n';

const projects: { readonly [size: string]: Files } = {
  'a few lines': { 'manifests/a.yaml': users(3, 10), 'manifests/z.yaml': wrong },
  '6000 documents': { 'manifests/a.yaml': users(6000, 150), 'manifests/z.yaml': wrong },
};

const few = 'a few lines';

describe('Ctrl-C while a project is read', () => {
  it.each([
    ...['validate', 'plan', 'apply --yes', 'doctor', 'preview', 'pull'].map((command) => [few, command]),
    ...Object.keys(projects)
      .slice(1)
      .map((name) => [name, 'validate']),
  ])('%s: %s ends without results', async (name, command) => {
    const { idops, files, writes, reads } = await project({ 'idops.yaml': config, ...projects[name] });
    const before = await files();
    interruptLastRead();
    const { code, stdout, stderr } = await idops(command);
    expect(stderr).toContain('error[interrupted]: interrupted: nothing more was read\n');
    expect(stderr).not.toContain('metadat');
    expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
    expect([...reads(), ...writes()]).toEqual([]);
    expect(await files()).toEqual(before);
  });
});

it('an interrupted validate prints its result as JSON too', async () => {
  const { idops } = await project({ 'idops.yaml': config, ...projects[few] });
  interruptLastRead();
  const { code, stdout } = await idops('validate --format json');
  expect(code).toBe(130);
  expect(JSON.parse(stdout)).toMatchObject({ problems: [{ code: 'interrupted' }] });
});
