import { type Problem, warning } from '../base/problems.js';
import { workTreeOf } from '../base/work-tree.js';
import type { Declared } from '../kinds/kind.js';
import type { Project } from '../project/index.js';

/**
 * What a state costs that is thrown away with its runner; undefined if there is nothing to say. An update that is cut off can empty a user's
 * lists on a server that writes users whole, and only journal and state know what was in them.
 */
export function costOfLoss(
  project: Pick<Project, 'state' | 'profile' | 'root'>,
  declared: readonly Pick<Declared, 'kind'>[],
): Problem | undefined {
  const isFile = project.state().in === 'file' && workTreeOf(project.root) !== undefined;
  if (!isFile || project.profile.name !== 'boruta' || !declared.some(({ kind }) => kind === 'User'))
    return undefined;
  return warning(
    'state-not-kept',
    'the state is a file in the work tree: if a run is cut off and its runner is thrown away, so is what has to be restored, and users lose their lists for good',
    [],
    'keep it in git or PostgreSQL: state: {git: {}}',
  );
}
