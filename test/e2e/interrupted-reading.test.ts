import { describe, expect, it } from 'vitest';
import { config, type Files, project } from './running.js';

/** Ctrl-C at the moment in which a process opens the manifest that it reads last. */
const interrupts = `--import "data:text/javascript,${encodeURIComponent(
  `import fs from 'node:fs';
   import { syncBuiltinESMExports } from 'node:module';
   const { openSync } = fs;
   fs.openSync = (path, ...rest) => {
     if (String(path).endsWith('manifests/z.yaml')) process.kill(process.pid, 'SIGINT');
     return openSync(path, ...rest);
   };
   syncBuiltinESMExports();`,
)}"`;
const env = { NODE_OPTIONS: interrupts };

const users = (count: number, filling: number): string =>
  Array.from(
    { length: count },
    (_, index) => `kind: User\nid: user-${index}\nmetadata: {department: "${'x'.repeat(filling)}"}\n`,
  ).join('---\n');

const wrong = 'kind: User\nid: last\nmetadat: {}\n';

const projects: { readonly [what: string]: Files } = {
  'of a few lines': { 'manifests/a.yaml': users(3, 10), 'manifests/z.yaml': wrong },
  'of 6000 documents': { 'manifests/a.yaml': users(6000, 150), 'manifests/z.yaml': wrong },
};

describe.each(Object.entries(projects))('Ctrl-C while a project is read %s', (_, manifests) => {
  it.each(['validate', 'plan', 'apply --yes', 'doctor', 'preview', 'pull'])(
    'ends %s, which claims nothing of it',
    async (command) => {
      const { begin, files, writes, reads } = await project({ 'idops.yaml': config, ...manifests });
      const before = await files();
      const { code, stdout, stderr } = await begin(command.split(' '), { env }).ended;
      expect(stderr).toContain('error[interrupted]: interrupted: nothing more was read\n');
      expect(stderr).not.toContain('metadat');
      expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
      expect([...reads(), ...writes()]).toEqual([]);
      expect(await files()).toEqual(before);
    },
  );
});

it('the result of a check that was interrupted is told as JSON too', async () => {
  const { begin } = await project({ 'idops.yaml': config, ...projects['of a few lines'] });
  const { code, stdout } = await begin(['validate', '--format', 'json'], { env }).ended;
  expect(code).toBe(130);
  expect(JSON.parse(stdout)).toMatchObject({ problems: [{ code: 'interrupted' }] });
});
