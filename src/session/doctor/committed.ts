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

/** What git should not have, and what to do about it. */
interface Finding {
  readonly path: string;
  readonly what: string;
  readonly kind: 'secret' | 'doubtful' | 'state' | 'plan';
}

/**
 * Finds what git's index has of a project and shouldn't: states, journals, stored plans, and what is secret. Asks git for
 * names alone, and reads the beginnings of files. Without git there is nothing to find.
 */
export async function lookAtIndex(project: Project, backend: StateBackend): Promise<Check[]> {
  const root = await workTreeOf(project.root);
  if (root === undefined) return [ok(NAME, 'the project is in no git work tree')];
  const tracked = await stateCheck(backend);
  try {
    const secrets = await secretPaths(project, root);
    const below = relative(root, project.root) || '.';
    const files = await inGitIndex(root, [below, ...secrets.keys()]);
    if (files === 'no git') return [ok(NAME, 'there is no git here that could be asked what it tracks')];
    const found: Finding[] = [];
    for (const path of files) {
      const finding = secrets.get(path.split('/').join(sep)) ?? (await recognise(join(root, path), path));
      if (finding !== undefined) found.push(finding);
    }
    // A state that is meant to be tracked comes with its journals.
    const states = project.allowsTracked() ? [] : found.filter(({ kind }) => kind === 'state');
    const others = found.filter(({ kind }) => kind !== 'state');
    const shown = ({ path }: Finding): string => shownPath(join(root, path), project.cwd);
    const checks = [
      ...(states.length > 0 ? [statesCheck(states.map(shown))] : tracked),
      ...plainWords(project, files, root),
      ...others.map((finding) => asCheck(finding, shown(finding))),
    ];
    if (checks.length > 0) return checks;
    return [
      ok(
        NAME,
        `nothing secret, and nothing of a state, is among the ${files.length} files that it tracks here`,
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

/** A configuration that git tracks should name variables, where something is secret. */
function plainWords(project: Project, files: readonly string[], root: string): Check[] {
  const config = shownPath(join(project.root, basename(project.file)), root);
  if (!files.includes(config)) return [];
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
/** What may be a plan, a state, a journal or a key: most have one of these ends, and nobody wants all else read. */
const worthReading = /\.(jsonl?|bak|old|orig|backup|plan|out|pem|key|p8)$|^[^.]+$/i;

/** What a file is that git shouldn't have; undefined for all others. */
async function recognise(file: string, path: string): Promise<Finding | undefined> {
  const name = basename(path);
  if (environmentFile.test(name) && !harmlessEnvironment.test(name)) {
    const secret = secretVariable(await startOf(file, ENOUGH));
    return secret === undefined
      ? { path, what: 'such a file holds the values of process variables', kind: 'doubtful' }
      : { path, what: `it has a value for ${secret}`, kind: 'secret' };
  }
  if (keyStore.test(name)) return { path, what: 'it is a store of keys', kind: 'secret' };
  if (!worthReading.test(name)) return undefined;
  const start = await startOf(file, ENOUGH);
  if (/-----BEGIN ([A-Z0-9]+ )*PRIVATE KEY-----/.test(start))
    return { path, what: 'it is a private key', kind: 'secret' };
  if (/^\s*\{\s*"format_version":\s*\d+,\s*"serial":\s*\d+,\s*"lineage":/.test(start))
    return { path, what: 'it is a state of idops', kind: 'state' };
  if (/^\{"type":"run","format_version":\d+,/.test(start))
    return { path, what: 'it is the journal of a run of idops', kind: 'state' };
  if (/^\s*\{\s*"format_version":\s*\d+,\s*"tool_version":/.test(start) && (await isStoredPlan(file)))
    return { path, what: 'it is a stored plan', kind: 'plan' };
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

/** A report of a plan begins alike; only a plan that can be applied has what applying needs. */
async function isStoredPlan(file: string): Promise<boolean> {
  return /^ {2}"apply": \{/m.test(await readRegular(file).catch(() => ''));
}

function asCheck({ what, kind }: Finding, shown: string): Check {
  const out = `git rm --cached ${shown}, and name it in .gitignore`;
  const message = `it tracks ${shown}: ${what}`;
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
