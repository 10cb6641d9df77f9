import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { error, type Problem } from '../base/problems.js';
import { manifestPaths } from '../manifests/index.js';
import type { Project } from '../project/index.js';
import { shownPath } from '../source/file.js';

/**
 * Remembers what of a project decides where new documents go and what else declares them: its configuration, and which
 * manifests there are. What it gives tells what of that isn't so any more, each change with its file.
 */
export async function unmoved(
  project: Project,
  tokenFile: string | undefined,
): Promise<() => Promise<readonly Problem[]>> {
  const config = resolve(project.cwd, project.file);
  const text = (): Promise<string | null> => readFile(config, 'utf8').catch(() => null);
  const paths = async (): Promise<readonly string[]> => await manifestPaths(project, tokenFile);
  const [textBefore, pathsBefore] = await Promise.all([text(), paths()]);
  const told = (path: string, what: 'made' | 'removed' | 'changed'): Problem =>
    error(
      'file-moved',
      `${shownPath(path, project.cwd)} was ${what} by somebody else while the server was read`,
      [],
      'nothing was written: pull again',
    );
  return async () => {
    const [textNow, pathsNow] = await Promise.all([text(), paths()]);
    return [
      ...(textNow === textBefore ? [] : [told(config, textNow === null ? 'removed' : 'changed')]),
      ...pathsNow.filter((path) => !pathsBefore.includes(path)).map((path) => told(path, 'made')),
      ...pathsBefore.filter((path) => !pathsNow.includes(path)).map((path) => told(path, 'removed')),
    ];
  };
}
