import { realpath } from 'node:fs/promises';
import { basename, isAbsolute, join, relative, sep } from 'node:path';
import { type Check, fail, ok, warn } from '../../base/checks.js';
import { inGitIndex } from '../../base/git.js';
import { realPlaceOf } from '../../base/links.js';
import { ProblemsError } from '../../base/problems.js';
import { readRegular, startOf } from '../../base/regular.js';
import { looksSecret } from '../../base/secret-names.js';
import { workTreeOf } from '../../base/work-tree.js';
import type { Project } from '../../project/index.js';
import { shownPath } from '../../source/file.js';
import type { StateBackend } from '../../state/backend.js';

const NAME = 'git';

/** Bytes that tell what a file is. */
const ENOUGH = 4096;
/** Bytes of one file, and of all of them, that are searched for what is secret. */
const MOST_OF_ONE = 1024 * 1024;
const MOST_OF_ALL = 64 * MOST_OF_ONE;
/** A shorter text stands in many files by chance. */
const LEAST_SECRET = 8;

/** What git should not have, and what to do about it. */
interface Finding {
  readonly path: string;
  readonly what: string;
  readonly kind: 'secret' | 'within' | 'doubtful' | 'state' | 'plan';
}

/**
 * Finds what git's index has of a project and shouldn't: states, journals, stored plans, private keys, and the credentials that
 * are known. Asks git for names alone, and reads the files up to a limit. Without git there is nothing to find.
 */
export async function lookAtIndex(
  project: Project,
  backend: StateBackend,
  credentials: readonly string[],
): Promise<Check[]> {
  const root = await workTreeOf(project.root);
  if (root === undefined) return [ok(NAME, 'the project is in no git work tree')];
  const tracked = await stateCheck(backend);
  try {
    const secrets = await secretPaths(project, root);
    const below = relative(root, project.root) || '.';
    const files = await inGitIndex(root, [below, ...secrets.keys()]);
    if (files === 'no git') return [ok(NAME, 'there is no git here that could be asked what it tracks')];
    const known = credentials.filter((one) => one.length >= LEAST_SECRET);
    const words = plainWords(project, files, root);
    const config = configPath(project, root);
    const found: Finding[] = [];
    const left: string[] = [];
    let budget = MOST_OF_ALL;
    for (const path of files) {
      const named = secrets.get(path.split('/').join(sep));
      const limit = Math.min(MOST_OF_ONE, budget);
      const text = named === undefined ? await startOf(join(root, path), limit) : '';
      const isCut = text.length >= limit;
      if (isCut) left.push(path);
      budget = Math.max(ENOUGH, budget - text.length);
      const isTold = path === config && words.length > 0;
      const finding =
        named ??
        (await recognise(path, text, () => (isCut ? readRegular(join(root, path)).catch(() => '') : text))) ??
        (isTold ? undefined : within(path, text, known));
      if (finding !== undefined) found.push(finding);
    }
    // A state that is meant to be tracked comes with its journals.
    const states = project.allowsTracked() ? [] : found.filter(({ kind }) => kind === 'state');
    const others = found.filter(({ kind }) => kind !== 'state');
    const shown = ({ path }: Finding): string => shownPath(join(root, path), project.cwd);
    const checks = [
      ...(states.length > 0 ? [statesCheck(states.map(shown))] : tracked),
      ...words,
      ...others.map((finding) => asCheck(finding, shown(finding))),
    ];
    if (checks.length > 0) return checks;
    const sought = known.length === 0 ? '' : 'no credential that is known here, ';
    const part = left.length === 0 ? '' : `; of ${left.length} large ones the beginning was looked at`;
    return [
      ok(
        NAME,
        `${sought}no private key, stored plan, state or journal is in the ${files.length} files that it tracks here${part}`,
      ),
    ];
  } catch (failure) {
    if (!(failure instanceof Error)) throw failure;
    if (tracked.length > 0) return tracked;
    return [
      warn(
        NAME,
        `it can't tell what it tracks: ${failure.message}`,
        'mend the repository, so that "git status" works',
      ),
    ];
  }
}

async function stateCheck(backend: StateBackend): Promise<Check[]> {
  try {
    await backend.check('write');
    return [];
  } catch (failure) {
    if (!(failure instanceof ProblemsError)) throw failure;
    return failure.problems.map(({ message, hint }) => fail(NAME, message, hint ?? null));
  }
}

/** The files that the configuration names for credentials, by their paths from the root of the work tree. */
async function secretPaths(project: Project, root: string): Promise<Map<string, Finding>> {
  const files = project.guarded().secretFiles;
  const ways = await Promise.all(files.flatMap((file) => [Promise.resolve(file), realPlaceOf(file)]));
  const top = await realpath(root);
  const paths = ways
    .map((file) => relative(top, file))
    .filter((path) => path !== '' && !path.startsWith(`..${sep}`) && !isAbsolute(path));
  const what = 'the configuration takes a credential from it';
  return new Map(paths.map((path) => [path, { path: path.split(sep).join('/'), what, kind: 'secret' }]));
}

