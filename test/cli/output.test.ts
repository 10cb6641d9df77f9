import { describe, expect, it } from 'vitest';
import { error } from '../../src/base/problems.js';
import { createOutput } from '../../src/cli/output.js';
import { createRedactor } from '../../src/secrets/redactor.js';
import { Kept, keptOutput } from './streams.js';

const options = { quiet: false, debug: false, color: true, env: {}, redactor: createRedactor() };

describe('output', () => {
  it('separates results from messages, each with a final newline', async () => {
    const { stdout, stderr, output } = keptOutput({ debug: true });
    output.result('result');
    output.message('message s3cret\n');
    output.report('report');
    output.debug('debug s3cret');
    output.problems([error('internal', 'problem s3cret')]);
    await output.flush();
    expect(stdout.text).toBe('result\n');
    expect(stderr.text).toBe(
      'message (sensitive)\nreport\ndebug (sensitive)\nerror[internal]: problem (sensitive)\n\n1 error\n',
    );
  });

  it('prints only results and problems with --quiet, and debug texts only with --debug', async () => {
    const { stdout, stderr, output } = keptOutput({ quiet: true });
    output.result('result');
    output.message('message');
    output.debug('debug');
    output.showStatus('working');
    output.problems([error('internal', 'problem')]);
    await output.flush();
    expect(stdout.text).toBe('result\n');
    expect(stderr.text).toBe('error[internal]: problem\n\n1 error\n');
  });

  it('escapes messages', async () => {
    const { stderr, output } = keptOutput();
    output.message('a\u001b[2J\n::error::b');
    await output.flush();
    expect(stderr.text).toBe('a\\u001b[2J\n\\u003a:error::b\n');
  });

  it('never masks parts of finished reports', async () => {
    const redactor = createRedactor();
    for (const secret of ['": "', '"action"', '<script', '::notice file=', '```diff', 'error['])
      redactor.add(secret);
    const { stdout, stderr, output } = keptOutput({ redactor });
    output.json({ action: 'x": "y' });
    output.result('::notice file=a::b\n```diff <script>');
    output.report('```diff');
    output.problems([error('internal', 'it says error[')]);
    await output.flush();
    expect(stdout.text).toBe('{\n  "action": "x\\": \\"y"\n}\n::notice file=a::b\n```diff <script>\n');
    expect(stderr.text).toBe('```diff\nerror[internal]: it says (sensitive)\n\n1 error\n');
  });

  it('removes a transient line before other output', async () => {
    const { stderr, output } = keptOutput({}, true);
    output.showStatus('1/2');
    output.showStatus('2/2');
    output.message('done');
    output.showStatus(null);
    await output.flush();
    expect(stderr.text).toBe('\r1/2\u001b[K\r2/2\u001b[K\r\u001b[Kdone\n');
  });

  it('waits for a slow reader', async () => {
    const { stdout, output } = keptOutput();
    for (let index = 0; index < 1000; index += 1) output.result('x'.repeat(1000));
    expect(stdout.text).toBe('');
    await output.flush();
    expect(stdout.text).toHaveLength(1001 * 1000);
  });
});

describe('colours', () => {
  const both = (on: boolean) => ({ stdout: on, stderr: on });
  it.each([
    ['on a terminal', {}, true, true],
    ['not in a pipe', {}, false, false],
    ['not with --no-color', { color: false }, true, false],
    ['not with NO_COLOR', { env: { NO_COLOR: '1' } }, true, false],
    ['with an empty NO_COLOR', { env: { NO_COLOR: '' } }, true, true],
    ['in a pipe with FORCE_COLOR', { env: { FORCE_COLOR: '1' } }, false, true],
    ['not with FORCE_COLOR=0', { env: { FORCE_COLOR: '0' } }, true, false],
    ['not with --no-color and FORCE_COLOR', { color: false, env: { FORCE_COLOR: '1' } }, true, false],
    ['not on a dumb terminal', { env: { TERM: 'dumb' } }, true, false],
  ])('are used %s', (_, parts, terminal, on) => {
    expect(keptOutput(parts, terminal).output.color).toEqual(both(on));
  });

  it('are chosen for each stream', () => {
    const output = createOutput({ ...options, stdout: new Kept(false), stderr: new Kept(true) });
    expect(output.color).toEqual({ stdout: false, stderr: true });
  });
});

describe('a reader that closes the pipe', () => {
  const broken = (code: string) => Object.assign(new Error(`write ${code}`), { code });
  const outputTo = (stdout: Kept) => createOutput({ ...options, stdout, stderr: new Kept() });

  it('is not an error', async () => {
    const output = outputTo(new Kept(false, broken('EPIPE')));
    output.result('one');
    await output.flush();
    output.result('two');
    await expect(output.flush()).resolves.toBeUndefined();
  });

  it('is distinguished from a full disk', async () => {
    const output = outputTo(new Kept(false, broken('ENOSPC')));
    output.result('one');
    await expect(output.flush()).rejects.toThrow('ENOSPC');
  });

  it('is distinguished from a file that throws synchronously', async () => {
    const stdout = new Kept();
    stdout.write = () => {
      throw broken('ENOSPC');
    };
    const output = outputTo(stdout);
    output.result('one');
    await expect(output.flush()).rejects.toThrow('ENOSPC');
  });
});
