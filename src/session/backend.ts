import type { Project } from '../project/index.js';
import type { StateBackend } from '../state/backend.js';
import { fileBackend } from '../state/file/index.js';

/** Where a project's state is kept. Throws a ProblemsError where the configuration doesn't say that rightly. */
export async function backendOf(project: Project): Promise<StateBackend> {
  return await fileBackend({ path: project.statePath(), allowTracked: project.allowsTracked() });
}
