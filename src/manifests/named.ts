import { posix } from 'node:path';
import picomatch from 'picomatch';
import { isDynamicPattern } from 'tinyglobby';
import type { Project } from '../project/project.js';

/** Which files a project's globs would find, if these were all that there are; from its root, with `/`. */
export function namedByGlobs(project: Project, paths: readonly string[]): ReadonlySet<string> {
  const patterns = project.patterns().map(({ pattern }) => pattern);
  const ignore = patterns.flatMap((one) => (one.startsWith('!') ? [one.slice(1)] : []));
  const named = patterns.filter((one) => !one.startsWith('!') && !one.split('/').includes('..'));
  const isNamed = picomatch(named, { ignore });
  return new Set(paths.map((path) => posix.normalize(path)).filter((path) => isNamed(path)));
}

/** Where new manifests may lie: a folder that a glob names, and their ending; or one file that a glob names, for all of them. */
export type ManifestHome = { readonly folder: string; readonly ending: string } | { readonly file: string };

/** The places that a project's globs have for new manifests, in the order of the globs. */
export function manifestHomes(project: Project): ManifestHome[] {
  return project.patterns().flatMap(({ pattern }): ManifestHome[] => {
    if (pattern.startsWith('!')) return [];
    if (!isDynamicPattern(pattern)) return [{ file: posix.normalize(pattern) }];
    const steps = pattern.split('/').slice(0, -1);
    const wild = steps.findIndex((step) => isDynamicPattern(step));
    const folder = posix.normalize((wild < 0 ? steps : steps.slice(0, wild)).join('/') || '.');
    return [{ folder, ending: pattern.endsWith('.yml') ? '.yml' : '.yaml' }];
  });
}
