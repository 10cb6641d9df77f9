import { isInside } from '../../manifests/symlinks.js';
import { MANIFEST_SCHEMA, type NewFile, schemaLine } from '../../pull/layout.js';
import { escapeVariables } from '../../pull/write-value.js';
import type { ProfileName } from '../../server/profiles.js';
import { shownPath } from '../../yaml/source-file.js';
import { jsonSchema } from '../json-schema.js';

export const CONFIG = 'idops.yaml';

export const MANIFESTS = 'manifests';

export type CiName = 'github' | 'gitlab' | 'none';

/** Where the token is: a process variable, or a file with an absolute path. init never asks for the token itself. */
export type TokenSource = { readonly variable: string } | { readonly file: string };

export interface Choices {
  /** An http or https address; null if `IDOPS_BASE_URL` sets it. */
  readonly baseUrl: string | null;
  readonly profile: ProfileName;
  readonly token: TokenSource;
  readonly ci: CiName;
  /** Whether git has a remote, to which the workflows can push the state. */
  readonly hasRemote: boolean;
}

/** The project has copies of the schemas, so that an editor needs no network. */
const schemas = { config: 'schemas/idops-config.schema.json', manifest: MANIFEST_SCHEMA } as const;

export function schemaFiles(): NewFile[] {
  return (['config', 'manifest'] as const).map((name) => ({
    path: schemas[name],
    text: `${JSON.stringify(jsonSchema(name), null, 2)}\n`,
  }));
}

/** The configuration; `root` is the folder of the project, absolute. */
export function configText({ baseUrl, profile, token, ci, hasRemote }: Choices, root: string): string {
  const variable = 'variable' in token ? token.variable : null;
  const lines = [
    schemaLine(CONFIG, schemas.config).trimEnd(),
    'version: 1',
    'server:',
    ...(baseUrl === null
      ? ['  # Set the variable, or write the address here.', '  base_url: ${IDOPS_BASE_URL}']
      : [`  base_url: ${scalar(baseUrl)}`]),
    '  # idops doctor checks whether this profile fits.',
    `  profile: ${profile}`,
    '  auth:',
    'file' in token
      ? `    token_file: ${scalar(pathInProject(root, token.file))}`
      : `    token: \${${token.variable}}`,
    `manifests: [${MANIFESTS}/**/*.yaml]`,
    ...(variable === null || variable.startsWith('IDOPS_') ? [] : [`allow_env: [${variable}]`]),
    'safety:',
    '  max_destructive: 5',
    ...(ci === 'none'
      ? []
      : [
          'environments:',
          '  # The environment of the workflows. Settings here override those above, such as base_url.',
          ...(hasRemote
            ? [
                '  production:',
                '    # A branch of this repository. Files of a runner are deleted after a job, and with them history, undo and pending restores.',
                '    state: {git: {}}',
              ]
            : [
                '  # A state file is deleted with its runner, and with it history, undo and pending restores:',
                '  # "state: {git: {}}" keeps it on a branch of this repository, "state: {postgres: {url: ...}}" in a database.',
                '  production: {}',
              ]),
        ]),
  ];
  return `${lines.join('\n')}\n`;
}

/** Manifests with a line that names their schema; without manifests, an example that declares nothing. */
export function manifestFiles(pulled: readonly NewFile[]): NewFile[] {
  const files = pulled.length > 0 ? pulled : [{ path: 'examples.yaml', text: example }];
  return files.map(({ path: name, text }) => {
    const path = `${MANIFESTS}/${name}`;
    return { path, text: path.endsWith('.yaml') ? schemaLine(path, schemas.manifest) + text : text };
  });
}

const example = `# One document is one object of the server. This is an example: remove the "# " and write your own name.
# kind: Organization
# name: acme
# label: ACME Corporation
`;

/** Lines for .gitignore (the state and the token) and .gitattributes (no conversion, since bodies are compared byte by byte). */
export function gitLines({ token }: Choices, root: string): { [path: string]: readonly string[] } {
  const file = 'file' in token ? pathInProject(root, token.file) : '';
  const isPlain = /^[\w-][\w./-]*$/.test(file);
  return {
    '.gitignore': ['.idops/', ...(isPlain ? [`/${file}`] : [])],
    '.gitattributes': ['emails', 'pages'].map((folder) => `${MANIFESTS}/${folder}/** -text`),
  };
}

/** A path relative to the root, if it is inside. */
function pathInProject(root: string, file: string): string {
  return isInside(file, root) ? shownPath(file, root) : file;
}

/** A text as a YAML scalar, with "$" escaped. */
function scalar(text: string): string {
  const escaped = escapeVariables(text);
  return /^[\w/.][\w:/.%~@+-]*$/.test(escaped) && !escaped.endsWith(':') ? escaped : JSON.stringify(escaped);
}
