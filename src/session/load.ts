import { resolve } from 'node:path';
import { addProblems, type Problem, ProblemsError, refuse } from '../base/problems.js';
import type { Declared } from '../kinds/kind.js';
import { type LoadedManifests, loadManifests, type ManifestOptions, tellSecrets } from '../manifests/load.js';
import type { Project, ServerSettings } from '../project/index.js';
import type { OnSecret } from '../secrets/redactor.js';
import type { SessionOptions } from './session.js';

/** The secrets of manifests that have no part in what is done: a server may name them in a message all the same. */
async function secretsAlone(project: Project, options: ManifestOptions): Promise<LoadedManifests> {
  return { ...(await loadManifests(project, { ...options, lenient: true })), declared: [] };
}

/** Everything that can be wrong before the first request is found together. */
export async function loadAll(
  project: Project,
  options: SessionOptions,
  onSecret: OnSecret,
): Promise<{
  server: ServerSettings;
  declared: readonly Declared[];
  warnings: readonly Problem[];
  manifests: LoadedManifests;
}> {
  const { manifests: wanted = true } = options;
  const settings = project.server(options);
  // The manifests are checked for the server that they go to; a profile from a process variable is known only now.
  const profile = await settings.then(
    (known) => known.profile,
    () => project.profile,
  );
  const { tokenFile } = options;
  const reading = {
    profile,
    lenient: false,
    signal: options.signal,
    tokenFile: tokenFile === undefined ? undefined : resolve(project.cwd, tokenFile),
  };
  const [server, manifests] = await Promise.allSettled([
    settings,
    wanted ? loadManifests(project, reading) : secretsAlone(project, reading),
  ]);
  const problems = [...project.sharedStateProblems(), ...project.settingsProblems()].filter(
    ({ severity }) => severity === 'error',
  );
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
  return {
    server: server.value,
    declared: manifests.value.declared,
    warnings: problems,
    manifests: manifests.value,
  };
}
