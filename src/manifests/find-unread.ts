import { stat } from 'node:fs/promises';
import { relative, resolve, sep } from 'node:path';
import pLimit from 'p-limit';
import { glob, isDynamicPattern } from 'tinyglobby';
import { kinds } from '../kinds/index.js';
import type { Project } from '../project/project.js';
import { shownPath } from '../yaml/source-file.js';
import { type Access, readsAtOnce } from './access.js';
import { Walk } from './walk.js';

export interface WalkedGlob {
  readonly pattern: string;
  /** Whether it is from the configuration, not a default. */
  readonly isNamed: boolean;
  readonly isEmpty: boolean;
}

export interface Seen {
  readonly project: Project;
  readonly access: Access;
  readonly walk: Walk;
  readonly globs: readonly WalkedGlob[];
  /** The excluding globs, without their `!`. */
  readonly ignore: string[];
  /** What the globs match, absolute. */
  readonly found: ReadonlySet<string>;
  /** The real paths of what was read, which differ in a ConfigMap's mount. */
  readonly read: ReadonlySet<string>;
}

/** Sentences about files that look like manifests and aren't read, and about globs and folders without any. */
export async function findUnread(seen: Seen): Promise<readonly string[]> {
  const { project, walk, globs, ignore, found, read } = seen;
  const shown = (path: string): string => shownPath(path, project.cwd);
  const isOthers = (path: string): boolean => isOfTools(path, project.root);
  const patterns = globs.map(({ pattern }) => withBothExtensions(pattern));
  const wide = { ignore, dot: true, caseSensitiveMatch: false };
  const all = new Walk(project, { seeking: true });
  const names = await glob(patterns, { ...all.options(), ...wide });
  const missed = names
    .map((name) => resolve(project.root, name))
    .filter((path) => !found.has(path) && !read.has(path) && !isOthers(path) && !all.dangling.has(path));
  const folders = await glob(patterns, { ...new Walk(project).options(), ...wide, onlyDirectories: true });
  const hollow = folders
    .map((name) => resolve(project.root, name))
    .filter((path) => /\.ya?ml$/i.test(path) && !isOthers(path))
    .filter((path) => ![...found].some((one) => one.startsWith(path + sep)));
  const dangling = [...all.dangling].filter((path) => !isOthers(path) && !found.has(path));
  const known = new Set([...missed, ...all.dangling]);
  const deeper = await unmatchedManifests(seen, known);
  const named = globs.filter(({ isNamed }) => isNamed);
  const absent = await Promise.all(named.map((one) => absence(one, project)));
  const refused = all.problems().flatMap(({ severity, message }) => (severity === 'error' ? [message] : []));
  return [
    ...new Set([
      ...[...walk.linked].map((path) => `${shown(path)} is a link to a folder, which is not walked`),
      ...dangling.map((path) => `${shown(path)} is a broken link, perhaps to a folder`).sort(),
      ...absent.flat(),
      ...refused,
      ...missed.map((path) => `${shown(path)} has the name of a manifest, and is not read as one`).sort(),
      ...hollow
        .map(
          (path) => `${shown(path)} is a folder with the name of a manifest, as a mount without its source`,
        )
        .sort(),
      ...deeper.sort(),
    ]),
  ];
}

/** Manifests in the folders of the globs that no glob of any environment matches. */
async function unmatchedManifests(
  { project, access, globs, ignore, found, read }: Seen,
  known: ReadonlySet<string>,
): Promise<string[]> {
  const bases = [...new Set(globs.map(({ pattern }) => fixedSteps(pattern).join('/')))];
  const within = async (walk: Walk, some: readonly string[]): Promise<string[]> => {
    if (some.length === 0) return [];
    const below = some.map((base) => `${base}${base === '' ? '' : '/'}**/*.{yaml,yml}`);
    const options = { ...walk.options(), ignore: [...ignore, '**/node_modules/**'] };
    return await glob(below, { ...options, caseSensitiveMatch: false });
  };
  const named = new Walk(project);
  const folders = bases.filter((base) => base !== '');
  // If manifests are beside the configuration, other folders there may be unreadable.
  const beside = folders.length < bases.length ? await within(new Walk(project), ['']) : [];
  const names = [...(await within(named, folders)), ...beside];
  const refused = named
    .problems()
    .flatMap(({ severity, message }) => (severity === 'error' ? [message] : []));
  const paths = names
    .map((name) => resolve(project.root, name))
    .filter((path) => !found.has(path) && !read.has(path) && !known.has(path));
  if (paths.length === 0) return refused;
  const others = await readElsewhere(project);
  const limit = pLimit(readsAtOnce);
  const looked = await Promise.all(
    paths
      .filter((path) => !others.has(path))
      .map((path) =>
        limit(async (): Promise<string[]> => {
          const content = await access.read(path);
          const shown = shownPath(path, project.cwd);
          if ('text' in content) {
            return kindLine.test(content.text)
              ? [`${shown} looks like a manifest, and no glob names it`]
              : [];
          }
          // A private file is no manifest.
          if (content.reason === 'private') return [];
          return [`${shown} has the name of a manifest, and can't be read`];
        }),
      ),
  );
  return [...refused, ...looked.flat()];
}

/** What the globs of all environments match. */
async function readElsewhere(project: Project): Promise<ReadonlySet<string>> {
  const found = await Promise.all(
    project.everyGlobs().map(async (globs) => {
      const { named, ignore } = splitGlobs(globs);
      return named.length === 0 ? [] : await glob(named, { ...new Walk(project).options(), ignore });
    }),
  );
  return new Set(found.flat().map((name) => resolve(project.root, name)));
}

const kindLine = new RegExp(`\\bkind["']?\\s*:\\s*["']?(?:${kinds.map(({ name }) => name).join('|')})\\b`);

/** The globs inside the project, and those that exclude, without their `!`. */
export function splitGlobs(globs: readonly string[]): { named: string[]; ignore: string[] } {
  return {
    named: globs.filter((one) => !one.startsWith('!') && !one.split('/').includes('..')),
    ignore: globs.flatMap((one) => (one.startsWith('!') ? [one.slice(1)] : [])),
  };
}

/** A glob for both extensions, which are easily confused. */
function withBothExtensions(pattern: string): string {
  return pattern.replace(/\.ya?ml$/i, '.{yaml,yml}');
}

/** The folders of a glob before its first wildcard. */
export function fixedSteps(pattern: string): string[] {
  const steps = pattern.split('/').slice(0, -1);
  const wild = steps.findIndex((step) => isDynamicPattern(step));
  return wild < 0 ? steps : steps.slice(0, wild);
}

/** A sentence if a glob matches nothing, or its folder doesn't exist. */
async function absence({ pattern, isEmpty }: WalkedGlob, { root }: Project): Promise<string[]> {
  const folder = fixedSteps(pattern).join('/').replace(/\\(.)/g, '$1');
  const there = await stat(resolve(root, folder)).catch(() => undefined);
  if (there?.isDirectory() !== true) return [`the folder ${folder} of "${pattern}" does not exist`];
  return isEmpty ? [`no file matches "${pattern}"`] : [];
}

/** Hidden files in the project's folder belong to other tools. */
function isOfTools(path: string, root: string): boolean {
  return relative(root, path).startsWith('.');
}
