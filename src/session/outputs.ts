import { stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { realPlaceOf } from '../base/links.js';
import { error, type Problem, ProblemsError } from '../base/problems.js';
import { isOfState } from '../manifests/access.js';
import { isInside } from '../manifests/follow.js';
import { loadManifests } from '../manifests/index.js';
import { namedByGlobs } from '../manifests/named.js';
import type { Project } from '../project/index.js';

/** Where the inputs are known from: a session that has read them, or a project that can be loaded. */
type Known = { readonly project: Project; readonly files: readonly string[] } | (() => Promise<Project>);

/**
 * Makes sure that no two files that are asked for are one, by whatever names: the second would take the place of the first. Throws
 * a ProblemsError (`wrong-option`).
 */
export async function refuseTwice(outputs: readonly string[]): Promise<void> {
  const met = new Map<string, string>();
  const problems: Problem[] = [];
  for (const output of outputs) {
    const names = await placesOf(resolve(output));
    const other = names.map((name) => met.get(name)).find((name) => name !== undefined);
    for (const name of names) met.set(name, output);
    if (other === undefined) continue;
    const which = other === output ? `${output} is named twice` : `${other} and ${output} are one file`;
    problems.push(error('wrong-option', which, [], 'name a file of its own for each output'));
  }
  if (problems.length > 0) throw new ProblemsError(problems);
}

/** Makes sure that no output is a folder, before a result goes anywhere else. Throws a ProblemsError (`not-writable`). */
export async function refuseFolders(outputs: readonly string[]): Promise<void> {
  const problems: Problem[] = [];
  for (const output of outputs) {
    const there = await stat(resolve(output)).catch(() => undefined);
    if (there?.isDirectory() !== true) continue;
    const message = `${output} can't be written: it is a folder (EISDIR)`;
    problems.push(error('not-writable', message, [], 'name another file'));
  }
  if (problems.length > 0) throw new ProblemsError(problems);
}

/** Where an output would be written; nothing for a device or a pipe, which takes several one after the other. */
async function placesOf(path: string): Promise<string[]> {
  const there = await stat(path).catch(() => undefined);
  if (there !== undefined && !there.isFile()) return [];
  return [await realPlaceOf(path), ...(there === undefined ? [] : [`${there.dev}:${there.ino}`])];
}

/**
 * Makes sure that no file that is asked for is one that idops reads or keeps: the configuration, a credential, a
 * manifest, a body, the state, its lock or a journal, or a folder of these; nor one that it would take for a manifest from then on, but for `manifests`, which
 * are some. Throws a ProblemsError (`output-is-input`).
 */
export async function refuseInputs(
  outputs: readonly string[],
  config: string,
  known: Known,
  { manifests = false }: { readonly manifests?: boolean } = {},
): Promise<void> {
  const { files, states, project } = await inputsOf(known);
  const taken = manifests || project === undefined ? new Set() : await takenForManifests(outputs, project);
  const inputs = new Set((await Promise.all([resolve(config), ...files].map(identity))).flat());
  const kept = (await Promise.all(states.map(ways))).flat();
  const problems: Problem[] = [];
  for (const output of outputs) {
    const path = resolve(output);
    const names = await identity(path);
    if (names.some((name) => inputs.has(name))) problems.push(refusal(output, 'idops reads it'));
    else if ((await ways(path)).some((way) => kept.some((state) => isOfState(way, state)))) {
      problems.push(refusal(output, 'it is a state, or belongs to one'));
    } else if ((await ways(path)).some((way) => kept.some((state) => isFolderOfState(way, state)))) {
      problems.push(refusal(output, 'the folder of a state or of its journals is to be there'));
    } else if (taken.has(output)) {
      problems.push(refusal(output, 'the globs of the configuration would take it for a manifest'));
    }
  }
  if (problems.length > 0) throw new ProblemsError(problems);
}

/** Whether a path, which need not be there yet, is a folder that a state lies in, or its journals. */
function isFolderOfState(path: string, state: string): boolean {
  return state.startsWith(path + sep) || path === join(dirname(state), 'runs');
}

/** Those of the outputs that a project's globs would find. */
async function takenForManifests(outputs: readonly string[], project: Project): Promise<ReadonlySet<string>> {
  const inside: { readonly output: string; readonly path: string }[] = [];
  for (const output of outputs) {
    for (const place of await ways(resolve(output))) {
      if (!isInside(place, project.root)) continue;
      inside.push({ output, path: relative(project.root, place).split(sep).join('/') });
    }
  }
  const named = namedByGlobs(project, [...new Set(inside.map(({ path }) => path))]);
  return new Set(inside.flatMap(({ output, path }) => (named.has(path) ? [output] : [])));
}

interface Inputs {
  readonly files: readonly string[];
  readonly states: readonly string[];
  readonly project?: Project;
}

async function inputsOf(known: Known): Promise<Inputs> {
  try {
    const project = typeof known === 'function' ? await known() : known.project;
    const read = typeof known === 'function' ? await loadManifests(project, { lenient: true }) : known;
    const { files, states } = project.guarded();
    return { files: [...files, ...read.files], states, project };
  } catch (failure) {
    if (!(failure instanceof ProblemsError)) throw failure;
    // What is wrong with it is told by the command itself; nothing but its name is known of it then.
    return { files: [], states: [] };
  }
}

function refusal(output: string, why: string): Problem {
  return error('output-is-input', `${output} is not written: ${why}`, [], 'name another file');
}

/** By what a file is known: its path, and what it is on the disk, whatever links and letters lead to it. */
async function identity(path: string): Promise<string[]> {
  const there = await stat(path).catch(() => undefined);
  return there?.isFile() === true ? [path, `${there.dev}:${there.ino}`] : [path];
}

/** The names of a file, which may not be there yet: as it is given, in the folder that is really meant, and its end. */
async function ways(path: string): Promise<string[]> {
  return [path, join(await realPlaceOf(dirname(path)), basename(path)), await realPlaceOf(path)];
}
