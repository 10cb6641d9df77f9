import { isAbsolute, join, posix, relative, sep } from 'node:path';
import { realPlaceOf } from '../../base/links.js';
import { ProblemsError } from '../../base/problems.js';
import { shellWord } from '../../base/shell.js';
import { workTreeOf } from '../../base/work-tree.js';
import { loadProject } from '../../project/index.js';
import type { NewFile } from '../../pull/layout.js';
import { MANIFESTS } from './files.js';

/** What workflows have to know of a project. */
export interface Fit {
  /** The environment of the configuration that they work with; null for none. */
  readonly environment: string | null;
  /** What a change of which starts them, as globs from the root of the repository. */
  readonly paths: readonly string[];
  /** What is merged into this is applied. */
  readonly branch: string;
  /** Further variables that manifests need, to be had as secrets. */
  readonly variables: readonly string[];
  /** The server's address, which the workflows pin; null where a variable of the CI says it. */
  readonly baseUrl: string | null;
  /** The folder of the project from the root of its repository, with `/`; empty where it is the root. */
  readonly folder: string;
}

/** What the workflows of the examples are made for, and those of a new project. */
export const usual: Fit = {
  environment: 'production',
  paths: ['idops.yaml', `${MANIFESTS}/**`],
  branch: 'main',
  variables: [],
  baseUrl: null,
  folder: '',
};

/** Where a project lies in a repository whose root is above it; undefined where it is the root, or in none. */
export interface Within {
  /** The root of the repository, absolute. */
  readonly top: string;
  /** From there to the folder of the project, with `/`. */
  readonly folder: string;
}

/** Where a folder, which needs not be there yet, lies in its repository. */
export async function withinRepository(root: string): Promise<Within | undefined> {
  const real = await realPlaceOf(root);
  const top = await workTreeOf(real);
  return top === undefined || top === real
    ? undefined
    : { top, folder: relative(top, real).split(sep).join('/') };
}

/** What an existing configuration says of that. */
export interface Existing {
  readonly environments: readonly string[];
  readonly fit: Pick<Fit, 'environment' | 'paths' | 'baseUrl'>;
}

/** What workflows have to know of an existing configuration; undefined where that can't be read. */
export async function existing(root: string, config: string, folder: string): Promise<Existing | undefined> {
  const variables = { ...process.env, IDOPS_CONFIG: undefined, IDOPS_ENV: undefined };
  try {
    const project = await loadProject({ cwd: root, variables, config });
    const { environments } = project;
    const environment = environments.includes('production') ? 'production' : (environments[0] ?? null);
    const globs = project.everyGlobs().flat();
    const bodies = [...new Set(globs.length === 0 ? project.patterns().map(({ pattern }) => pattern) : globs)]
      .filter((glob) => !glob.startsWith('!'))
      .map((glob) => below(root, glob, folder));
    const paths = [...new Set([posix.join(folder, config), ...bodies])];
    return {
      environments,
      fit: { environment, paths, baseUrl: await writtenAddress(root, config, environment) },
    };
  } catch (failure) {
    if (failure instanceof ProblemsError) return undefined;
    throw failure;
  }
}

/** The address of an environment where it stands in plain words. */
async function writtenAddress(
  cwd: string,
  config: string,
  environment: string | null,
): Promise<string | null> {
  try {
    // Whose variable isn't set has no address that could be written down.
    const variables = { IDOPS_TOKEN: 'not-asked-for' };
    const project = await loadProject({
      cwd,
      variables,
      config,
      ...(environment === null ? {} : { env: environment }),
    });
    return (await project.server()).baseUrl;
  } catch (failure) {
    if (failure instanceof ProblemsError) return null;
    throw failure;
  }
}

/** Everything in the folder that a glob begins with: bodies lie there too. A glob of the project's own folder may mean any. */
function below(root: string, glob: string, inside: string): string {
  const path = isAbsolute(glob) ? relative(root, glob).split(sep).join('/') : glob;
  const steps = posix.join(inside, path).split('/');
  const special = steps.findIndex((step) => /[*?[\]{}()!@+\\]/.test(step) || step === '..');
  const folder = (special < 0 ? steps.slice(0, -1) : steps.slice(0, special)).join('/');
  return folder === '' ? '**' : join(folder, '**').split(sep).join('/');
}

