import { isAbsolute, relative, sep } from 'node:path';
import type { NewFile } from '../../pull/layout.js';
import { escapeVariables } from '../../pull/literal.js';
import { MANIFEST_SCHEMA, schemaLine } from '../../pull/schema-line.js';
import { jsonSchema } from '../json-schema.js';
import type { Choices } from './choices.js';

/** The name of a new project's configuration. */
export const CONFIG = 'idops.yaml';

/** The folder of a new project's manifests. */
export const MANIFESTS = 'manifests';

/** The schemas lie beside what they are of, so that an editor needs no network. */
const schemas = {
  config: 'schemas/idops-config.schema.json',
  manifest: MANIFEST_SCHEMA,
} as const;

/** Lines that a file must have, whatever else is in it. */
export interface NeededLines {
  readonly path: string;
  readonly lines: readonly string[];
}

/** What an editor takes completion and descriptions from. */
export function schemaFiles(): NewFile[] {
  return (['config', 'manifest'] as const).map((name) => ({
    path: schemas[name],
    text: `${JSON.stringify(jsonSchema(name), null, 2)}\n`,
  }));
}

/** The configuration; `root` is the folder of the project, absolute. */
export function configText({ baseUrl, profile, because, token, ci }: Choices, root: string): string {
  const variable = 'variable' in token ? token.variable : null;
  const lines = [
    schemaLine(CONFIG, schemas.config).trimEnd(),
    'version: 1',
    'server:',
    ...(baseUrl === null
      ? ['  # Set the variable, or write the address here.', '  base_url: ${IDOPS_BASE_URL}']
      : [`  base_url: ${scalar(baseUrl)}`]),
    `  # ${remarks[because]}`,
    `  profile: ${profile}`,
    '  auth:',
    'file' in token
      ? `    token_file: ${scalar(shownFrom(root, token.file))}`
      : `    token: \${${token.variable}}`,
    `manifests: [${MANIFESTS}/**/*.yaml]`,
    ...(variable === null || variable.startsWith('IDOPS_') ? [] : [`allow_env: [${variable}]`]),
    'safety:',
    '  max_destructive: 5',
    ...(ci === 'none'
      ? []
      : [
          'environments:',
          '  # What the workflows work with. What is different there goes in here, such as an address of its own, or a state that is',
          '  # not thrown away with its runner, and with it who changed what, undo and the numbers of DIDs: "state: {git: {}}" keeps it on a',
          '  # branch of this repository, "state: {postgres: {url: ...}}" in a database.',
          '  production: {}',
        ]),
  ];
  return `${lines.join('\n')}\n`;
}

const remarks: { readonly [because in Choices['because']]: string } = {
  found: 'Found by `idops init`, by how the server answers; `idops doctor` looks again.',
  said: 'As `idops init` was told; `idops doctor` finds out whether it fits the server.',
  unknown: 'The documented API alone. `idops doctor` finds out whether the server needs another profile.',
};

/** A manifest with the line by which an editor finds its schema. */
export function withSchemaLine({ path, text }: NewFile): NewFile {
  return path.endsWith('.yaml') ? { path, text: schemaLine(path, schemas.manifest) + text } : { path, text };
}

/** What git must leave out, and leave as it is: a state decides what idops believes, and bodies are compared to the byte. */
export function gitLines({ token }: Pick<Choices, 'token'>, root: string): NeededLines[] {
  const file = 'file' in token ? shownFrom(root, token.file) : '';
  const isPlain = /^[\w-][\w./-]*$/.test(file);
  return [
    { path: '.gitignore', lines: ['.idops/', ...(isPlain ? [`/${file}`] : [])] },
    { path: '.gitattributes', lines: [`${MANIFESTS}/emails/** -text`] },
  ];
}

/** A path as the configuration names it: from its folder where it lies there, and as it is elsewhere. */
function shownFrom(root: string, file: string): string {
  const path = relative(root, file);
  return isAbsolute(path) || path.startsWith('..') ? file : path.split(sep).join('/');
}

/** A text as YAML takes it for itself, without a variable in it. */
function scalar(text: string): string {
  const escaped = escapeVariables(text);
  return /^[\w/.][\w:/.%~@+-]*$/.test(escaped) && !escaped.endsWith(':') ? escaped : JSON.stringify(escaped);
}

/** The secrets that workflows name, in the order in which they do. */
export function secretsOf(workflows: readonly NewFile[]): string[] {
  const named = workflows.flatMap(({ text }) =>
    [...text.matchAll(/secrets\.(\w+)|"\$(IDOPS_\w+)"/g)].map(([, github, gitlab]) => github ?? gitlab ?? ''),
  );
  return [...new Set(named)].filter((name) => name !== 'GITHUB_TOKEN' && name !== 'IDOPS_BASE_URL');
}
