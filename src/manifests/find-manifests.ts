import { isAbsolute, posix, resolve } from 'node:path';
import picomatch from 'picomatch';
import { glob, isDynamicPattern } from 'tinyglobby';
import { error, type Problem, type ProblemCode, warning } from '../base/problems.js';
import type { Project } from '../project/project.js';
import { type FileName, fileName, type SourceFile, sourceOf, wholeFile } from '../yaml/source-file.js';
import type { Access } from './access.js';
import { findUnread, fixedSteps, splitGlobs, type WalkedGlob } from './find-unread.js';
import { Walk } from './walk.js';

/** A manifest that may be read. */
export interface ManifestFile {
  /** Absolute, as the glob found it. */
  readonly path: string;
  /** The file's real path. */
  readonly target: string;
  readonly name: FileName;
}

/** Every manifest of a project. */
export interface FoundManifests {
  readonly files: readonly ManifestFile[];
  /** Sentences about files that look like manifests and aren't read. */
  unread(): Promise<readonly string[]>;
}

/** Every manifest that the globs match, sorted, each once; an unreadable folder is an error, never absence. */
export async function findManifests(
  project: Project,
  access: Access,
  problems: Problem[],
): Promise<FoundManifests> {
  const patterns = project.patterns();
  const { ignore } = splitGlobs(patterns.map(({ pattern }) => pattern));
  const walk = new Walk(project);
  const found = new Set<string>();
  const empty: Problem[] = [];
  const globs: WalkedGlob[] = [];
  for (const { pattern, place } of patterns) {
    if (pattern.startsWith('!')) continue;
    const places = place === null ? [] : [place];
    if (isAbsolute(pattern) || pattern.split('/').includes('..')) {
      const message = `the glob "${pattern}" leads out of the project`;
      problems.push(error('manifest-outside', message, places, 'keep manifests below the configuration'));
      continue;
    }
    const matches = await glob(pattern, { ...walk.options(), ignore });
    globs.push({ pattern, isNamed: place !== null, isEmpty: matches.length === 0 });
    for (const match of matches) found.add(resolve(project.root, match));
    const hint = 'check the glob; it is relative to the configuration';
    if (matches.length === 0) empty.push(warning('no-match', `no file matches "${pattern}"`, places, hint));
  }
  const givenByDefault = patterns.every(({ place }) => place === null);
  if (!givenByDefault) problems.push(...empty);
  else if (found.size === 0) problems.push(...empty.slice(0, 1));
  problems.push(...walk.problems());
  const files = await withoutDuplicates(project, access, [...found].sort(), problems);
  const read = new Set(files.map(({ target }) => target));
  return { files, unread: () => findUnread({ project, access, walk, ignore, globs, found, read }) };
}

/** Resolves links, so that no manifest is read twice and nothing private is read. */
async function withoutDuplicates(
  project: Project,
  access: Access,
  paths: readonly string[],
  problems: Problem[],
): Promise<readonly ManifestFile[]> {
  const looked = await Promise.all(paths.map(async (path) => ({ path, found: await access.find(path) })));
  // Of several paths to a file, the one without links is used.
  const seen = new Set<string>();
  const direct = new Set(paths);
  return looked.flatMap(({ path, found }) => {
    const name = fileName(path, project);
    if (!('target' in found)) {
      problems.push(refusal(name, found));
      return [];
    }
    const { target } = found;
    if (seen.has(target) || (path !== target && direct.has(target))) return [];
    seen.add(target);
    return [{ path, target, name }];
  });
}

/** Reads a manifest; returns a problem if that fails. */
export async function readManifest(
  access: Access,
  { path, name }: ManifestFile,
): Promise<SourceFile | Problem> {
  const read = await access.read(path);
  return 'text' in read ? sourceOf(name, read.text) : refusal(name, read);
}

type Unusable = Exclude<Awaited<ReturnType<Access['read']>>, { text: string }>;

/** The code of each reason, what to do, and words in place of its own. */
const refusals: {
  readonly [reason in Unusable['reason']]: readonly [ProblemCode, hint?: string | undefined, words?: string];
} = {
  outside: ['manifest-outside', 'copy the file into the project', 'is a link that leads out of the project'],
  private: [
    'manifest-private',
    'keep manifests and sample data in files of their own, or exclude the file from the globs with "!"',
  ],
  missing: ['file-unreadable', undefined, 'is a broken link'],
  'too-large': ['too-large', 'split it into several files'],
  'not-utf8': ['not-utf8', 'save it as UTF-8'],
  unreadable: ['file-unreadable'],
};

/** Why a manifest or sample data isn't read, without a line of it. */
export function refusal(name: FileName, { reason, detail }: Unusable): Problem {
  const [code, hint, words = detail] = refusals[reason];
  const message = `${name.file} ${words}${reason === 'private' ? ', so it is not read' : ''}`;
  return error(code, message, [wholeFile(name)], hint);
}

/** Which of these paths, relative to the project's root with `/`, its globs match. */
export function matchGlobs(project: Project, paths: readonly string[]): ReadonlySet<string> {
  const { named, ignore } = splitGlobs(project.patterns().map(({ pattern }) => pattern));
  const isNamed = picomatch(named, { ignore });
  return new Set(paths.map((path) => posix.normalize(path)).filter((path) => isNamed(path)));
}

/** A place for new manifests: the folder of a glob, and their extension; or a single file that a glob names. */
export type ManifestPlace = { readonly folder: string; readonly ending: string } | { readonly file: string };

/** The places that a project's globs allow, in the order of the globs. */
export function placesForNewManifests(project: Project): ManifestPlace[] {
  return project.patterns().flatMap(({ pattern }): ManifestPlace[] => {
    if (pattern.startsWith('!')) return [];
    if (!isDynamicPattern(pattern)) return [{ file: posix.normalize(pattern) }];
    const folder = posix.normalize(fixedSteps(pattern).join('/') || '.');
    return [{ folder, ending: pattern.endsWith('.yml') ? '.yml' : '.yaml' }];
  });
}
