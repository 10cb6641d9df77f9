import { lstat, readdir, readFile, realpath, rmdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { escapeText, shellWord } from '../../base/escape.js';
import { git } from '../../base/git.js';
import { findWorkTree, pathExists } from '../../base/paths.js';
import { makeFolder } from '../../base/write-file.js';
import type { NewFile } from '../../pull/layout.js';
import { notWritable, type PulledFile, writeFiles } from '../../pull/write.js';
import {
  type Choices,
  CONFIG,
  configText,
  gitLines,
  MANIFESTS,
  manifestFiles,
  schemaFiles,
  type TokenSource,
} from '../../session/init/files.js';
import { type InspectedServer, inspectServer } from '../../session/init/inspect.js';
import { secretsOf, workflowsOf } from '../../session/init/templates.js';
import { shownPath } from '../../yaml/source-file.js';
import type { Context } from '../context.js';
import { type ExitCode, exit } from '../exit.js';
import { askAddress, askCi, askToken, type InitOptions, refuseProjectOptions } from './init-questions.js';

/** `idops init`: asks all questions first, writes all files or none, and overwrites nothing. */
export async function init(
  context: Context,
  options: InitOptions,
  folder: string | undefined = '.',
): Promise<ExitCode> {
  refuseProjectOptions(options);
  const { output, prompt, signal } = context;
  const cwd = process.cwd();
  const root = resolve(folder);
  const stop = (): ExitCode => {
    output.message('Nothing was written.');
    return exit.interrupted;
  };
  const asks = prompt.available && options.yes !== true;
  const isNew = !pathExists(join(root, CONFIG));
  const address = isNew ? await askAddress(context, options, asks) : '';
  if (address === null) return stop();
  const token = await askToken(context, options, asks && isNew);
  if (token === null) return stop();
  const ci = await askCi(context, options, asks);
  if (ci === null) return stop();
  const pulls = isNew && (await readdir(join(root, MANIFESTS)).catch(() => [])).length === 0;
  const inspected = isNew ? await inspect(context, options, address, token, pulls) : notInspected;
  const { fits, fresh } = inspected;
  if (signal.aborted) return stop();
  // An address from a variable may change, so no file contains it.
  const baseUrl = options.baseUrl === undefined && process.env.IDOPS_BASE_URL ? null : address || null;
  const profile = options.profile ?? fits ?? 'documented';
  const choices: Choices = { baseUrl, profile, token, ci, hasRemote: await hasRemote(root) };
  const toSet = (fresh?.toSet ?? []).map(({ name }) => name);
  const workflows = await workflowsOf(ci, baseUrl, toSet);
  const files = [
    { path: CONFIG, text: configText(choices, root) },
    ...(pulls ? manifestFiles(fresh?.files ?? []) : []),
    ...schemaFiles(),
    ...workflows,
  ];
  const { written, kept } = await write(files, gitLines(choices, root), root, cwd);
  const shown = (path: string): string => escapeText(shownPath(path, cwd));
  for (const { path, action } of written)
    output.result(`${action === 'write' ? 'wrote' : 'added to'} ${shown(path)}`);
  for (const path of kept) output.message(`${shown(join(root, path))} already exists and was not changed`);
  output.problems(await inspected.record(root, written));
  const newWorkflows = workflows.filter(({ path }) => !kept.includes(path));
  const top = findWorkTree(root);
  const todo = [
    ...(baseUrl === null && isNew
      ? [
          process.env.IDOPS_BASE_URL
            ? `keep IDOPS_BASE_URL set, or write the server's address into ${CONFIG}`
            : `write the server's address into ${CONFIG}, or set IDOPS_BASE_URL`,
        ]
      : []),
    ...('variable' in token && !process.env[token.variable]
      ? [`set ${token.variable} to a token of the server`]
      : []),
    ...(fresh?.toSet ?? []).map(
      ({ name, address: object, path }) => `set ${name}, here and in CI, to the secret ${path} of ${object}`,
    ),
    ...(newWorkflows.length === 0 ? [] : workflowsText(newWorkflows, baseUrl)),
    ...(newWorkflows.length > 0 && top !== undefined && top !== root
      ? [
          'move the workflows to the root of the repository, where CI expects them, and name this folder in them',
        ]
      : []),
  ];
  const changeFolder = folder === '.' ? '' : `cd ${shellWord(folder)} && `;
  const next =
    fresh !== null && fresh.files.length > 0 && !toSet.some((name) => !process.env[name]) ? 'plan' : 'doctor';
  output.message(
    [
      ...(todo.length === 0 ? [] : ['To do:', ...todo.map((one) => `  - ${one}`)]),
      `Next: ${changeFolder}idops ${next}`,
    ].join('\n'),
  );
  return inspected.problems.some(({ severity }) => severity === 'error') ? exit.failed : exit.done;
}

function workflowsText(made: readonly NewFile[], baseUrl: string | null): string[] {
  return [
    `create the secrets ${secretsOf(made).join(', ')} in CI`,
    ...(baseUrl === null ? ["create the variable IDOPS_BASE_URL in CI: the server's address"] : []),
    `read the comments in ${made.map(({ path }) => path).join(', ')}: check the branch (main), the environment (production) and the paths, and pin the version of idops`,
  ];
}

const notInspected: InspectedServer = { fits: null, fresh: null, problems: [], record: async () => [] };

async function inspect(
  context: Context,
  { profile, by = 'name' }: InitOptions,
  baseUrl: string,
  token: TokenSource,
  pulls: boolean,
): Promise<InspectedServer> {
  const { output, redactor, signal } = context;
  const value = 'variable' in token ? process.env[token.variable] || undefined : undefined;
  if (baseUrl === '' || ('variable' in token && value === undefined)) {
    const lack =
      'variable' in token && baseUrl !== '' ? `${token.variable} is not set` : 'no address is given';
    output.message(`The server was not read, since ${lack}: run idops pull later.`);
    return notInspected;
  }
  const tokenFile = 'file' in token ? token.file : undefined;
  const inspected = await inspectServer({ baseUrl, tokenFile, token: value, profile, by }, pulls, {
    ...context.sessionOptions(),
    redactor,
    signal,
  });
  const { fits, fresh, problems } = inspected;
  output.message(
    fits === null
      ? `No profile could be recognised at ${baseUrl}: run idops doctor.`
      : `The profile ${fits} fits ${baseUrl}`,
  );
  if (problems.length > 0) {
    output.problems(problems);
    if (pulls) output.message('The manifests are empty: run idops pull later.');
  }
  for (const note of fresh?.notes ?? []) output.message(note);
  for (const { address, reason } of fresh?.leftOut ?? []) output.message(`${address} is left out: ${reason}`);
  return inspected;
}

/** Writes missing files, and missing lines of .gitignore and .gitattributes. Returns the written files and the paths that were kept. */
async function write(
  files: readonly NewFile[],
  lines: { readonly [path: string]: readonly string[] },
  folder: string,
  cwd: string,
): Promise<{ written: readonly PulledFile[]; kept: readonly string[] }> {
  const made = await makeFolder(folder, 0o644).catch((failure: unknown) => {
    throw notWritable(folder, cwd, failure, 'name a folder that can be created; nothing was written');
  });
  const root = await realpath(folder);
  const wanted: PulledFile[] = [];
  const kept: string[] = [];
  for (const { path: name, text } of files) {
    const path = join(root, name);
    if (pathExists(path)) kept.push(name);
    else wanted.push({ path, action: 'write', text, before: undefined });
  }
  for (const [name, needed] of Object.entries(lines)) {
    const path = join(root, name);
    const there = await lstat(path).catch(() => undefined);
    if (there !== undefined && !there.isFile()) kept.push(name);
    else wanted.push(...withMissingLines(path, there && (await readFile(path, 'utf8')), needed));
  }
  try {
    return { written: await writeFiles(wanted, root, cwd), kept };
  } catch (failure) {
    if (made !== undefined) await rmdir(folder).catch(() => {});
    throw failure;
  }
}

/** A file with missing lines appended; empty if no line is missing. */
function withMissingLines(path: string, before: string | undefined, needed: readonly string[]): PulledFile[] {
  const plain = (line: string): string => line.trim().replace(/^\/|\/$/g, '');
  const had = new Set((before ?? '').split('\n').map(plain));
  const missing = needed.filter((line) => !had.has(plain(line)));
  if (missing.length === 0) return [];
  const end = before?.includes('\r\n') ? '\r\n' : '\n';
  const begin = !before || before.endsWith('\n') ? '' : end;
  const text = `${before ?? ''}${begin}${missing.map((line) => `${line}${end}`).join('')}`;
  return [{ path, action: before === undefined ? 'write' : 'update', text, before }];
}

async function hasRemote(root: string): Promise<boolean> {
  const top = findWorkTree(root);
  if (top === undefined) return false;
  const remotes = await git(top, ['remote']).catch(() => '');
  return remotes.toString().split('\n').includes('origin');
}
