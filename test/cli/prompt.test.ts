import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../src/base/redact.js';
import { createPrompt } from '../../src/cli/prompt.js';
import { Kept } from './streams.js';

function asked(parts: { stdin?: boolean; stderr?: boolean; color?: boolean } = {}) {
  const stdin = Object.assign(new PassThrough(), { isTTY: parts.stdin ?? true, setRawMode: () => stdin });
  const stderr = new Kept(parts.stderr ?? true);
  const redactor = createRedactor();
  redactor.add('s3cret');
  const prompt = createPrompt({ stdin, stderr, color: parts.color ?? false, redactor });
  /** Asks, and types as soon as the question is there. */
  const answer = async (keys: string | null) => {
    const given = prompt.confirm('Apply \u001b[2J s3cret?');
    while (!stderr.text.includes('No')) await new Promise(setImmediate);
    if (keys === null) stdin.end();
    else stdin.write(keys);
    return given;
  };
  return { prompt, stderr, answer };
}

describe('a question', () => {
  it.each([
    ['y', 'yes'],
    ['n', 'no'],
    ['\r', 'no'],
    ['\u0003', 'aborted'],
    ['\u0004', 'aborted'],
  ])('answered with %j means %s', async (keys, meaning) => {
    expect(await asked().answer(keys)).toBe(meaning);
  });

  it('is aborted where the input ends', async () => {
    expect(await asked().answer(null)).toBe('aborted');
  });

  it('is asked without secrets, control characters and, where they are not wanted, colours', async () => {
    const { stderr, answer } = asked();
    await answer('n');
    expect(stderr.text).toContain('Apply \\u001b[2J (sensitive)?');
    expect(stderr.text).not.toMatch(/\u001b\[[\d;]*m/);
  });

  it('keeps its lines together on a terminal that says it has no columns', async () => {
    const { stderr, answer } = asked();
    stderr.columns = 0;
    await answer('n');
    expect(stderr.text).toContain('Yes / ');
  });

  it('is only asked where both ends are terminals', async () => {
    expect(asked().prompt.available).toBe(true);
    expect(asked({ stdin: false }).prompt.available).toBe(false);
    expect(asked({ stderr: false }).prompt.available).toBe(false);
    await expect(asked({ stdin: false }).prompt.confirm('?')).rejects.toThrow('nobody can answer');
  });
});
