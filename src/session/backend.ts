import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { git } from '../base/git.js';
import { parseUrl } from '../base/parse-url.js';
import { findWorkTree } from '../base/paths.js';
import { type Problem, problemError, warning } from '../base/problems.js';
import { readTextFile } from '../base/read-file.js';
import { systemErrorText } from '../base/system-errors.js';
import type { Declared } from '../kinds/kind.js';
import { type Project, pathOnBranch, type StateSettings } from '../project/index.js';
import type { OnSecret } from '../secrets/redactor.js';
import type { StateBackend } from '../state/backend.js';
import { fileBackend } from '../state/file/index.js';
import { withJournalBuffer } from '../state/journal-buffer.js';
import { shownPath } from '../yaml/source-file.js';

/** The folder of journal lines that could not be written to a remote backend. */
const JOURNAL_BUFFER = '.idops/kept';

/**
 * The backend of a project's state, with the journal buffer. `onSecret` receives the credentials in its settings. Throws a ProblemsError
 * if the settings are wrong.
 */
export async function backendOf(project: Project, onSecret: OnSecret): Promise<StateBackend> {
  const backend = await backendWithoutBuffer(project, onSecret);
  const kept = join(project.root, JOURNAL_BUFFER);
  // A state file needs no buffer, but lines may be left from a former backend.
  return project.state().in === 'file' && !existsSync(kept) ? backend : withJournalBuffer(backend, kept);
}

/** The same backend without the journal buffer. */
export async function backendWithoutBuffer(project: Project, onSecret: OnSecret): Promise<StateBackend> {
  const settings = project.state();
  if (settings.in === 'file') return await fileBackend(settings);
  return settings.in === 'git'
    ? await backendInGit(project, settings, onSecret)
    : await backendInPostgres(project, settings, onSecret);
}

async function backendInGit(
  project: Project,
  { remote, branch, path: configuredPath }: Extract<StateSettings, { in: 'git' }>,
  onSecret: OnSecret,
): Promise<StateBackend> {
  const { root: folder, file, environment } = project;
  const root = findWorkTree(folder);
  if (root === undefined) {
    throw problemError(
      'state-unreachable',
      `the state is kept in git, but ${file} is not in a git work tree`,
      'run idops in a clone of the repository, or keep the state elsewhere',
    );
  }
  for (const secret of [...credentialsIn(remote), ...(await configuredSecrets(root))]) onSecret(secret);
  const { gitBackend } = await import('../state/git/index.js');
  const path = configuredPath ?? pathOnBranch(environment, folder, root);
  return gitBackend({ root, remote, branch, path });
}

async function backendInPostgres(
  { cwd, environment }: Project,
  { url: address, name, files }: Extract<StateSettings, { in: 'postgres' }>,
  onSecret: OnSecret,
): Promise<StateBackend> {
  const { postgresBackend, secretsOf } = await import('../state/postgres/index.js');
  const url = String(address.reveal());
  for (const secret of secretsOf(url)) onSecret(secret);
  const read = async ([what, file]: [string, string]): Promise<[string, string]> => {
    const text = await readTextFile(file).catch((failure: unknown) => {
      const why = systemErrorText(failure);
      const message = `the file ${shownPath(file, cwd)} of state.postgres can't be read: ${why}`;
      throw problemError('bad-certificate', message, 'the path is relative to the configuration');
    });
    if (what === 'key') onSecret(text);
    return [what, text];
  };
  const tls = Object.fromEntries(await Promise.all(Object.entries(files).map(read)));
  const given = Object.keys(tls).length === 0 ? {} : { tls };
  return postgresBackend({ url, name: name ?? environment ?? 'state', ...given });
}

/** The credentials in git's configuration of remotes, since a server may repeat them in a message. */
async function configuredSecrets(root: string): Promise<string[]> {
  const keys = '^(http\\..*extraheader|remote\\..*url|url\\..*)$';
  const output = await git(root, ['config', '--get-regexp', keys]).catch(() => '');
  return output
    .toString()
    .split('\n')
    .flatMap((line) => [...line.split(/\s+/).flatMap(credentialsIn), ...headerSecrets(line)]);
}

/** The credential in a line `http.extraheader AUTHORIZATION: basic …`, and the password in it. */
function headerSecrets(line: string): string[] {
  const credential = /^http\..*?\s\S+:\s*(?:\S+\s+)?(\S{4,})$/i.exec(line)?.[1];
  if (credential === undefined) return [];
  const [, password = ''] = Buffer.from(credential, 'base64').toString('utf8').split(':');
  return [credential, ...(password.length > 3 ? [password] : [])];
}

function credentialsIn(remote: string): string[] {
  const url = parseUrl(remote);
  if (url === undefined) return [];
  const { username, password } = url;
  // A user name without a password, as for ssh, is not a secret.
  const given = [password, ...(remote.startsWith('http') ? [username] : [])].filter((one) => one !== '');
  return given.flatMap((one) => [one, decodeURIComponent(one)]);
}

/** Whether files written here are lost when the CI job ends. */
export function isEphemeralRunner({ CI = '', RUNNER_ENVIRONMENT }: NodeJS.ProcessEnv): boolean {
  return CI !== '' && RUNNER_ENVIRONMENT !== 'self-hosted';
}

/**
 * A warning if losing the state can lose data: on a server that writes whole users, an interrupted update can empty the lists of a user,
 * and only the journal and the state have their former content.
 */
export function stateLossWarning(
  project: Pick<Project, 'state' | 'profile' | 'root'>,
  declared: readonly Pick<Declared, 'kind'>[],
): Problem[] {
  const isFile = project.state().in === 'file' && findWorkTree(project.root) !== undefined;
  if (!isFile || project.profile.name !== 'boruta' || !declared.some(({ kind }) => kind === 'User'))
    return [];
  return [
    warning(
      'state-not-kept',
      'the state is a file in the work tree: if a run is interrupted and its runner is deleted, what must be restored is lost, and users permanently lose their lists',
      [],
      'keep it in git or PostgreSQL: state: {git: {}}',
    ),
  ];
}

/** A warning for one of several parallel jobs if the state is a file: their runners may be other machines. */
export function notSharedWarning(project: Pick<Project, 'state'>, { place }: StateBackend): Problem[] {
  if (project.state().in !== 'file') return [];
  return [
    warning(
      'state-not-shared',
      `the state is in the file ${place}, which runners on other machines don't share: each has its own state`,
      [],
      'keep it in git or PostgreSQL, unless the file is on a disk that all of them share',
    ),
  ];
}
