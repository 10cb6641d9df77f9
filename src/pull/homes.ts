import { posix } from 'node:path';
import { error, type Problem, ProblemsError } from '../base/problems.js';
import { type ManifestHome, manifestHomes, namedByGlobs } from '../manifests/named.js';
import type { Project } from '../project/index.js';
import type { FreshDocument } from './fresh.js';
import { kindFile, type Layout, perObject } from './layout.js';

/** Where the documents about new objects go, from the project's root, with `/`. */
export interface Homes {
  /** The folder that the bodies' own folder is in. */
  readonly folder: string;
  readonly manifests: ReadonlyMap<FreshDocument, string>;
}

/** What of a project's manifests decides where a new document goes. */
export interface Inhabited {
  /** The manifests that are there, with how many documents of each kind they have. */
  readonly files: readonly { readonly path: string; readonly kinds: readonly string[] }[];
  /** Whether something lies at a path that is no manifest of the project. */
  readonly isTaken: (path: string) => boolean;
}

/**
 * Finds a place for each new document: the file that has the others of its kind, or a new one that a glob of the configuration
 * names. Throws a ProblemsError (`no-home`) where no glob names any.
 */
export async function homesFor(
  documents: readonly FreshDocument[],
  layout: Layout,
  project: Project,
  inhabited: Inhabited,
): Promise<Homes> {
  const candidates = [...manifestHomes(project)];
  for (const home of candidates) {
    const homes = placesIn(home, documents, layout, inhabited);
    const made = [...new Set(homes.manifests.values())];
    const named = namedByGlobs(project, made);
    if (made.every((path) => named.has(path))) return homes;
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

function placesIn(
  home: ManifestHome,
  documents: readonly FreshDocument[],
  layout: Layout,
  inhabited: Inhabited,
): Homes {
  const folder = 'file' in home ? posix.dirname(home.file) : home.folder;
  const taken = new Set(inhabited.files.map(({ path }) => path));
  // As a fresh layout calls them.
  const own = new Set([...taken].map((path) => posix.relative(folder, path).replace(/\.yml$/, '.yaml')));
  const homesOf = new Map<FreshDocument['kind'], string>();
  const manifests = documents.map((document): readonly [FreshDocument, string] => {
    if ('file' in home) return [document, home.file];
    const at = (path: string): string => posix.join(folder, path.replace(/\.yaml$/, home.ending));
    if (layout === 'file-per-object') {
      const path = at(perObject(document, own));
      const free = firstFree(path, (one) => taken.has(one) || inhabited.isTaken(one));
      taken.add(free);
      return [document, free];
    }
    const usual = at(`${kindFile(document.kind)}.yaml`);
    const known = homesOf.get(document.kind);
    if (known !== undefined) return [document, known];
    const there = inhabited.files
      .map(({ path, kinds }) => ({ path, count: kinds.filter((kind) => kind === document.kind.name).length }))
      .filter(({ path, count }) => count > 0 || path === usual)
      .sort((a, b) => b.count - a.count || Number(b.path === usual) - Number(a.path === usual));
    const path = there[0]?.path ?? firstFree(usual, inhabited.isTaken);
    homesOf.set(document.kind, path);
    return [document, path];
  });
  return { folder, manifests: new Map(manifests) };
}

/** A path, or the next one of its kind where something is there that must stay. */
export function firstFree(path: string, isTaken: (path: string) => boolean): string {
  const ending = posix.extname(path);
  const start = path.slice(0, path.length - ending.length);
  for (let number = 1; ; number += 1) {
    const one = number === 1 ? path : `${start}-${number}${ending}`;
    if (!isTaken(one)) return one;
  }
}
