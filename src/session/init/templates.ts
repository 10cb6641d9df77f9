import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { shellWord } from '../../base/escape.js';
import type { NewFile } from '../../pull/layout.js';
import type { CiName } from './files.js';

/** Path prefix of the workflows of each CI. */
const workflowFolders = { github: '.github/workflows/idops-', gitlab: '' } as const;

/** Workflows that are not written: each is an alternative to another one, and both would apply the same changes. */
const skippedWorkflows: readonly string[] = ['shards.yml'];

/** The workflows from the examples, with the server's address if it is known. They pass the secrets `variables` to idops. */
export async function workflowsOf(
  ci: CiName,
  baseUrl: string | null,
  variables: readonly string[],
): Promise<NewFile[]> {
  if (ci === 'none') return [];
  const folder = join(examplesFolder(), ci);
  const names = (await readdir(folder))
    .filter((name) => name.endsWith('.yml') && !skippedWorkflows.includes(name))
    .sort();
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  return texts.map((text, index) => ({
    path: `${workflowFolders[ci]}${names[index]}`,
    text: withVariables(baseUrl === null ? text : withAddress(text, baseUrl), variables),
  }));
}

function withAddress(text: string, baseUrl: string): string {
  return text
    .replaceAll('${{ vars.IDOPS_BASE_URL }}', () => JSON.stringify(baseUrl))
    .replaceAll('"$IDOPS_BASE_URL"', () => shellWord(baseUrl));
}

function withVariables(text: string, variables: readonly string[]): string {
  if (variables.length === 0) return text;
  return text.replaceAll(/^ *(?=with:\n *command:)/gm, (indent) => {
    const lines = variables.map((name) => `${indent}  ${name}: \${{ secrets.${name} }}\n`);
    return `${indent}env:\n${lines.join('')}${indent}`;
  });
}

/** The secrets that workflows use, in order. */
export function secretsOf(workflows: readonly NewFile[]): string[] {
  const named = workflows.flatMap(({ text }) =>
    [...text.matchAll(/secrets\.(\w+)|"\$(IDOPS_\w+)"/g)].map(([, github, gitlab]) => github ?? gitlab ?? ''),
  );
  return [...new Set(named)].filter((name) => name !== 'GITHUB_TOKEN' && name !== 'IDOPS_BASE_URL');
}

function examplesFolder(): string {
  // A bundle is one folder higher than this module.
  const folders = ['../../examples/', '../../../examples/'].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  );
  const folder = folders.find((one) => existsSync(join(one, 'idops.yaml')));
  if (folder === undefined) throw new Error('the examples are not in the package');
  return folder;
}
