import { resolve } from 'node:path';
import { findWorkTree } from '../base/paths.js';
import { error, type Problem } from '../base/problems.js';
import { DEFAULT_STATE, defaultState, type Project, pathOnBranch } from '../project/index.js';
import { fileBackend } from '../state/file/index.js';
import type { State } from '../state/state.js';
import { parseState, parseStateJson } from '../state/state-text.js';

/** A former location of the state, which may still have it. */
interface FormerPlace {
  readonly place: string;
  /** The argument of `idops state migrate --from`. */
  readonly from: string;
  /** How to remove that state, or keep it for other environments. */
  readonly removal: string;
  /** Throws a ProblemsError if the state can't be read or was moved. */
  state(): Promise<State | undefined>;
}

/** A problem if the configured state is empty and a former location still has records of this server; otherwise null. */
export async function findOrphanedState(project: Project, state: State): Promise<Problem | null> {
  const isNew = state.serial === 0 && Object.keys(state.resources).length === 0;
  if (!isNew) return null;
  for (const { place, from, removal, state: read } of [
    ...(await formerFiles(project)),
    ...(await formerBranches(project)),
  ]) {
    // Ignore a state that was moved or can't be read.
    const former = await read().catch(() => undefined);
    const records = Object.keys(former?.resources ?? {}).length;
    if (former?.server !== state.server || records === 0) continue;
    const [what, them] = records === 1 ? ['a record', 'it'] : [`${records} records`, 'them'];
    return error(
      'state-elsewhere',
      `the configured state is empty, and ${place} has ${what} of this server`,
      [],
      `idops state migrate --from ${from} moves ${them} there; to start over instead: ${removal}`,
    );
  }
  return null;
}

async function formerFiles(project: Project): Promise<FormerPlace[]> {
  const { root, environment } = project;
  const settings = project.state();
  const environmentFiles =
    environment === null ? [] : [`.idops/${environment}.json`, `.idops/${environment}/state.json`];
  // If the configuration names a file, the default file may be the state of runs without an environment.
  const isNamed = settings.in === 'file' && settings.path !== resolve(root, defaultState(environment));
  const defaultFiles = isNamed && environment !== null ? [] : [DEFAULT_STATE];
  return await Promise.all(
    [...defaultFiles, ...environmentFiles]
      .map((path) => resolve(root, path))
      .filter((path) => settings.in !== 'file' || path !== settings.path)
      .map(async (path) => {
        const { place, saved } = await fileBackend({ path, allowTracked: true });
        // Runs without an environment may still need it.
        const isOthers = environment !== null && path === resolve(root, DEFAULT_STATE);
        const removal = isOthers ? `set state.path in the environment ${environment}` : `rm ${place}`;
        return { place, from: place, removal, state: saved };
      }),
  );
}

/** States on branches that this clone has fetched, at the configured path and at the default path. */
async function formerBranches(project: Project): Promise<FormerPlace[]> {
  const root = findWorkTree(project.root);
  if (root === undefined) return [];
  const settings = project.state();
  const usual = pathOnBranch(project.environment, project.root, root);
  const own = (settings.in === 'git' ? settings.path : null) ?? usual;
  const { seenTexts } = await import('../state/git/branch.js');
  const found: FormerPlace[] = [];
  for (const path of new Set([own, usual])) {
    for (const [ref, text] of await seenTexts(root, path).catch(() => [])) {
      found.push({
        place: `${path} in git (${ref})`,
        from: 'FILE (a copy of the configuration in the same folder, with the former "state")',
        removal: path === own ? `git update-ref -d ${ref}` : `remove ${path} from that branch`,
        state: async () => parseState(parseStateJson(text, path), path),
      });
    }
  }
  return found;
}
