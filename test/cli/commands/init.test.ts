import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { init } from '../../../src/cli/commands/init.js';
import type { Context, GlobalOptions } from '../../../src/cli/context.js';
import type { Prompt } from '../../../src/cli/prompt.js';
import { createRedactor } from '../../../src/secrets/redactor.js';
import { temporaryFolder } from '../../cleanups.js';
import { keptOutput } from '../streams.js';

let folder: string;

beforeEach(async () => {
  folder = await temporaryFolder('init');
});

/** Runs `idops init` with these answers, in this order; null aborts. */
async function run(
  answers: readonly (string | null)[],
  options: Partial<GlobalOptions> & { readonly yes?: boolean } = {},
) {
  const redactor = createRedactor();
  const { output, stdout, stderr } = keptOutput({ color: false, redactor });
  const left = [...answers];
  const questions: string[] = [];
  const next = async (question: string): Promise<string | null> => {
    questions.push(question);
    expect(left.length, question).toBeGreaterThan(0);
    return left.shift() ?? null;
  };
  const prompt: Prompt = {
    available: true,
    confirm: () => Promise.reject(new Error('init asks for no consent')),
    text: async (question, wrong) => {
      const answer = await next(question);
      if (answer !== null) expect(wrong(answer)).toBeUndefined();
      return answer;
    },
    select: async (question, choices) => {
      const answer = await next(question);
      const choice = choices.find(({ value }) => value === answer);
      expect(answer === null || choice !== undefined).toBe(true);
      return choice?.value ?? null;
    },
  };
  const unused = () => Promise.reject(new Error('init has no project'));
  const context: Context = {
    options: { color: false },
    output,
    redactor,
    prompt,
    unfinishedRequests: () => null,
    signal: new AbortController().signal,
    clock: undefined,
    project: unused,
    addConfiguredTokens: async () => {},
    resetRedactor: () => {},
    scrubProblems: async (found) => [...found],
    scrub: (text) => text,
    refuseOutputs: async () => {},
    sessionOptions: () => ({}),
    session: unused,
    writingSession: unused,
  };
  const code = await init(context, { color: false, ...options }, join(folder, 'new'));
  await output.flush();
  return { code, questions, unasked: left.length, stdout: stdout.text, stderr: stderr.text };
}

const ADDRESS = 'https://id.example.com';

it.each<[string, readonly (string | null)[]]>([
  ['the first question', [null]],
  ['the second', [ADDRESS, null]],
  ['the last', ['', '', null]],
])('writes nothing if %s is aborted', async (_, answers) => {
  const ran = await run(answers);
  expect(ran).toMatchObject({ code: 130, unasked: 0, stdout: '', stderr: 'Nothing was written.\n' });
  expect(await readdir(folder)).toEqual([]);
});

it('asks for the URL, the variable of the token, and the CI', async () => {
  const ran = await run(['https://id.example.com/', 'MY_TOKEN', 'gitlab']);
  expect(ran).toMatchObject({ code: 0, unasked: 0 });
  expect(ran.questions).toHaveLength(3);
  expect(ran.stderr).toContain('The server was not read, since MY_TOKEN is not set');
  const config = await readFile(join(folder, 'new/idops.yaml'), 'utf8');
  expect(config).toContain(`  base_url: ${ADDRESS}\n`);
  expect(config).toContain('    token: ${MY_TOKEN}\n');
  expect(await readdir(join(folder, 'new'))).toContain('.gitlab-ci.yml');
});

it('asks nothing with --yes', async () => {
  expect(await run([], { yes: true })).toMatchObject({ code: 0, questions: [] });
});
