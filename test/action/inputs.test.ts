import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { describe, expect, test, vi } from 'vitest';
import { argsOptions, type Inputs, readInputs } from '../../src/action/inputs.js';
import { kindNames } from '../../src/base/kind-names.js';
import { ProblemsError } from '../../src/base/problems.js';
import { run } from '../../src/cli/program.js';
import { afterwards } from '../cleanups.js';
import { Kept } from '../cli/streams.js';

function inputsOf(args: string, others: { readonly [name: string]: string } = {}): Inputs {
  return readInputs((name) => ({ args, ...others })[name] ?? '');
}

/** The messages and hints about `args`. */
function wrong(args: string): string[] {
  try {
    inputsOf(args);
  } catch (failure) {
    if (!(failure instanceof ProblemsError)) throw failure;
    return failure.problems.flatMap(({ message, hint = '' }) => [message, hint]);
  }
  return [];
}

/** The command's error for the same words. */
async function commandError(words: readonly string[]): Promise<string> {
  const stderr = new Kept();
  const stdout = new Kept();
  const code = await run(['plan', ...words], { stdin: Readable.from([]), stdout, stderr });
  expect(code).toBe(1);
  return stderr.text;
}

describe('the options in args', () => {
  test('are those that action.yml and its page name', async () => {
    const names = argsOptions().map(({ long }) => String(long));
    expect(names).toHaveLength(14);
    const action = await readFile('action.yml', 'utf8');
    const [, listed = ''] = /Further options - (.+)/.exec(action) ?? [];
    expect(listed.split(', ').sort()).toEqual([...names].sort());
    const page = await readFile('docs/reference/github-action.md', 'utf8');
    const [row = ''] = /^\|`args`.*$/m.exec(page) ?? [];
    for (const name of names) expect(row).toContain(`\`${name}\``);
  });

  test('are parsed as on the command line', () => {
    expect(inputsOf('').args).toEqual({ target: [], kind: [] });
    const { args } = inputsOf(
      `--target 'a b' --target=c ${kindNames.map((kind) => `--kind ${kind}`).join(' ')} --prune --assert --rate 0.5
      --concurrency 7 --timeout 1.5 --retries 0 --token-file "a file" --debug`,
    );
    expect(args).toEqual({
      target: ['a b', 'c'],
      kind: [...kindNames],
      prune: true,
      assert: true,
      debug: true,
      rate: 0.5,
      concurrency: 7,
      timeout: 1.5,
      retries: 0,
      tokenFile: 'a file',
    });
  });

  test.each([
    ['--concurrency', '0'],
    ['--concurrency', '1.0'],
    ['--concurrency', '1001'],
    ['--retries', '-1'],
    ['--retries', '101'],
    ['--rate', '0'],
    ['--rate', '1e3'],
    ['--timeout', 'x'],
    ['--timeout', '86401'],
    ['--kind', 'Organisation'],
    ['--target', ''],
    ['--shard', '5/4'],
    ['--shard', 'x'],
    ['--shard'],
    ['--token-file', ''],
    ['--token-file'],
    ['--prunes'],
    ['--prune=yes'],
  ])("%s %s is refused with the command line's message", async (...words) => {
    const [message = ''] = wrong(words.map((word) => (word === '' ? '""' : word)).join(' '));
    expect(message).toMatch(/^args: /);
    const text = (await commandError(words)).replaceAll(/\s+(\| )?/g, ' ');
    expect(text).toContain(message.slice('args: '.length).replace('\n', ' '));
  });

  test('are neither arguments, nor commands, nor options that have their own input', () => {
    const others = ['--config x', '--env x', '--base-url x', '--yes', '--help'];
    for (const args of ['plan', '-- --prune', '"', ...others]) expect(wrong(args), args).not.toEqual([]);
    expect(wrong('plan it')).toEqual([
      "args: unexpected argument 'plan'",
      expect.stringContaining('it takes --target'),
      "args: unexpected argument 'it'",
      expect.stringContaining('it takes --target'),
    ]);
    const taken = argsOptions().map(({ long }) => long);
    expect(wrong('--nope --target')).toEqual([
      "args: unknown option '--nope'",
      `it takes ${taken.join(', ')}`,
      "args: option '--target <ADDRESS>' argument missing",
      expect.any(String),
    ]);
  });

  test('accept --only only for plan: apply would apply the rest too', () => {
    expect(inputsOf('--only drift').args.only).toBe('drift');
    for (const command of ['apply', 'validate'])
      expect(() => inputsOf('--only drift', { command })).toThrow('--only works only with the command plan');
  });

  test('accept --ended only for apply, as the command does', () => {
    expect(inputsOf('--ended', { command: 'apply' }).args.ended).toBe(true);
    for (const command of ['plan', 'validate'])
      expect(() => inputsOf('--ended', { command })).toThrow('--ended works only with the command apply');
  });

  test('select a shard, as the input shard does', () => {
    expect(inputsOf('').shard).toBeUndefined();
    expect(inputsOf('--shard 2/4').shard).toEqual({ index: 2, count: 4 });
    expect(inputsOf('', { shard: ' 2/4 ' }).shard).toEqual({ index: 2, count: 4 });
    // One shard of one is everything.
    expect(inputsOf('', { shard: '1/1' }).shard).toBeUndefined();
    for (const shard of ['5/4', '0/4', '2', '2 of 4', 'automatic'])
      expect(() => inputsOf('', { shard }), shard).toThrow(`the input shard is "${shard}"`);
    expect(() => inputsOf('--shard 2/4', { shard: '2/4' })).toThrow('are both set');
    for (const command of ['plan', 'apply'])
      expect(inputsOf('', { command, shard: '3/4' }).shard).toEqual({ index: 3, count: 4 });
    const only = 'the input shard works only with';
    expect(() => inputsOf('', { command: 'validate', shard: '2/4' })).toThrow(only);
    expect(() => inputsOf('--shard 2/4', { command: 'validate' })).toThrow('args: --shard works only with');
    const stored = { command: 'apply', 'plan-file': 'plan.json' };
    for (const [args, shard] of [
      ['', '2/4'],
      ['--shard 2/4', ''],
    ] as const)
      expect(() => inputsOf(args, { ...stored, shard })).toThrow("can't be used with a plan file");
  });

  test('read the shard from the variables of the job', () => {
    afterwards(() => vi.unstubAllEnvs());
    for (const name of ['IDOPS_SHARD_INDEX', 'IDOPS_SHARD_COUNT', 'JOB_COMPLETION_INDEX', 'CI_NODE_INDEX'])
      vi.stubEnv(name, undefined);
    expect(() => inputsOf('', { shard: 'auto' })).toThrow('no variable has the number of the shard');
    vi.stubEnv('IDOPS_SHARD_INDEX', '3');
    vi.stubEnv('IDOPS_SHARD_COUNT', '4');
    expect(inputsOf('', { shard: 'auto' }).shard).toEqual({ index: 3, count: 4 });
    expect(inputsOf('--shard auto').shard).toEqual({ index: 3, count: 4 });
  });

  test('validate allow-destructive as the command does', () => {
    expect(inputsOf('', { 'allow-destructive': '12' }).allowDestructive).toBe(12);
    for (const number of ['-1', '1.5', 'all', '99999999999999999999'])
      expect(() => inputsOf('', { 'allow-destructive': number })).toThrow('allow-destructive');
  });
});