/** The configuration as git names it. */
function configPath(project: Project, root: string): string {
  return shownPath(join(project.root, basename(project.file)), root);
}

/** A configuration that git tracks should name variables, where something is secret. */
function plainWords(project: Project, files: readonly string[], root: string): Check[] {
  if (!files.includes(configPath(project, root))) return [];
  return project
    .guarded()
    .plain.map((path) =>
      fail(
        NAME,
        `${project.file} says ${path} in plain words, and git tracks it`,
        `write a variable such as \${IDOPS_TOKEN} there, and replace the secret: git's history keeps it`,
      ),
    );
}

const environmentFile = /^\.env(\..+)?$|\.env$/i;
const harmlessEnvironment = /\.(example|sample|template|dist|defaults?)$/i;
const keyStore = /\.(p12|pfx|jks|keystore)$/i;
const keyFile = /\.(pem|key|p8)$|^[^.]+$/i;
const keyBegin = /-----BEGIN ([A-Z0-9]+ )*PRIVATE KEY-----/;

/** What a file is that git shouldn't have; undefined for all others. `text` is its beginning. */
async function recognise(
  path: string,
  text: string,
  whole: () => Promise<string> | string,
): Promise<Finding | undefined> {
  const name = basename(path);
  if (environmentFile.test(name) && !harmlessEnvironment.test(name)) {
    const secret = secretVariable(text);
    return secret === undefined
      ? { path, what: 'such a file holds the values of process variables', kind: 'doubtful' }
      : { path, what: `it has a value for ${secret}`, kind: 'secret' };
  }
  if (keyStore.test(name)) return { path, what: 'it is a store of keys', kind: 'secret' };
  const start = text.slice(0, ENOUGH);
  if (new RegExp(`^\\s*${keyBegin.source}`).test(start) || (keyFile.test(name) && keyBegin.test(start)))
    return { path, what: 'it is a private key', kind: 'secret' };
  if (/^\s*\{\s*"format_version":\s*\d+,\s*"serial":\s*\d+,\s*"lineage":/.test(start))
    return { path, what: 'it is a state of idops', kind: 'state' };
  if (/^\{"type":"run","format_version":\d+,/.test(start))
    return { path, what: 'it is the journal of a run of idops', kind: 'state' };
  // A report of a plan begins alike; only a plan that can be applied has what applying needs.
  const isPlan = /^\s*\{\s*"format_version":\s*\d+,\s*"tool_version":/.test(start);
  if (isPlan && /^ {2}"apply": \{/m.test(await whole()))
    return { path, what: 'it is a stored plan', kind: 'plan' };
  return undefined;
}

/** What is secret in a file that may well be there itself; undefined where nothing is found. */
function within(path: string, text: string, credentials: readonly string[]): Finding | undefined {
  if (credentials.some((one) => text.includes(one)))
    return { path, what: 'it has a credential in it that idops uses', kind: 'within' };
  // What only speaks of keys has no key behind the line.
  if (new RegExp(`${keyBegin.source}(\\s|\\\\[nr])+[A-Za-z0-9+/]{4}`).test(text))
    return { path, what: 'it has a private key in it', kind: 'within' };
  return undefined;
}

/** The first variable that looks like a secret and has a value, which is none of another variable. */
function secretVariable(text: string): string | undefined {
  for (const [, name = '', value = ''] of text.matchAll(
    /^[ \t]*(?:export[ \t]+)?(\w+)[ \t]*=[ \t]*["']?([^\s"'#]*)/gm,
  )) {
    const isIt = looksSecret(name) || /KEY$/i.test(name);
    if (isIt && value !== '' && !value.startsWith('$')) return name;
  }
  return undefined;
}

function asCheck({ what, kind }: Finding, shown: string): Check {
  const out = `git rm --cached ${shown}, and name it in .gitignore`;
  const message = `it tracks ${shown}: ${what}`;
  if (kind === 'within') {
    const cure = 'write a variable such as ${IDOPS_SECRET} in its place, or take it out';
    return fail(NAME, message, `${cure}; then replace the secret, since git's history keeps it`);
  }
  if (kind === 'plan') return warn(NAME, message, `${out}; a plan holds for what was there when it was made`);
  if (kind === 'doubtful') return warn(NAME, message, `where one of them is secret, ${out}`);
  return fail(NAME, message, `${out}; then replace the secret, since git's history keeps it`);
}

/** There may be very many journals: three names are enough to find the rest. */
function statesCheck(shown: readonly string[]): Check {
  const more = shown.length > 3 ? ` and ${shown.length - 3} more` : '';
  return fail(
    NAME,
    `it tracks ${shown.slice(0, 3).join(', ')}${more}: states and journals of idops, so a commit decides what idops believes was recorded`,
    'take them out with "git rm --cached" and name them in .gitignore; or set state.allow_tracked: true, if that is meant',
  );
}
