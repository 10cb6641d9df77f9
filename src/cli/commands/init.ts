import { resolve } from 'node:path';
import { defaultBranch } from '../../base/branch.js';
import { workTreeOf } from '../../base/work-tree.js';
import type { NewFile } from '../../pull/layout.js';
import { checkBaseUrl, isBaseUrl, isLoopback } from '../../server/base-url.js';
import type { Choices, CiName } from '../../session/init/choices.js';
import {
  CONFIG,
  configText,
  gitLines,
  MANIFESTS,
  schemaFiles,
  withSchemaLine,
} from '../../session/init/files.js';
import { type Fit, fitted, usual } from '../../session/init/fit.js';
import { commentedManifests, workflowsOf } from '../../session/init/templates.js';
import { ProjectWriter, type Written } from '../../session/init/write.js';
import type { FreshFiles } from '../../session/pull.js';
import type { Context, GlobalOptions } from '../context.js';
import { type ExitCode, exit } from '../exit.js';
import { EXAMPLES, type NewProject, whatIsLeft, whatIsNext } from './init-next.js';
import { askAddress, askCi, askToken, checkInit, type InitOptions } from './init-questions.js';
import { lookForInit } from './init-server.js';

/**
 * `idops init`: a configuration, manifests of what the server has, and a CI workflow. What is already there stays as it is. All
 * questions come before the first file.
 */
export async function init(
  context: Context,
  options: InitOptions & GlobalOptions,
  folder: string | undefined = '.',
): Promise<ExitCode> {
  checkInit(options, folder);
  const { output } = context;
  const cwd = process.cwd();
  const root = resolve(folder);
  const writer = new ProjectWriter(root, cwd);
  await writer.refuseFolder(CONFIG);
  const isNew = !(await writer.has(CONFIG));
  const project = isNew
    ? await newProject(context, options, root, !(await writer.has(MANIFESTS)))
    : await oldProject(context, options, root);
  if (project === null || context.signal.aborted) {
    output.message('Nothing was written.');
    return exit.interrupted;
  }
  const lines = gitLines(project.choices, root);
  const files = [...project.files, ...project.workflows];
  await writer.prepare([...files, ...lines].map(({ path }) => path));
  const written: Written[] = [];
  for (const file of files) written.push(await writer.make(file));
  for (const needed of lines) written.push(await writer.need(needed));
  for (const { shown, outcome } of written) {
    if (outcome !== 'kept') output.result(outcome === 'made' ? `wrote ${shown}` : `added to ${shown}`);
  }
  for (const { shown, outcome, left } of written) {
    if (outcome === 'kept')
      output.message(`${shown} was there already, and stays as it is${left === null ? '' : `: ${left}`}`);
  }
  const made = new Set(written.filter(({ outcome }) => outcome === 'made').map(({ path }) => path));
  const own = { ...project, workflows: project.workflows.filter(({ path }) => made.has(path)) };
  output.message(isNew ? whatIsNext(own, root, folder) : whatIsLeft(own));
  return exit.done;
}

async function newProject(
  context: Context,
  options: InitOptions & GlobalOptions,
  root: string,
  isEmpty: boolean,
): Promise<NewProject | null> {
  const { prompt } = context;
  const asks = prompt.available && options.yes !== true;
  const address = await askAddress(context, options, asks);
  if (address === null) return null;
  const token = await askToken(context, options, asks);
  if (token === null) return null;
  const ci = await askCi(context, options, asks);
  if (ci === null) return null;
  const found = await lookForInit(context, options, { address, token, asks, pulls: isEmpty });
  if (found === null) return null;
  const isNamed = options.baseUrl === undefined && (process.env.IDOPS_BASE_URL ?? '') !== '';
  const choices: Choices = {
    // The address of a sandbox is another one each time.
    baseUrl: address === '' || (isNamed && isOfHere(address)) ? null : address,
    profile: found.profile,
    because: found.because,
    token,
    ci,
  };
  if (!isEmpty) context.output.message(`${MANIFESTS} has files in it already: none is added.`);
  const manifests = isEmpty ? await manifestsOf(found.fresh) : [];
  return {
    choices,
    found,
    files: [{ path: CONFIG, text: configText(choices, root) }, ...manifests, ...schemaFiles()],
    ...(await workflowsFor(ci, root, {
      variables: (found.fresh?.toSet ?? []).map(({ name }) => name),
      baseUrl: choices.baseUrl,
    })),
  };
}

/** Where there is a configuration, only what belongs beside one is written. */
async function oldProject(
  context: Context,
  options: InitOptions & GlobalOptions,
  root: string,
): Promise<NewProject | null> {
  const ci = await askCi(context, options, context.prompt.available && options.yes !== true);
  if (ci === null) return null;
  const { tokenFile, tokenEnv: variable = 'IDOPS_TOKEN' } = options;
  const unknown = { profile: 'documented', because: 'unknown' } as const;
  const token = tokenFile === undefined ? { variable } : { file: resolve(tokenFile) };
  const choices: Choices = { ...unknown, baseUrl: null, token, ci };
  return {
    choices,
    found: { ...unknown, fresh: null, unread: [], isReached: false },
    files: [{ path: CONFIG, text: configText(choices, root) }, ...schemaFiles()],
    ...(await workflowsFor(ci, root, {})),
  };
}

/** The workflows of a CI, made for what is known of the project; the rest is as usual. */
async function workflowsFor(
  ci: CiName,
  root: string,
  known: Partial<Fit>,
): Promise<Pick<NewProject, 'workflows' | 'fit' | 'isBelow'>> {
  const branch = await defaultBranch(root);
  const fit = { ...usual, ...known, ...(branch === undefined ? {} : { branch }) };
  const top = await workTreeOf(root);
  const isBelow = top !== undefined && top !== root;
  return { workflows: fitted(await workflowsOf(ci), fit), fit, isBelow };
}

function isOfHere(address: string): boolean {
  const checked = checkBaseUrl(address, { allowInsecureHttp: false });
  return isBaseUrl(checked) && isLoopback(new URL(checked.origin).hostname);
}

/** What the server has; where that isn't known, or is nothing, examples that declare nothing. */
async function manifestsOf(fresh: FreshFiles | null): Promise<NewFile[]> {
  const pulled = (fresh?.files ?? []).map(({ path, text }) =>
    withSchemaLine({ path: `${MANIFESTS}/${path}`, text }),
  );
  if (pulled.length > 0) return pulled;
  const text = `## One document is one object of the server. These are examples: none of them is there before you say so. Take the "# " in front\n## of those that you mean away, and write your ids and names.\n#\n${await commentedManifests()}`;
  return [withSchemaLine({ path: EXAMPLES, text })];
}
