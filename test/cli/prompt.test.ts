import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createPrompt } from '../../src/cli/prompt.js';
import { createRedactor } from '../../src/secrets/redactor.js';
import { Kept } from './streams.js';

function asked(parts: { stdin?: boolean; stderr?: boolean; color?: boolean } = {}) {
  const stdin = Object.assign(new PassThrough(), { isTTY: parts.stdin ?? true, setRawMode: () => stdin });
  const stderr = new Kept(parts.stderr ?? true);
  const redactor = createRedactor();
  redactor.add('s3cret');
  const prompt = createPrompt({ stdin, stderr, color: parts.color ?? false, redactor });
  /** Asks, and types as soon as the question is shown. */
  const answer = async (keys: string | null) => {
    const given = prompt.confirm('Apply \u001b[2J s3cret?');
    while (!stderr.text.includes('Enter for no')) await new Promise(setImmediate);
    if (keys === null) stdin.end();
    else stdin.write(keys);
    return given;
  };
  return { prompt, stdin, stderr, answer };
}

describe('a question', () => {
  it.each([
    ['y\r', 'yes'],
    ['YES \r', 'yes'],
    ['n\r', 'no'],
    ['\r', 'no'],
    ['yy\r', 'no'],
    ['\t\r', 'no'],
    ['\u0003', 'aborted'],
    ['\u0004', 'aborted'],
  ])('answered with %j means %s', async (keys, meaning) => {
    expect(await asked().answer(keys)).toBe(meaning);
  });

  it.each([
    ['production\r', 'yes'],
    [' production \r', 'yes'],
    ['\r', 'no'],
    ['n\r', 'no'],
    [' NO\r', 'no'],
    ['y\r\u007fproduction\r', 'yes'],
    ['y\rs\r', 'no'],
    ['Production\r\u0003', 'aborted'],
    ['yes\r\u0003', 'aborted'],
  ])('that requires a word, answered with %j, means %s', async (keys, meaning) => {
    const { prompt, stdin, stderr } = asked();
    const given = prompt.confirm('Apply?', 'production');
    while (!stderr.text.includes('Enter alone')) await new Promise(setImmediate);
    for (const key of keys) stdin.write(key);
    expect(await given).toBe(meaning);
  });

  it('is aborted by Ctrl-C just before it', async () => {
    const { stdin, prompt } = asked();
    const given = prompt.confirm('Apply?');
    setImmediate(() => stdin.write('\u0003'));
    expect(await given).toBe('aborted');
  });

  it('is aborted if the input ends', async () => {
    expect(await asked().answer(null)).toBe('aborted');
  });

  it('is shown without secrets and control characters, and without colours if they are off', async () => {
    const { stderr, answer } = asked();
    await answer('n\r');
    expect(stderr.text).toContain('Apply \\u001b[2J (sensitive)?');
    expect(stderr.text).not.toMatch(/\u001b\[[\d;]*m/);
  });

  it('stays on one line in a terminal that reports 0 columns', async () => {
    const { stderr, answer } = asked();
    stderr.columns = 0;
    await answer('n\r');
    expect(stderr.text).toContain('y, or Enter for no');
  });

  it('requires terminals on both ends', async () => {
    expect(asked().prompt.available).toBe(true);
    expect(asked({ stdin: false }).prompt.available).toBe(false);
    expect(asked({ stderr: false }).prompt.available).toBe(false);
    await expect(asked({ stdin: false }).prompt.confirm('?')).rejects.toThrow('no terminal to ask');
  });

  it.each([
    ['id\r', 'id'],
    ['\u0003', null],
    ['\u0004', null],
    [null, null],
  ])('for a text, answered with %j, returns %j', async (keys, given) => {
    const { prompt, stderr, stdin } = asked();
    const answer = prompt.text('Which?', () => undefined, 'an-example');
    while (!stderr.text.includes('an-example')) await new Promise(setImmediate);
    if (keys === null) stdin.end();
    else stdin.write(keys);
    expect(await answer).toBe(given);
  });

  it('for a text is repeated until the answer is valid', async () => {
    const { prompt, stderr, stdin } = asked();
    const answer = prompt.text('Which?', (text) => (text === 'right' ? undefined : 'it is wrong'));
    while (!stderr.text.includes('Which?')) await new Promise(setImmediate);
    stdin.write('\r');
    while (!stderr.text.includes('it is wrong')) await new Promise(setImmediate);
    stdin.write('right\r');
    expect(await answer).toBe('right');
  });

  it.each([
    ['\r', 'first'],
    ['\u001b[B\r', 'second'],
    ['\u0003', null],
  ])('for a choice, answered with %j, returns %j', async (keys, given) => {
    const { prompt, stderr, stdin } = asked();
    const choices = ['first', 'second'].map((value) => ({ value, label: `the ${value}` }));
    const answer = prompt.select('Which?', choices);
    while (!stderr.text.includes('the second')) await new Promise(setImmediate);
    stdin.write(keys);
    expect(await answer).toBe(given);
  });
});
