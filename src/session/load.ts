import { resolve } from 'node:path';
import { addProblems, type Problem, ProblemsError, refuse } from '../base/problems.js';
import { type LoadedManifests, loadManifests, tellSecrets } from '../manifests/load.js';
import type { Project, ServerSettings } from '../project/index.js';
import type { OnSecret } from '../secrets/redactor.js';
import { keepProblems } from './keep.js';
import type { SessionOptions } from './session.js';

/** Loads the settings of the server and the manifests. Throws a ProblemsError with everything that is wrong with both. */
export async function loadAll(
  project: Project,
  options: SessionOptions,
  onSecret: OnSecret,
): Promise<{ server: ServerSettings; manifests: LoadedManifests; warnings: readonly Problem[] }> {
  const { manifests: wanted = true, tokenFile, signal } = options;
  const settings = project.server(options);
  // The manifests are checked for the server that they go to; a profile from a process variable is known only now.
  const profile = await settings.then(
    (known) => known.profile,
    () => project.profile,
  );
  const [server, manifests] = await Promise.allSettled([
    settings,
    // Manifests that nothing is done with are loaded for their secrets: a server may repeat one in a message.
    loadManifests(project, {
      profile,
      lenient: !wanted,
      signal,
      tokenFile: tokenFile === undefined ? undefined : resolve(project.cwd, tokenFile),
    }),
  ]);
  const problems = [
    ...(await project.sharedStateProblems()),
    ...project.settingsProblems(),
    ...keepProblems(project, profile),
  ].filter(({ severity }) => severity === 'error');
  for (const part of [server, manifests]) {
    if (part.status === 'fulfilled') continue;
    if (!(part.reason instanceof ProblemsError)) throw part.reason;
    addProblems(problems, part.reason.problems);
  }
  if (server.status === 'fulfilled')
    for (const secret of server.value.secrets) onSecret(String(secret.reveal()));
  if (manifests.status === 'fulfilled') {
    tellSecrets(manifests.value, onSecret);
    if (wanted) addProblems(problems, manifests.value.problems);
  }
  refuse(problems);
  if (server.status === 'rejected' || manifests.status === 'rejected') throw new ProblemsError(problems);
  const declared = wanted ? manifests.value.declared : [];
  return { server: server.value, manifests: { ...manifests.value, declared }, warnings: problems };
}
