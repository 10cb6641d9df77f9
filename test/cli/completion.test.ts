import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { completedCommands } from '../../src/cli/completion/tree.js';
import { declare } from '../../src/cli/declare.js';
import { type Shell, shells } from '../../src/cli/shells.js';
import { runInProcess } from '../e2e/in-process.js';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'idops-completion-'));
  await mkdir(join(folder, 'a folder'));
  await writeFile(join(folder, 'plan one.json'), '');
  for (const shell of shells) {
    const ran = await runInProcess(['completion', shell], { cwd: folder, env: {} });
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    await writeFile(join(folder, `idops.${shell}`), ran?.stdout ?? '');
  }
});

afterAll(() => rm(folder, { recursive: true }));

function shell(name: Shell, ...args: string[]): string {
  return execFileSync(name, args, { cwd: folder, encoding: 'utf8' });
}

function isHere(name: Shell): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((path) => existsSync(join(path, name)));
}

/** What bash offers behind these words, the last of which is being typed; it takes them apart at each "=". */
function bash(...words: string[]): string[] {
  const apart = words.flatMap((word) => word.split(/(?<==)|(?==)/));
  const script = `source idops.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _idops; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return shell('bash', '-c', script, 'bash', 'idops', ...apart)
    .split('\n')
    .filter(Boolean);
}

describe.skipIf(!isHere('bash'))('bash completes', () => {
  it.each<[readonly string[], readonly string[]]>([
    [['doc'], ['doctor']],
    [['runs', 'u'], ['unlock']],
    [
      ['runs', 'prune', '--keep'],
      ['--keep', '--keep-last'],
    ],
    [['--env', 'apply', 'plan', '--det'], ['--detailed-exitcode']],
    [['plan', '--kind', 'Org'], ['Organization']],
    [['plan', '--kind=Org'], ['Organization']],
    [['plan', '--target', 'a', '--kind='], [...'Organization User KeyPair EmailTemplate Client'.split(' ')]],
    [
      ['validate', '--format', ''],
      ['text', 'json', 'github'],
    ],
    [['plan', '--format', 'json=pl'], ['plan one.json']],
    [
      ['sandbox', '--profile', ''],
      ['documented', 'boruta'],
    ],
    [['completion', ''], [...shells]],
    [['schema', 'c'], ['config']],
    [['apply', 'pl'], ['plan one.json']],
    [['apply', '--out'], []],
    [['plan', '--out', 'pl'], ['plan one.json']],
    [['init', 'a'], ['a folder']],
    [['plan', '--env', ''], []],
    [['runs', 'show', ''], []],
    [['plan', 'x', '--tim'], ['--timeout']],
    [['nonsense'], []],
  ])('%j to %j', (words, offered) => {
    expect(bash(...words).sort()).toEqual([...offered].sort());
  });
});

describe.skipIf(!isHere('fish'))('fish completes', () => {
  it.each<[string, readonly string[]]>([
    ['doc', ['doctor']],
    ['runs u', ['unlock']],
    ['--env apply plan --det', ['--detailed-exitcode']],
    ['plan --kind Org', ['Organization']],
    ['apply pl', ['plan one.json']],
  ])('%j to %j', (words, offered) => {
    const said = shell('fish', '--no-config', '-c', `source idops.fish; complete -C 'idops ${words}'`);
    expect(
      said
        .split('\n')
        .filter(Boolean)
        .map((line) => line.split('\t')[0]),
    ).toEqual(offered);
  });
});

describe('a completion script', () => {
  const commands = completedCommands(declare(() => async () => {}));

  it.each(shells)(
    'of %s names every command and every option, and nobody can have forgotten one',
    async (name) => {
      const script = readFileSync(join(folder, `idops.${name}`), 'utf8');
      expect(commands.length).toBeGreaterThan(15);
      for (const { path, options } of commands) {
        for (const part of path) expect(script).toContain(part);
        for (const flag of options.flatMap(({ flags }) => flags)) {
          expect(script).toContain(name === 'fish' ? flag.replace(/^--?/, '') : flag);
        }
      }
    },
  );

  it.skipIf(!isHere('zsh'))('of zsh is one for zsh', () => {
    expect(shell('zsh', '-n', 'idops.zsh')).toBe('');
  });

  it('of zsh has a function for every command, and quotes what it says', async () => {
    const script = readFileSync(join(folder, 'idops.zsh'), 'utf8');
    for (const { path } of commands) {
      expect(script).toContain(`${['_idops', ...path].join('_').replaceAll('-', '_')}() {`);
    }
    // But for apostrophes, quotes come in pairs.
    for (const line of script.split('\n').filter((one) => !one.startsWith('#'))) {
      expect(line.replaceAll(`'\\''`, '').split("'").length % 2, line).toBe(1);
    }
  });
});
