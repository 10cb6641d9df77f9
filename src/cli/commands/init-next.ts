import { join } from 'node:path';
import { shellWord } from '../../base/shell.js';
import type { NewFile } from '../../pull/layout.js';
import type { Choices, CiName } from '../../session/init/choices.js';
import { CONFIG, MANIFESTS, secretsOf } from '../../session/init/files.js';
import { asksForAddress, type Fit, usual } from '../../session/init/fit.js';
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
  /** Whether it lies below the root of its repository, where no CI looks for workflows. */
  readonly isBelow: boolean;
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
  todo.push(...ofWorkflows(project));
  const pulled = fresh !== null && fresh.files.length > 0;
  const next = pulled ? 'idops plan' : found.isReached ? 'idops validate' : 'idops doctor';
  const go = folder === '.' ? '' : `cd ${shellWord(folder)} && `;
  const unset = (fresh?.toSet ?? []).map(({ name }) => name).filter((name) => !isSet(name));
  const when = unset.length === 0 ? '' : ` once ${unset.join(', ')} ${unset.length === 1 ? 'is' : 'are'} set`;
  const empty = pulled ? `, which has nothing to change yet${when}` : '';
  return [...listed(todo), `Next: ${go}${next}${empty}`].join('\n');
}

/** What is to be done where there was a project already. */
export function whatIsLeft(project: NewProject): string {
  const { workflows } = project;
  const files = workflows.map(({ path }) => path).join(', ');
  const todo =
    workflows.length === 0
      ? []
      : [`in ${files}: see that the environment production, and the paths, are those of this project`];
  return [
    ...listed([...todo, ...ofWorkflows(project)]),
    'This was a project already: idops doctor tells whether everything is ready.',
  ].join('\n');
}

function listed(todo: readonly string[]): string[] {
  return todo.length === 0 ? [] : ['To do:', ...todo.map((one) => `  - ${one}`)];
}

/** What has to be done about the workflows. */
function ofWorkflows({ choices, workflows, fit, isBelow }: NewProject): string[] {
  const secrets = secretsOf(workflows);
  if (secrets.length === 0) return [];
  const move =
    'move the workflows to the root of the repository, where CI looks for them, and name this folder in them';
  return [...inCi(choices.ci, secrets, workflows, fit), ...(isBelow ? [move] : [])];
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
  { branch }: Fit,
): string[] {
  const where =
    ci === 'github'
      ? 'as secrets: the one that applies in the environment production, which should need a review'
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
