import { isAbsolute, join, relative, sep } from 'node:path';
import { ProblemsError } from '../../base/problems.js';
import { loadProject } from '../../project/index.js';
import type { NewFile } from '../../pull/layout.js';
import { MANIFESTS } from './files.js';

/** What workflows have to know of a project. */
export interface Fit {
  /** The environment of the configuration that they work with; null for none. */
  readonly environment: string | null;
  /** What a change of which starts them, as globs from the root of the project. */
  readonly paths: readonly string[];
  /** What is merged into this is applied. */
  readonly branch: string;
  /** Further variables that manifests need, to be had as secrets. */
  readonly variables: readonly string[];
}

/** What the workflows of the examples are made for, and those of a new project. */
export const usual: Fit = {
  environment: 'production',
  paths: ['idops.yaml', `${MANIFESTS}/**`],
  branch: 'main',
  variables: [],
};

/** What an existing configuration says of that. */
export interface Existing {
  readonly environments: readonly string[];
  readonly fit: Pick<Fit, 'environment' | 'paths'>;
}

/** What workflows have to know of an existing configuration; undefined where that can't be read. */
export async function existing(root: string, config: string): Promise<Existing | undefined> {
  const variables = { ...process.env, IDOPS_CONFIG: undefined, IDOPS_ENV: undefined };
  try {
    const project = await loadProject({ cwd: root, variables, config });
    const { environments } = project;
    const environment = environments.includes('production') ? 'production' : (environments[0] ?? null);
    const globs = project.everyGlobs().flat();
    const bodies = [...new Set(globs.length === 0 ? project.patterns().map(({ pattern }) => pattern) : globs)]
      .filter((glob) => !glob.startsWith('!'))
      .map((glob) => below(root, glob));
    return { environments, fit: { environment, paths: [...new Set([config, ...bodies])] } };
  } catch (failure) {
    if (failure instanceof ProblemsError) return undefined;
    throw failure;
  }
}

/** Everything in the folder that a glob begins with: bodies lie there too. A glob of the project's own folder may mean any. */
function below(root: string, glob: string): string {
  const path = isAbsolute(glob) ? relative(root, glob).split(sep).join('/') : glob;
  const steps = path.replace(/^\.\//, '').split('/');
  const special = steps.findIndex((step) => /[*?[\]{}()!@+\\]/.test(step) || step === '..');
  const folder = (special < 0 ? steps.slice(0, -1) : steps.slice(0, special)).join('/');
  return folder === '' ? '**' : join(folder, '**').split(sep).join('/');
}

/** The workflows of the examples, made for a project. */
export function fitted(files: readonly NewFile[], { environment, paths, branch, variables }: Fit): NewFile[] {
  const globs = `paths: [${paths.map(scalar).join(', ')}]`;
  return files.map(({ path, text }) => ({
    path,
    text: within(text, environment)
      .replaceAll('paths: [idops.yaml, manifests/**]', () => globs)
      .replaceAll('branches: [main]', () => `branches: [${scalar(branch)}]`)
      .replaceAll(/^ *(?=with:\n *command:)/gm, (indent) => {
        const lines = variables.map((name) => `${indent}  ${name}: \${{ secrets.${name} }}\n`);
        return `${lines.length === 0 ? '' : `${indent}env:\n${lines.join('')}`}${indent}`;
      }),
  }));
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
