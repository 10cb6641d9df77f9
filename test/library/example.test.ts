import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { type Ran, watch } from '../e2e/running.js';

/** Runs a Node program to its end. */
const ran = (args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}): Promise<Ran> =>
  watch(spawn(process.execPath, args, { cwd, env: { ...process.env, ...env } })).ended;

const options = {
  compilerOptions: {
    target: 'ES2023',
    module: 'NodeNext',
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    types: ['node'],
    outDir: 'out',
  },
  files: ['release.ts', 'guide.ts'],
};

let folder = '';
let sandbox: Sandbox;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'idops-example-'));
  // test/package.test.ts checks that the package contains all of this.
  const modules = join(folder, 'user', 'node_modules');
  await mkdir(modules, { recursive: true });
  await symlink(resolve('.'), join(modules, 'idops'));
  await symlink(resolve('node_modules/@types'), join(modules, '@types'));
  await symlink(resolve('node_modules/undici-types'), join(modules, 'undici-types'));
  await cp('examples/library/release.ts', join(folder, 'user', 'release.ts'));
  const [, guide = ''] =
    /^```ts\n([\s\S]*?)^```$/m.exec(await readFile('docs/reference/library.md', 'utf8')) ?? [];
  await writeFile(join(folder, 'user', 'guide.ts'), guide);
  await writeFile(join(folder, 'user', 'package.json'), '{"type":"module"}');
  await writeFile(join(folder, 'user', 'tsconfig.json'), JSON.stringify(options));
  sandbox = await startSandbox();
});

afterAll(async () => {
  await sandbox?.close();
  await rm(folder, { recursive: true, force: true });
});

describe('the library example', () => {
  test('compiles with the types of the package', async () => {
    const tsc = resolve('node_modules/typescript/bin/tsc');
    expect(await ran([tsc], join(folder, 'user'))).toMatchObject({ code: 0, stdout: '' });
  });

  test('plans, stores, applies the stored plan, and then has nothing to do', async () => {
    const project = join(folder, 'project');
    await cp('examples', project, { recursive: true });
    const plan = join(folder, 'plan.json');
    const own = { IDOPS_BASE_URL: sandbox.url, IDOPS_TOKEN: sandbox.token };
    const release = (command: string, variables: NodeJS.ProcessEnv = {}): Promise<Ran> =>
      ran(['out/release.js', command, project, plan], join(folder, 'user'), { ...own, ...variables });

    const stdout = expect.stringContaining('Organization/acme');
    expect(await release('plan')).toMatchObject({ code: 2, stderr: '', stdout });
    expect(JSON.parse(await readFile(plan, 'utf8'))).toMatchObject({ format_version: 1, apply: {} });

    const refused = await release('apply', { IDOPS_TOKEN: 'a-token-of-nobody' });
    const unauthorized = expect.stringMatching(/^error\[server-unauthorized\]: .*\b401\b/);
    expect(refused).toMatchObject({ code: 1, stderr: unauthorized });

    const applied = await release('apply');
    expect(applied).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('applied') });
    const again = await release('apply');
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('error[stale-plan]') });
    const second = await release('plan');
    expect(second).toMatchObject({ code: 0, stdout: expect.stringContaining('nothing to change') });

    await writeFile(join(project, 'manifests', 'more.yaml'), 'kind: Organisation\n');
    const invalid = await release('plan');
    expect(invalid).toMatchObject({ code: 1, stderr: expect.stringContaining('error[unknown-kind]') });
  });
});

test('the first example of docs/reference/library.md shows a plan and applies it', async () => {
  const project = join(folder, 'guided');
  await cp('examples', project, { recursive: true });
  const own = await startSandbox();
  try {
    const env = { IDOPS_BASE_URL: own.url, IDOPS_TOKEN: own.token };
    const { code, stdout, stderr } = await ran([join(folder, 'user', 'out', 'guide.js')], project, env);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('Plan: 6 to update, 1 to delete');
    expect(own.requests.filter(({ method }) => method !== 'GET')).toHaveLength(7);
  } finally {
    await own.close();
  }
});
