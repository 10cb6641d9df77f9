import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end. */
function ran(
  program: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = {},
): Promise<Ran> {
  return new Promise((done) => {
    const child = execFile(
      program,
      [...args],
      { cwd, env: { ...process.env, ...env } },
      (failure, stdout, stderr) =>
        done({ code: failure === null ? 0 : (child.exitCode ?? -1), stdout, stderr }),
    );
  });
}

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
  // test/package.test.ts says that what is published has all of it.
  const modules = join(folder, 'user', 'node_modules');
  await mkdir(modules, { recursive: true });
  await symlink(resolve('.'), join(modules, 'idops'));
  await symlink(resolve('node_modules/@types'), join(modules, '@types'));
  await symlink(resolve('node_modules/undici-types'), join(modules, 'undici-types'));
  await cp('examples/library/release.ts', join(folder, 'user', 'release.ts'));
  const [, guide = ''] = /^```ts\n([\s\S]*?)^```$/m.exec(await readFile('docs/library.md', 'utf8')) ?? [];
  await writeFile(join(folder, 'user', 'guide.ts'), guide);
  await writeFile(join(folder, 'user', 'package.json'), '{"type":"module"}');
  await writeFile(join(folder, 'user', 'tsconfig.json'), JSON.stringify(options));
  sandbox = await startSandbox();
});

afterAll(async () => {
  await sandbox?.close();
  await rm(folder, { recursive: true, force: true });
});

describe('the example for programs', () => {
  test('fits the types of the package', async () => {
    const tsc = resolve('node_modules/typescript/bin/tsc');
    const { stdout, code } = await ran(process.execPath, [tsc], join(folder, 'user'));
    expect(stdout).toBe('');
    expect(code).toBe(0);
  });

  test('plans, stores, applies what was stored, and then there is nothing to do', async () => {
    const project = join(folder, 'project');
    await cp('examples', project, { recursive: true });
    const plan = join(folder, 'plan.json');
    const release = (command: string, variables: NodeJS.ProcessEnv = {}): Promise<Ran> =>
      ran(process.execPath, ['out/release.js', command, project, plan], join(folder, 'user'), {
        IDOPS_BASE_URL: sandbox.url,
        IDOPS_TOKEN: sandbox.token,
        ...variables,
      });

    const planned = await release('plan');
    expect(planned.stderr).toBe('');
    expect(planned.stdout).toContain('Organization/acme');
    expect(planned.code).toBe(2);
    expect(JSON.parse(await readFile(plan, 'utf8'))).toMatchObject({ format_version: 1, apply: {} });

    const refused = await release('apply', { IDOPS_TOKEN: 'a-token-of-nobody' });
    expect(refused.stderr).toMatch(/^error\[server-unauthorized\]: .*\b401\b/);
    expect(refused.code).toBe(1);

    const applied = await release('apply');
    expect(applied.stderr).toBe('');
    expect(applied.stdout).toContain('applied');
    expect(applied.code).toBe(0);

    const again = await release('apply');
    expect(again.stderr).toContain('error[stale-plan]');
    expect(again.code).toBe(1);

    const second = await release('plan');
    expect(second.stdout).toContain('nothing to change');
    expect(second.code).toBe(0);

    await writeFile(join(project, 'manifests', 'more.yaml'), 'kind: Organisation\n');
    const invalid = await release('plan');
    expect(invalid.stderr).toContain('error[unknown-kind]');
    expect(invalid.code).toBe(1);
  });
});

test('the first example of the page about the library shows a plan and applies it', async () => {
  const project = join(folder, 'guided');
  await cp('examples', project, { recursive: true });
  const own = await startSandbox();
  try {
    const env = { IDOPS_BASE_URL: own.url, IDOPS_TOKEN: own.token };
    const { code, stdout, stderr } = await ran(
      process.execPath,
      [join(folder, 'user', 'out', 'guide.js')],
      project,
      env,
    );
    expect(stderr).toBe('');
    expect(stdout).toContain('Plan: 6 to update, 1 to delete');
    expect(code).toBe(0);
    expect(own.requests.filter(({ method }) => method !== 'GET')).toHaveLength(7);
  } finally {
    await own.close();
  }
});
