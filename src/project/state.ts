import { posix } from 'node:path';
import * as z from 'zod';
import { defaulted, described, optional } from '../base/members.js';
import { error, type Problem, refuse } from '../base/problems.js';
import { Sensitive } from '../base/values.js';
import { shownPath } from '../yaml/source-file.js';

export const DEFAULT_STATE = '.idops/state.json';
export const DEFAULT_REMOTE = 'origin';
export const DEFAULT_BRANCH = 'idops-state';

/** The default state file of an environment, relative to the configuration. */
export function defaultState(environment: string | null): string {
  return environment === null ? DEFAULT_STATE : `.idops/${environment}/state.json`;
}

/** The default path on a branch: in the folder of the configuration, `root`, relative to the git work tree, `top`. */
export function pathOnBranch(environment: string | null, root: string, top: string): string {
  return posix.join(shownPath(root, top), `${environment ?? 'state'}.json`);
}

export const nonEmpty = () => z.string().min(1, 'must not be empty');

const gitSchema = described(
  z.strictObject({
    remote: defaulted(
      nonEmpty()
        // Git would interpret other texts as an option or a program.
        .regex(/^(?!-)(?!\w+::)[^\s\p{Cc}]+$/u, 'must be the name or the URL of a remote'),
      DEFAULT_REMOTE,
      'The name or URL of a git remote.',
      'origin',
    ),
    branch: defaulted(
      z
        .string()
        .regex(
          /^(?![-./])(?!.*(?:\/[./]|\.\.|\.lock(?:\/|$)))[\w./-]*[\w-]$/,
          'must be the name of a branch: letters (a to z), digits, "_", "-", "." and "/"',
        ),
      DEFAULT_BRANCH,
      'A branch only for states and journals; the first run creates it.',
      'idops-state',
    ),
    path: optional(
      z
        .string()
        .regex(
          /^(?:(?!(?:\.{1,2}|runs)\/)[\w.-]+\/)*[\w.-]+\.json$/,
          'must be a path on the branch that ends in ".json": letters (a to z), digits, "_", "-", "." and "/"',
        ),
      'The file on the branch. Default: ENVIRONMENT.json or state.json, in the folder of the configuration.',
      'production.json',
    ),
  }),
  'Keeps the state on a branch of a git remote.',
  { remote: DEFAULT_REMOTE, branch: DEFAULT_BRANCH },
);

export const pemFile = (what: string, example: string) =>
  optional(nonEmpty(), `A PEM file with ${what}.`, example);

const postgresSchema = described(
  z.strictObject({
    url: optional(
      nonEmpty(),
      'The URL of the database, postgres://USER:PASSWORD@HOST:PORT/DATABASE. Use a variable.',
      '${IDOPS_STATE_URL}',
    ),
    name: optional(
      nonEmpty(),
      'The name of the state in the database. Default: the environment, or state.',
      'production',
    ),
    ca_file: pemFile('the authorities to trust, instead of those of Node.js', 'certificates/database-ca.pem'),
    client_cert_file: pemFile('the client certificate', 'certificates/database.pem'),
    client_key_file: pemFile('its private key, without a passphrase', '/run/secrets/database.key'),
  }),
  'Keeps the state in a PostgreSQL database.',
  { url: '${IDOPS_STATE_URL}' },
);

/** The members that set where the state is kept; only one of them is allowed. */
export const stateLocations = ['path', 'git', 'postgres'] as const;

export const stateSettingsSchema = z
  .strictObject({
    path: defaulted(
      nonEmpty(),
      DEFAULT_STATE,
      'The state file. Default for an environment: .idops/NAME/state.json.',
      '.idops/production.json',
    ),
    allow_tracked: defaulted(z.boolean(), false, 'Allow a state that git tracks.', true),
    git: gitSchema.optional(),
    postgres: postgresSchema.optional(),
  })
  .refine((given) => stateLocations.filter((place) => given[place] !== undefined).length <= 1, {
    error: `a state is kept in one place: leave ${stateLocations.map((name) => `"${name}"`).join(' or ')} out`,
  })
  .refine(
    ({ git, postgres, allow_tracked }) => (git ?? postgres) === undefined || allow_tracked === undefined,
    { error: '"allow_tracked" is only allowed with a state file' },
  )
  .meta({
    description: 'Where idops records what it applied.',
    examples: [
      { path: '.idops/production.json' },
      { git: { remote: 'origin', branch: 'idops-state' } },
      { postgres: { url: '${IDOPS_STATE_URL}' } },
    ],
  });

/** Where a state is kept. */
export type StateSettings =
  | {
      readonly in: 'file';
      /** Absolute. */
      readonly path: string;
      /** Whether a file that git tracks is accepted. */
      readonly allowTracked: boolean;
    }
  | {
      readonly in: 'git';
      /** A name, or a URL, which may contain credentials. */
      readonly remote: string;
      readonly branch: string;
      /** Null for the default of the environment and the folder. */
      readonly path: string | null;
    }
  | {
      readonly in: 'postgres';
      /** With its credentials. */
      readonly url: Sensitive;
      /** Null for the default of the environment. */
      readonly name: string | null;
      /** PEM files, absolute. */
      readonly files: { readonly ca?: string; readonly cert?: string; readonly key?: string };
    };

/** Problems of required settings that are missing after the environment was merged. */
export function missingStateSettings({ postgres }: z.infer<typeof stateSettingsSchema> = {}): Problem[] {
  if (postgres === undefined) return [];
  const { url, client_cert_file: cert, client_key_file: key } = postgres;
  const needs = (present: string, missing: string): Problem[] => [
    error('missing-field', `"state.postgres.${present}" also needs "state.postgres.${missing}"`),
  ];
  const hint = 'add url to it, such as url: ${IDOPS_STATE_URL}';
  return [
    ...(url === undefined ? [error('missing-field', '"state.postgres" names no database', [], hint)] : []),
    ...(cert !== undefined && key === undefined ? needs('client_cert_file', 'client_key_file') : []),
    ...(cert === undefined && key !== undefined ? needs('client_key_file', 'client_cert_file') : []),
  ];
}

/** The section with its defaults; `absolute` resolves a path from the configuration. Throws a ProblemsError (`missing-field`). */
export function stateSettings(
  given: z.infer<typeof stateSettingsSchema> = {},
  environment: string | null,
  absolute: (path: string) => string,
): StateSettings {
  const { path = defaultState(environment), allow_tracked: allowTracked = false, git, postgres } = given;
  if (git !== undefined) {
    const { remote = DEFAULT_REMOTE, branch = DEFAULT_BRANCH } = git;
    return { in: 'git', remote, branch, path: git.path ?? null };
  }
  if (postgres === undefined) return { in: 'file', path: absolute(path), allowTracked };
  refuse(missingStateSettings(given));
  const { url = '', name = null, ca_file: ca, client_cert_file: cert, client_key_file: key } = postgres;
  const named = Object.entries({ ca, cert, key }).flatMap(([what, file]) =>
    file === undefined ? [] : [[what, absolute(file)]],
  );
  return { in: 'postgres', url: new Sensitive(url), name, files: Object.fromEntries(named) };
}
