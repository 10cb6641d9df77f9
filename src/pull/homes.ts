import { posix } from 'node:path';
import { error, type Problem, ProblemsError } from '../base/problems.js';
import type { Kind } from '../kinds/kind.js';
import { manifestHomes, namedByGlobs } from '../manifests/named.js';
import type { Project } from '../project/index.js';
import { kindFile } from './layout.js';

/** Where new documents go, from the project's root, with `/`. */
export interface Homes {
  /** The folder that the bodies' own folder is in. */
  readonly folder: string;
  readonly manifests: ReadonlyMap<Kind, string>;
}

/** A manifest that is there, and the kind of each of its documents. */
export interface Inhabited {
  readonly path: string;
  readonly kinds: readonly string[];
}

/**
 * Finds a file for new documents of some kinds: the one that has the most of them, or a new one that a glob of the configuration
 * names. Throws a ProblemsError (`no-home`) if no glob names any.
 */
export function homesFor(kinds: readonly Kind[], project: Project, inhabited: readonly Inhabited[]): Homes {
  for (const home of manifestHomes(project)) {
    const folder = 'file' in home ? posix.dirname(home.file) : home.folder;
    const pathOf = (kind: Kind): string => {
      if ('file' in home) return home.file;
      const usual = posix.join(folder, kindFile(kind).replace(/\.yaml$/, home.ending));
      const there = inhabited
        .map(({ path, kinds: own }) => ({ path, count: own.filter((name) => name === kind.name).length }))
        .filter(({ count }) => count > 0)
        .sort((a, b) => b.count - a.count || Number(b.path === usual) - Number(a.path === usual));
      return there[0]?.path ?? usual;
    };
    const manifests = new Map(kinds.map((kind) => [kind, pathOf(kind)]));
    const named = namedByGlobs(project, [...new Set(manifests.values())]);
    if ([...manifests.values()].every((path) => named.has(path))) return { folder, manifests };
  }
  throw noHome(project);
}

/** What is said where no glob names a file that new documents could go into. */
export function noHome(project: Project): ProblemsError {
  const problem: Problem = error(
    'no-home',
    'no glob under "manifests" of the configuration names a file that new documents could go into',
    project.patterns().flatMap(({ place }) => place ?? []),
    'add one such as manifests/**/*.yaml, or write a fresh set of files with --out DIR',
  );
  return new ProblemsError([problem]);
}
