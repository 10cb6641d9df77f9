import { realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { type Check, fail, ok, warn } from '../../base/checks.js';
import { addedTexts, type IndexEntry, indexEntries } from '../../base/git.js';
import { realPlaceOf } from '../../base/links.js';
import { ProblemsError } from '../../base/problems.js';
import { readRegular, startOf } from '../../base/regular.js';
import { shellWord } from '../../base/shell.js';
import { isThere, workTreeOf } from '../../base/work-tree.js';
import { type Project, plainCredentialsIn } from '../../project/index.js';
import { shownPath } from '../../source/file.js';
import type { StateBackend } from '../../state/backend.js';
import { type Content, ENOUGH, recognise, within } from './contents.js';
import { failedBy } from './cure.js';

const NAME = 'git';

/** Bytes of one file, and of all of them, that are searched for what is secret. */
const MOST_OF_ONE = 1024 * 1024;
const MOST_OF_ALL = 64 * MOST_OF_ONE;
/** The same of what was added, which git gives as a whole or not at all. */
const MOST_ADDED = { most: 16 * MOST_OF_ONE, all: MOST_OF_ALL, least: ENOUGH };
/** A shorter text stands in many files by chance. */
const LEAST_SECRET = 8;

/** What git should not have, and where. */
interface Finding extends Content {
  readonly path: string;
  /** Whether the file has it as it lies there, and not as it was added alone. */
  readonly isPresent: boolean;
  /** Whether the file was changed since it was added. */
  readonly isChanged: boolean;
}

/**
 * Finds what git's index has of a project and shouldn't: states, journals, stored plans, private keys, and the credentials that
 * are known. Looks at what was added, which a commit takes, and at the files as they are, up to a limit. Without git there is
 * nothing to find.
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
    const entries = await indexEntries(root, [below, ...secrets.keys()]);
    if (entries === 'no git') return [ok(NAME, 'there is no git here that could be asked what it tracks')];
    const added = await addedBy(root, entries);
    const known = credentials.filter((one) => one.length >= LEAST_SECRET);
    const config = configPath(project, root);
    const words = plainWords(project, added.get(config));
    const found: Finding[] = [];
    let left = 0;
    let budget = MOST_OF_ALL;
    for (const [path, texts] of added) {
      const named = secrets.get(path.split('/').join(sep));
      if (named !== undefined) {
        found.push({ ...named, path, isPresent: true, isChanged: true });
        continue;
      }
      const file = join(root, path);
      const { text, isCut } = await startOf(file, Math.min(MOST_OF_ONE, budget));
      if (isCut || texts.includes(undefined)) left += 1;
      budget = Math.max(ENOUGH, budget - text.length);
      const isTold = path === config && words.length > 0;
      const look = async (one: string, whole: () => Promise<string> | string): Promise<Content | undefined> =>
        (await recognise(path, one, whole)) ?? (isTold ? undefined : within(one, known));
      const isAsAdded = (one: string | undefined): boolean => (isCut ? begins(one, text) : one === text);
      const isChanged = !texts.every(isAsAdded);
      const present = await look(text, () => (isCut ? readRegular(file).catch(() => '') : text));
      if (present !== undefined) found.push({ ...present, path, isPresent: true, isChanged });
      if (present !== undefined && present.kind !== 'doubtful') continue;
      for (const one of texts) {
        const content = one === undefined || one === text ? undefined : await look(one, () => one);
        if (content === undefined || content.kind === present?.kind) continue;
        if (present !== undefined) found.pop();
        found.push({ ...content, path, isPresent: isAsAdded(one), isChanged });
        break;
      }
    }
    // A state that is meant to be tracked comes with its journals.
    const settings = project.state();
    const states =
      settings.in === 'file' && settings.allowTracked ? [] : found.filter(({ kind }) => kind === 'state');
    const others = found.filter(({ kind }) => kind !== 'state');
    const shown = ({ path }: Finding): string => shownPath(join(root, path), project.cwd);
    const isForced = states.some(({ isChanged }) => isChanged);
    const checks = [
      ...(states.length > 0 ? [statesCheck(states.map(shown), isForced)] : tracked),
      ...words,
      ...(await Promise.all(
        others.map(async (finding) =>
          asCheck(finding, shown(finding), await isThere(join(root, finding.path))),
        ),
      )),
    ];
    if (checks.length > 0) return checks;
    const sought = known.length === 0 ? '' : 'no credential that is known here, ';
    const part = left === 0 ? '' : `; of ${left} large ones not all was looked at`;
    return [
      ok(
        NAME,
        `${sought}no private key, stored plan, state or journal is in the ${added.size} files that it tracks here${part}`,
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

/** Whether what was added begins as a file does; a character may have been cut at the end of that. */
function begins(added: string | undefined, start: string): boolean {
  return added?.startsWith(start.replace(/\uFFFD+$/, '')) === true;
}

/** What was added of each path; undefined for what was too large, or isn't here. */
async function addedBy(
  root: string,
  entries: readonly IndexEntry[],
): Promise<Map<string, (string | undefined)[]>> {
  const objects = entries.flatMap(({ object }) => object ?? []);
  const texts = await addedTexts(root, objects, MOST_ADDED);
  const added = new Map<string, (string | undefined)[]>();
  for (const { path, object } of entries) {
    const of = added.get(path) ?? [];
    added.set(path, object === null ? of : [...of, texts.get(object)]);
  }
  return added;
}

async function stateCheck(backend: StateBackend): Promise<Check[]> {
  try {
    await backend.check('write');
    return [];
  } catch (failure) {
    if (!(failure instanceof ProblemsError)) throw failure;
    return failure.problems.map((problem) => failedBy(NAME, problem));
  }
}

/** The files that the configuration names for credentials, by their paths from the root of the work tree. */
async function secretPaths(project: Project, root: string): Promise<Map<string, Content>> {
  const files = project.guarded().secretFiles;
  const ways = await Promise.all(files.flatMap((file) => [Promise.resolve(file), realPlaceOf(file)]));
  const top = await realpath(root);
  const paths = ways
    .map((file) => relative(top, file))
    .filter((path) => path !== '' && !path.startsWith(`..${sep}`) && !isAbsolute(path));
  const what = 'the configuration takes a credential from it';
  return new Map(paths.map((path) => [path, { what, kind: 'secret' }]));
}

/** The configuration as git names it. */
function configPath(project: Project, root: string): string {
  return shownPath(join(project.root, basename(project.file)), root);
}

/** A configuration that git tracks should name variables, where something is secret: as it is, and as it was added. */
function plainWords(project: Project, added: readonly (string | undefined)[] | undefined): Check[] {
  if (added === undefined) return [];
  const { file } = project;
  const { plain } = project.guarded();
  const staged = added.flatMap((text) => (text === undefined ? [] : plainCredentialsIn(text)));
  const gone = [...new Set(staged)].filter((path) => !plain.includes(path));
  const old = "and replace the secret: git's history keeps it";
  return [
    ...plain.map((path) =>
      fail(
        NAME,
        `${file} says ${path} in plain words, and git tracks it`,
        `write a variable such as \${IDOPS_TOKEN} there, ${old}`,
      ),
    ),
    ...gone.map((path) =>
      fail(
        NAME,
        `${file} says ${path} in plain words as git has it`,
        `git add ${pathWord(file)}, which takes the file as it is now, ${old}`,
      ),
    ),
  ];
}

/** A path as git takes it: with a colon at its beginning it would be one of git's own patterns. */
function pathWord(path: string): string {
  return shellWord(path.startsWith(':') ? `./${path}` : path);
}

/** What takes files out of git and leaves them where they are. Git wants to be forced where both sides have changed. */
function takeOut(paths: string, isChanged: boolean): string {
  return `git rm --cached ${isChanged ? '-f ' : ''}${paths}`;
}

function asCheck({ what, kind, isPresent, isChanged }: Finding, shown: string, isThere: boolean): Check {
  const out = `${takeOut(pathWord(shown), isThere && isChanged)}, and name it in .gitignore`;
  if (kind === 'within') {
    const cure = !isThere
      ? `git rm --cached ${pathWord(shown)}`
      : isPresent
        ? 'write a variable such as ${IDOPS_SECRET} in its place, or take it out'
        : `git add ${pathWord(shown)}, which takes the file as it is now`;
    return fail(
      NAME,
      `it tracks ${shown}: ${isPresent ? '' : 'as it was added, '}${what}`,
      `${cure}; then replace the secret, since git's history keeps it`,
    );
  }
  const message = `it tracks ${shown}: ${what}`;
  if (kind === 'plan') return warn(NAME, message, `${out}; a plan holds for what was there when it was made`);
  if (kind === 'doubtful') return warn(NAME, message, `where one of them is secret, ${out}`);
  return fail(NAME, message, `${out}; then replace the secret, since git's history keeps it`);
}

/** There may be very many journals: three names are enough to find the rest, and a folder to take them all out. */
function statesCheck(shown: readonly string[], isForced: boolean): Check {
  const more = shown.length > 3 ? ` and ${shown.length - 3} more` : '';
  const journals = shown.filter((path) => path.endsWith('.jsonl'));
  const folders = new Set(journals.map((path) => `${dirname(path)}/*.jsonl`));
  const all = [...shown.filter((path) => !journals.includes(path)), ...folders];
  const paths = (shown.length > 3 ? all : shown).map(pathWord).join(' ');
  return fail(
    NAME,
    `it tracks ${shown.slice(0, 3).join(', ')}${more}: states and journals of idops, so a commit decides what idops believes was recorded`,
    `${takeOut(paths, isForced)}, and name them in .gitignore; or set state.allow_tracked: true, if that is meant`,
    'state-tracked',
  );
}
