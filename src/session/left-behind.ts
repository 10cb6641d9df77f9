import { resolve } from 'node:path';
import { DEFAULT_STATE, type Project } from '../project/index.js';
import { fileBackend } from '../state/file/index.js';
import type { State } from '../state/state.js';

/**
 * A sentence about a state file that lies where the state was kept before it was to be kept elsewhere, as long as nothing is known there:
 * what is in it would be taken for gone. Null where there is none.
 */
export async function leftBehind(project: Project, state: State): Promise<string | null> {
  const isNew = state.serial === 0 && Object.keys(state.resources).length === 0;
  if (!isNew || project.state().in === 'file') return null;
  const { root, environment } = project;
  const usual = [DEFAULT_STATE, ...(environment === null ? [] : [`.idops/${environment}.json`])];
  for (const path of usual) {
    const backend = await fileBackend({ path: resolve(root, path), allowTracked: true });
    // One that was moved, or that nobody can read, isn't waiting for anybody.
    const there = await backend.saved().catch(() => undefined);
    const records = Object.keys(there?.resources ?? {}).length;
    if (there?.server !== state.server || records === 0) continue;
    const [what, them] = records === 1 ? ['a record', 'it'] : [`${records} records`, 'them'];
    return `nothing is known yet where the state is kept now, and ${backend.place} has ${what} of this server: idops state migrate --from ${backend.place} brings ${them} there`;
  }
  return null;
}
