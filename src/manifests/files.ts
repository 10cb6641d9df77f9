import * as fs from 'node:fs';
import { realpath } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { glob } from 'tinyglobby';
import { error, type Problem, warning } from '../problems.js';
import type { Project } from '../project/project.js';
import { shownPath, unreadable } from '../source/file.js';

export interface ManifestFile {
  /** Absolute, as the glob found it. */
  readonly path: string;
  /** As a person would type it. */
  readonly shown: string;
}

/** Whether a path lies in a folder; both absolute, with links followed. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Every manifest that the globs name, sorted, each once; a folder that can't be read is an error, never absence. */
export async function findManifests(project: Project, problems: Problem[]): Promise<readonly ManifestFile[]> {
  const patterns = project.patterns();
  const ignore = patterns.flatMap(({ pattern }) => (pattern.startsWith('!') ? [pattern.slice(1)] : []));
  const refused = new Map<string, Problem>();
  const found = new Set<string>();
  const empty: Problem[] = [];
  for (const { pattern, place } of patterns) {
    if (pattern.startsWith('!')) continue;
    const places = place === null ? [] : [place];
    if (isAbsolute(pattern) || pattern.split('/').includes('..')) {
      problems.push(
        error(
          'manifest-outside',
          `the glob "${pattern}" leads out of the project`,
          places,
          'keep manifests below the configuration',
        ),
      );
      continue;
    }
    const matches = await glob(pattern, {
      cwd: project.root,
      ignore,
      expandDirectories: false,
      fs: watched(project, refused),
    });
    for (const match of matches) found.add(resolve(project.root, match));
    if (matches.length === 0) {
      empty.push(
        warning(
          'no-match',
          `no file matches "${pattern}"`,
          places,
          'check the glob; it is relative to the configuration',
        ),
      );
    }
  }
  const givenByDefault = patterns.every(({ place }) => place === null);
  if (!givenByDefault) problems.push(...empty);
  else if (found.size === 0) problems.push(...empty.slice(0, 1));
  problems.push(...refused.values());
  return eachOnce(project, [...found].sort(), problems);
}

/** Follows links, so that no manifest lies outside the project and none is read twice. */
async function eachOnce(
  project: Project,
  paths: readonly string[],
  problems: Problem[],
): Promise<readonly ManifestFile[]> {
  const real = await Promise.all(
    paths.map(async (path) => {
      try {
        return await realpath(path);
      } catch (failure) {
        const refused = unreadable(failure);
        return refused.reason === 'missing'
          ? { ...refused, detail: 'is a link that leads nowhere' }
          : refused;
      }
    }),
  );
  // Of several ways to a file, the one without links is shown.
  const seen = new Set<string>();
  const direct = new Set(paths.filter((path, index) => path === real[index]));
  return paths.flatMap((path, index) => {
    const shown = shownPath(path, project.cwd);
    const target = real[index];
    if (target === undefined) return [];
    const place = { file: shown, line: 1, column: 1, length: 1 };
    if (typeof target !== 'string') {
      problems.push(error('file-unreadable', `${shown} ${target.detail}`, [place]));
      return [];
    }
    if (!isInside(target, project.root)) {
      problems.push(
        error(
          'manifest-outside',
          `${shown} is a link that leads out of the project`,
          [place],
          'copy the file into the project',
        ),
      );
      return [];
    }
    if (seen.has(target) || (path !== target && direct.has(target))) return [];
    seen.add(target);
    return [{ path, shown }];
  });
}

type Callback = (failure: NodeJS.ErrnoException | null, ...rest: unknown[]) => void;

/** The file system as the glob walks it, which would pass over what it can't read without a word. */
function watched(project: Project, refused: Map<string, Problem>) {
  const report = (path: string, failure: NodeJS.ErrnoException): void => {
    const shown = shownPath(path, project.cwd);
    refused.set(
      path,
      error('file-unreadable', `${shown} ${unreadable(failure).detail}`, [
        { file: shown, line: 1, column: 1, length: 1 },
      ]),
    );
  };
  return {
    readdir: (path: string, options: { withFileTypes: true }, callback: Callback) => {
      fs.readdir(path, options, (failure, entries) => {
        // A glob may begin with a folder that isn't there, and then it matches nothing.
        if (failure !== null && failure.code !== 'ENOENT') report(path, failure);
        callback(failure, entries);
      });
    },
    realpath: (path: string, callback: Callback) => {
      fs.realpath(path, (failure, real) => {
        // Editors leave links behind that lead nowhere; only one with a manifest's name was meant to be read.
        if (failure !== null && (failure.code !== 'ENOENT' || /\.ya?ml$/.test(path))) report(path, failure);
        callback(failure, real);
      });
    },
    stat: (path: string, callback: Callback) => {
      fs.stat(path, (failure, stat) => {
        if (failure !== null) report(path, failure);
        callback(failure, stat);
      });
    },
  } as unknown as typeof fs;
}
