import { join } from 'node:path';
import { shellWord } from '../../base/shell.js';
import type { NewFile } from '../../pull/layout.js';
import type { Choices, CiName } from '../../session/init/choices.js';
import { CONFIG, MANIFESTS, secretsOf } from '../../session/init/files.js';
import { asksForAddress, type Existing, type Fit, usual, type Within } from '../../session/init/fit.js';
import { shownPath } from '../../source/file.js';
import type { Found } from './init-server.js';

/** What is written where there is nothing that could be declared. */
export const EXAMPLES = `${MANIFESTS}/examples.yaml`;

/** What is to be written, and what it was made of. */
export interface NewProject {
  readonly choices: Choices;
  readonly found: Found;
  readonly files: readonly NewFile[];
  /** Those that are written, and what they are made for. */
  readonly workflows: readonly NewFile[];
  readonly fit: Fit;
  /** Where it lies in its repository; undefined where that begins in its folder. */
  readonly inside?: Within | undefined;
  /** What the configuration says that was there before; undefined where there was none, or none that can be read. */
  readonly known?: Existing | undefined;
}

/** What a person has still to do, and the next command. `folder` is the project's as it was typed. */
export function whatIsNext(project: NewProject, root: string, folder: string): string {
  const { found } = project;
  const { fresh } = found;
  const todo = [...here(project, root)];
  for (const { name, address, path } of fresh?.toSet ?? [])
    todo.push(`set ${name}, where you work and in CI, to the secret ${path} of ${address}`);
  if (found.unread.length > 0) {
    const kinds = found.unread.map((kind) => `--kind ${kind}`).join(' ');
    todo.push(`get a token with the scopes that were refused above, then type idops pull ${kinds}`);
  } else if (fresh === null && project.files.some(({ path }) => path === EXAMPLES)) {
    todo.push(
      'type idops pull once idops doctor finds nothing in the way: it writes down what the server has',
    );
  }
  todo.push(...ofWorkflows(project, root));
  const pulled = fresh !== null && fresh.files.length > 0;
  const next = pulled ? 'idops plan' : found.isReached ? 'idops validate' : 'idops doctor';
  const go = folder === '.' ? '' : `cd ${shellWord(folder)} && `;
  const unset = (fresh?.toSet ?? []).map(({ name }) => name).filter((name) => !isSet(name));
  const when = unset.length === 0 ? '' : ` once ${unset.join(', ')} ${unset.length === 1 ? 'is' : 'are'} set`;
  const empty = pulled ? `, which has nothing to change yet${when}` : '';
  return [...listed(todo), `Next: ${go}${next}${empty}`].join('\n');
}

/** What is to be done where there was a project already. */
export function whatIsLeft(project: NewProject, root: string): string {
  const { workflows, known, fit } = project;
  const files = workflows.map(({ path }) => path).join(', ');
  const config = shown(join(root, CONFIG));
  const todo: string[] = [];
  if (workflows.length > 0 && known === undefined) {
    todo.push(
      `in ${files}: write which environment and which paths are meant, since ${config} can't be read (idops validate says why)`,
    );
  } else if (workflows.length > 0 && (known?.environments.length ?? 0) > 1) {
    const others = known?.environments.filter((name) => name !== fit.environment) ?? [];
    todo.push(
      `in ${files}: they work with the environment ${fit.environment}; copy them for ${others.join(', ')} where that is wanted`,
    );
  }
  todo.push(...ofWorkflows(project, root));
  return [
    ...listed(todo),
    'This was a project already: idops doctor tells whether everything is ready.',
  ].join('\n');
}

function listed(todo: readonly string[]): string[] {
  return todo.length === 0 ? [] : ['To do:', ...todo.map((one) => `  - ${one}`)];
}

/** What has to be done about the workflows. */
function ofWorkflows({ choices, workflows, fit, inside }: NewProject, root: string): string[] {
  const secrets = secretsOf(workflows);
  const ci = secrets.length === 0 ? [] : inCi(choices.ci, secrets, workflows, fit);
  if (inside === undefined || workflows.length === 0) return ci;
  return [...ci, choices.ci === 'gitlab' ? toGitlab(inside, root) : toGithub(workflows, inside, root)];
}

/** GitHub looks into one folder alone, which is none of this project's: nothing is written there. */
function toGithub(workflows: readonly NewFile[], { top, folder }: Within, root: string): string {
  const target = join(top, '.github/workflows');
  const files = workflows.map(({ path }) => shellWord(shown(join(root, path))));
  const made = shellWord(shown(target));
  return `move the workflows, which work in ${folder} already, to where GitHub looks for them: mkdir -p ${made} && mv -i ${files.join(' ')} ${made}`;
}

/** The same of GitLab, which takes one file that may include others. */
function toGitlab({ top, folder }: Within, root: string): string {
  const path = `${folder}/.gitlab-ci.yml`;
  const from = shellWord(shown(join(root, '.gitlab-ci.yml')));
  const main = shown(join(top, '.gitlab-ci.yml'));
  return `let GitLab find the pipeline, which works in ${folder} already: mv -i ${from} ${shellWord(main)}; or, where ${main} is there, add to it: include: [{local: ${JSON.stringify(`/${path}`)}}]`;
}

function here({ choices: { baseUrl, token }, files }: NewProject, root: string): string[] {
  const config = shown(join(root, CONFIG));
  const address = isSet('IDOPS_BASE_URL')
    ? `write the server's address into ${config} before CI is to know it: for now IDOPS_BASE_URL says it`
    : `say in ${config} where the server is, or set IDOPS_BASE_URL`;
  return [
    ...(baseUrl === null ? [address] : []),
    ...('variable' in token && !isSet(token.variable)
      ? [`set ${token.variable} to a token of the server, where you work`]
      : []),
    ...(files.some(({ path }) => path === EXAMPLES)
      ? [
          `say what the server is to hold: ${shown(join(root, EXAMPLES))} has examples, none of which is in force`,
        ]
      : []),
  ];
}

function inCi(
  ci: CiName,
  secrets: readonly string[],
  workflows: readonly NewFile[],
  { environment, branch }: Fit,
): string[] {
  const where =
    ci === 'github'
      ? `as secrets: the one that applies in the environment ${environment ?? usual.environment}, which should need a review`
      : 'as masked variables of the project, the one that applies protected too';
  const files = workflows.map(({ path }) => path).join(', ');
  const pin =
    ci === 'github'
      ? `in ${files}: write where your copy of the action is in the place of idops/idops, and pin it to a commit`
      : `in ${files}: write where your copy of idops is in the place of ghcr.io/idops/idops (its Dockerfile makes the image), and pin it to a digest`;
  const applies = `see that ${branch} is the branch that is to be applied: the workflows name it`;
  const variable = ci === 'github' ? 'a variable of the repository' : 'a variable of the project';
  return [
    `create ${secrets.join(', ')} in CI, ${where}`,
    ...(workflows.some(asksForAddress)
      ? [
          `create IDOPS_BASE_URL in CI, ${variable}: the server's address, which no branch's idops.yaml then redirects`,
        ]
      : []),
    pin,
    ...(ci === 'github' && branch !== usual.branch ? [applies] : []),
  ];
}

function isSet(name: string): boolean {
  return (process.env[name] ?? '') !== '';
}

function shown(path: string): string {
  return shownPath(path, process.cwd());
}