/** The workflows of the examples, made for a project. */
export function fitted(files: readonly NewFile[], fit: Fit): NewFile[] {
  const { environment, paths, branch, variables, baseUrl, folder } = fit;
  const globs = `paths: [${paths.map(scalar).join(', ')}]`;
  return files.map(({ path, text }) => ({
    path,
    text: inFolder(pinned(within(text, environment), baseUrl), folder)
      .replaceAll('paths: [idops.yaml, manifests/**]', () => globs)
      .replaceAll('branches: [main]', () => `branches: [${scalar(branch)}]`)
      .replaceAll(/^ *(?=with:\n *command:)/gm, (indent) => {
        const lines = variables.map((name) => `${indent}  ${name}: \${{ secrets.${name} }}\n`);
        return `${lines.length === 0 ? '' : `${indent}env:\n${lines.join('')}`}${indent}`;
      }),
  }));
}

/** The variable that the workflows take the server's address from, as they write it. */
const addressVariables = /\$\{\{ vars\.IDOPS_BASE_URL \}\}|"\$IDOPS_BASE_URL"/g;

/** Whether a workflow takes the server's address from a variable of the CI. */
export function asksForAddress({ text }: NewFile): boolean {
  return text.search(addressVariables) >= 0;
}

/** An address that is known is written out, where nobody can leave it empty. */
function pinned(text: string, baseUrl: string | null): string {
  if (baseUrl === null) return text;
  return text
    .replaceAll(/^ *# A variable of the repository, or the address written out\..*\n/gm, '')
    .replaceAll(/^# +IDOPS_BASE_URL .*\n/gm, '')
    .replaceAll(addressVariables, (written) =>
      written.startsWith('"') ? shellWord(baseUrl) : scalar(baseUrl),
    );
}

/** What works in the root of a repository works in a folder below it. */
function inFolder(text: string, folder: string): string {
  if (folder === '') return text;
  const name = folder.replaceAll(/[^\w.-]+/g, '-');
  return (
    text
      .replaceAll(/^( *)with:\n(?= *command:)/gm, (lines, indent: string) => {
        return `${lines}${indent}  working-directory: ${scalar(folder)}\n`;
      })
      // Another project of the repository neither waits for this one nor is cancelled by it.
      .replaceAll(/^( *(?:group|resource_group): idops-.*)$/gm, (line) => `${line}-${name}`)
      // The commands of a job go on in the folder where the ones before it ended; artifacts are looked for in the root.
      .replace(/^( *)interruptible: true\n/m, (line, indent: string) => {
        return `${line}${indent}before_script:\n${indent}  - ${scalar(`cd ${shellWord(folder)}`)}\n`;
      })
      .replace('paths: [plan.html, plan.json, plan.md]', () => {
        const files = ['plan.html', 'plan.json', 'plan.md'].map((file) => scalar(`${folder}/${file}`));
        return `paths: [${files.join(', ')}]`;
      })
      .replace('terraform: tfplan.json', () => `terraform: ${scalar(`${folder}/tfplan.json`)}`)
  );
}

/** Where there is no environment, the one of the CI keeps its name: a review and the secret that can write hang on it. */
function within(text: string, environment: string | null): string {
  if (environment === null) {
    return text.replaceAll(/^ {10}environment: production\n/gm, '').replaceAll(' --env production', '');
  }
  return text.replaceAll(/(environment: )?production/g, (_, key: string | undefined) =>
    key === undefined ? environment : `${key}${scalar(environment)}`,
  );
}

/** A text as YAML takes it for itself in a list, and not for a number or a truth value. */
function scalar(text: string): string {
  const isPlain = /^[A-Za-z][\w./*-]*$/.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(text);
  return isPlain ? text : JSON.stringify(text);
}
