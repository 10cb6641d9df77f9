import { describe, expect, test } from 'vitest';
import { createRedactor } from '../../src/base/redact.js';
import { doctor } from '../../src/cli/commands/doctor.js';
import type { Context, GlobalOptions } from '../../src/cli/context.js';
import { loadProject } from '../../src/project/index.js';
import { keptOutput } from '../cli/streams.js';
import { ids, type Site, site } from './site.js';

interface Said {
  readonly code: number;
  readonly stdout: string;
}

/** Runs the command in the folder of a site. */
async function run(at: Site, format: string, token = at.sandbox.token): Promise<Said> {
  const redactor = createRedactor();
  const options: GlobalOptions = { color: false };
  const { output, stdout } = keptOutput({ color: false, redactor });
  const unused = () => Promise.reject(new Error('the doctor asks nobody and opens no session'));
  const context: Context = {
    options,
    output,
    redactor,
    prompt: { available: false, confirm: unused, text: unused, select: unused },
    lastWords: () => null,
    signal: new AbortController().signal,
    project: () => loadProject({ cwd: at.folder, variables: { IDOPS_TOKEN: token } }),
    sessionOptions: () => ({}),
    learnTokens: async () => {},
    forget: () => {},
    tellable: async (found) => [...found],
    unsaid: (text) => text,
    refuseOutputs: async () => {},
    session: unused,
    writing: unused,
  };
  const code = await doctor(context, { ...options, format: [format] });
  await output.flush();
  return { code, stdout: stdout.text };
}

describe('idops doctor', () => {
  test('a list of checks for a person', async () => {
    const at = await site();
    await at.declare({ kind: 'User', id: ids.ada, group: 'ops' });
    const { code, stdout } = await run(at, 'text');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ok {4}profile +boruta fits this server$/m);
    expect(stdout).toMatch(/^Nothing is in the way\.$/m);
    expect(at.writes()).toEqual([]);
  });

  test('JSON for a script, and exit 1 where the profile does not fit', async () => {
    const at = await site({ uses: 'documented' });
    const { code, stdout } = await run(at, 'json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      format_version: 1,
      profile: 'documented',
      fitting_profile: 'boruta',
      checks: expect.arrayContaining([
        expect.objectContaining({ name: 'profile', status: 'fail', hint: expect.stringContaining('boruta') }),
      ]),
    });
  });

  test('a missing scope fails only where the manifests need it', async () => {
    for (const [kind, wanted] of [
      ['User', 0],
      ['KeyPair', 1],
    ] as const) {
      const at = await site({ tokens: { secret: ['users:manage:all', 'identity-providers:manage:all'] } });
      await at.declare({ kind, id: ids.ada });
      expect((await run(at, 'text')).code).toBe(wanted);
    }
  });

  test('what is wrong with the configuration is a check too', async () => {
    const at = await site();
    const { code, stdout } = await run(at, 'text', '');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^fail {2}configuration/m);
  });

  test('a check that a problem is behind has its code for a script', async () => {
    const at = await site();
    const failed = async (token?: string) => {
      const { checks } = JSON.parse((await run(at, 'json', token)).stdout) as {
        checks: readonly { name: string; status: string; code?: string }[];
      };
      expect(checks.filter(({ status, code }) => status === 'ok' && code !== undefined)).toEqual([]);
      return checks.flatMap(({ name, status, code }) => (status === 'fail' ? [[name, code]] : []));
    };
    expect(await failed('')).toEqual([['configuration', 'unresolved-variable']]);
    expect(await failed('another')).toEqual([['credentials', 'server-unauthorized']]);
  });
});
