import { join } from 'node:path';
import { topOf } from '../../project/find.js';
import type { NewFile } from '../../pull/layout.js';
import type { Choices, CiName } from '../../session/init/choices.js';
import { CONFIG, MANIFESTS, secretsOf } from '../../session/init/files.js';
import { shownPath } from '../../source/file.js';
import type { Found } from './init-server.js';

/** What is written where there is nothing that could be declared. */
export const EXAMPLES = `${MANIFESTS}/examples.yaml`;

/** What is to be written, and what it was made of. */
export interface NewProject {
  readonly choices: Choices;
  readonly found: Found;
  readonly files: readonly NewFile[];
  readonly workflows: readonly NewFile[];
}

/** What a person has still to do, and the next command. `folder` is the project's as it was typed. */
export async function whatIsNext(project: NewProject, root: string, folder: string): Promise<string> {
  const { choices, found, workflows } = project;
  const { fresh } = found;
  const todo = [...here(project, root)];
  for (const { name, address, path } of fresh?.toSet ?? [])
    todo.push(`set ${name}, where you work and in CI, to the secret ${path} of ${address}`);
  const secrets = secretsOf(workflows);
  if (secrets.length > 0) todo.push(...inCi(choices.ci, secrets, workflows));
  const top = workflows.length > 0 ? await topOf(root) : undefined;
  if (top !== undefined) {
    todo.push(
      `move the workflows to ${shown(top)}, the root of the repository, and let them work in ${shownPath(root, top)}: CI looks for them there alone`,
    );
  }
  const pulled = fresh !== null && fresh.files.length > 0;
  const next = pulled ? 'idops plan' : found.isReached ? 'idops validate' : 'idops doctor';
  const go = folder === '.' ? '' : `cd ${quoted(folder)} && `;
  const lines = todo.length === 0 ? [] : ['To do:', ...todo.map((one) => `  - ${one}`)];
  return [...lines, `Next: ${go}${next}${pulled ? ', which has nothing to change yet' : ''}`].join('\n');
}

function here({ choices: { baseUrl, token }, files }: NewProject, root: string): string[] {
  const config = shown(join(root, CONFIG));
  const isSet = (name: string): boolean => (process.env[name] ?? '') !== '';
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

function inCi(ci: CiName, secrets: readonly string[], workflows: readonly NewFile[]): string[] {
  const where =
    ci === 'github'
      ? 'as secrets: the one that applies in the environment production, which should need a review'
      : 'as masked variables of the project, the one that applies protected too';
  const files = workflows.map(({ path }) => path).join(', ');
  const pin =
    ci === 'github'
      ? `in ${files}: write where your copy of the action is in the place of idops/idops, and pin it to a commit`
      : `in ${files}: pin the image, and the version of idops`;
  return [`create ${secrets.join(', ')} in CI, ${where}`, pin];
}

function shown(path: string): string {
  return shownPath(path, process.cwd());
}

/** A path as a shell takes it. */
function quoted(path: string): string {
  return /^[\w./~+-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
