import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { kindNames } from '../../src/base/kind-names.js';
import type { Shell } from '../../src/cli/commands/completion.js';
import { runInProcess } from '../e2e/in-process.js';

async function completion(...args: string[]): Promise<string> {
  const ran = await runInProcess(['completion', ...args], { cwd: process.cwd(), env: {} });
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  return ran?.stdout ?? '';
}

describe('shell completion', () => {
  it.each<[readonly string[], readonly string[]]>([
    [['doc'], ['doctor']],
    [['runs', 'u'], ['unlock']],
    [
      ['runs', 'prune', '--keep'],
      ['--keep', '--keep-last'],
    ],
    [['--env', 'apply', 'plan', '--det'], ['--detailed-exitcode']],
    [['plan', '--kind', 'Org'], ['Organization']],
    [['plan', '--kind', '=', 'Org'], ['Organization']],
    [['plan', '--kind', '='], [...kindNames]],
    [
      ['validate', '--format', ''],
      ['text', 'json', 'github'],
    ],
    [['plan', '--format', 'json', '=', 'pl'], []],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['schema', 'c'], ['config']],
    [['apply', 'pl'], []],
    [['apply', '--out'], []],
    [['plan', '--env', ''], []],
    [['plan', 'x', '--tim'], ['--timeout']],
    [['nonsense'], []],
  ])('completes %j to %j', async (words, offered) => {
    const printed = await completion('bash', '--', ...words);
    expect(printed.split('\n').filter(Boolean).sort()).toEqual([...offered].sort());
  });

  it('has descriptions for zsh and fish, and repeats the option before a value', async () => {
    expect(await completion('zsh', '--', 'doc')).toMatch(/^doctor:check /);
    expect(await completion('fish', '--', 'plan', '--pru')).toMatch(/^--prune\tdelete /);
    expect(await completion('fish', '--', 'plan', '--kind=Us')).toBe('--kind=User\n');
  });
});

function isHere(name: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((path) => existsSync(join(path, name)));
}

describe.each<Shell>(['bash', 'zsh', 'fish'])('the completion script for %s', (shell) => {
  it.skipIf(!isHere(shell))('has valid syntax', async () => {
    const script = await completion(shell);
    expect(execFileSync(shell, ['-n'], { input: script, encoding: 'utf8' })).toBe('');
  });
});

it('bash passes the words up to the cursor, and reads each line as one word', async () => {
  const script = await completion('bash');
  const typed = `idops() { local IFS=' '; printf '%s\\n' "$*" 'two words'; }
${script}
COMP_WORDS=(idops plan --kind = '' later); COMP_CWORD=4; _idops; printf '<%s>' "\${COMPREPLY[@]}"`;
  expect(execFileSync('bash', ['-c', typed], { encoding: 'utf8' })).toBe(
    '<completion bash -- plan --kind = ><two words>',
  );
});
