import { stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { realPath } from '../base/paths.js';
import { error, type Problem, ProblemsError, refuse } from '../base/problems.js';
import { isStateFile } from '../manifests/access.js';
import { matchGlobs } from '../manifests/find-manifests.js';
import { loadManifests } from '../manifests/load.js';
import { isSampleFile } from '../manifests/samples.js';
import { isInside } from '../manifests/symlinks.js';
import type { PrivateInputs, Project } from '../project/index.js';
import { shownPath } from '../yaml/source-file.js';

/** A project, and the manifests and bodies that idops read. */
export interface Inputs {
  readonly project: Project;
  readonly files: readonly string[];
}

/**
 * Refuses several outputs to one file, since the second would overwrite the first. Throws a ProblemsError (`wrong-option`).
 */
export async function refuseDuplicates(outputs: readonly string[]): Promise<void> {
  const seen = new Map<string, string>();
  const problems: Problem[] = [];
  for (const output of outputs) {
    const path = resolve(output);
    const there = await stat(path).catch(() => undefined);
    // A device or a pipe accepts several outputs.
    if (there !== undefined && !there.isFile()) continue;
    const names = await outputIdentities(path);
    const other = names.map((name) => seen.get(name)).find((name) => name !== undefined);
    for (const name of names) seen.set(name, output);
    if (other === undefined) continue;
    const which = other === output ? `${output} is named twice` : `${other} and ${output} are the same file`;
    problems.push(error('wrong-option', which, [], 'name a different file for each output'));
  }
  refuse(problems);
}

/**
 * Refuses outputs to files that idops itself reads or writes: the configuration, a credential, a manifest, a body, sample data, the state, its
 * lock or a journal. If `areManifests`, outputs may match a glob of manifests or be named as sample data. Throws a ProblemsError (`output-is-input`).
 */
export async function refuseInputs(
  outputs: readonly string[],
  config: string,
  known: Inputs | (() => Promise<Project>),
  areManifests = false,
): Promise<void> {
  const { files, states, isManifest, isSample } = await inputsOf(known);
  const inputs = new Set((await Promise.all([resolve(config), ...files].map(fileIdentities))).flat());
  const stateFiles = (await Promise.all(states.map(outputIdentities))).flat();
  const problems: Problem[] = [];
  for (const output of outputs) {
    const names = await outputIdentities(resolve(output));
    if (names.some((name) => inputs.has(name))) problems.push(refusal(output, 'idops reads it'));
    else if (names.some((name) => stateFiles.some((state) => isStateFile(name, state))))
      problems.push(refusal(output, 'it is a state file, or belongs to one'));
    else if (!areManifests && names.some(isManifest))
      problems.push(refusal(output, 'a glob of the configuration would make it a manifest'));
    else if (!areManifests && names.some(isSample))
      problems.push(refusal(output, 'previews and reports would read it as sample data'));
  }
  refuse(problems);
}

async function inputsOf(
  known: Inputs | (() => Promise<Project>),
): Promise<
  Pick<PrivateInputs, 'files' | 'states'> & {
    isManifest(path: string): boolean;
    isSample(path: string): boolean;
  }
> {
  try {
    const project = typeof known === 'function' ? await known() : known.project;
    const read = typeof known === 'function' ? await loadManifests(project, { lenient: true }) : known;
    const { files, states } = project.privateInputs();
    // The globs of other environments count too.
    const globs = [project.patterns().map(({ pattern }) => pattern), ...project.everyGlobs()];
    const isManifest = (path: string): boolean =>
      isInside(path, project.root) &&
      globs.some((one) => matchGlobs(one, [shownPath(path, project.root)]).size > 0);
    const isSample = (path: string): boolean => isInside(path, project.root) && isSampleFile(path);
    return { files: [...files, ...read.files], states, isManifest, isSample };
  } catch (failure) {
    if (!(failure instanceof ProblemsError)) throw failure;
    // The command reports the problems of the project.
    return { files: [], states: [], isManifest: () => false, isSample: () => false };
  }
}

function refusal(output: string, why: string): Problem {
  return error('output-is-input', `${output} is not written: ${why}`, [], 'name another file');
}

/** The path of a file, and its device and inode, since other paths may lead to it by links or letter case. */
async function fileIdentities(path: string): Promise<string[]> {
  const there = await stat(path).catch(() => undefined);
  return there?.isFile() === true ? [path, `${there.dev}:${there.ino}`] : [path];
}

/** The same for a file that may not exist yet, with its path in the real folder and after all links. */
async function outputIdentities(path: string): Promise<string[]> {
  const inFolder = join(await realPath(dirname(path)), basename(path));
  return [...(await fileIdentities(path)), inFolder, await realPath(path)];
}
