import type { Problem } from '../../base/problems.js';
import { loadManifests, registerSecrets } from '../../manifests/load.js';
import { scopesOf } from '../../plan/observe.js';
import type { Project, ServerOverrides, ServerSettings } from '../../project/index.js';
import type { ShownDiagnosis } from '../../report/diagnosis.js';
import { type Check, type Diagnosis, diagnose, fail, ok, warn } from '../../server/diagnose.js';
import { backendOf, stateLossWarning } from '../backend.js';
import { type ReaderOptions, withReader } from '../connection.js';
import { inputProblems } from '../failures.js';
import { checkState, failedCheck } from './state.js';

export type ExamineOptions = ReaderOptions & ServerOverrides;

/**
 * Checks configuration, server, credentials and state. Sends only GETs and writes nothing. Throws a ProblemsError if it is interrupted.
 */
export async function examine(
  load: () => Promise<Project>,
  options: ExamineOptions,
): Promise<ShownDiagnosis> {
  const checks: Check[] = [];
  /** Does work; problems of the input become failed checks. */
  const attempt = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (failure) {
      for (const problem of inputProblems(failure, options.signal))
        checks.push(
          failedCheck(problem.code.startsWith('server-') ? 'credentials' : 'configuration', problem),
        );
      return undefined;
    }
  };
  const project = await attempt(load);
  if (project === undefined) return { server: null, configured: null, matchingProfile: null, checks };
  const server = await attempt(() => project.server(options));
  const serverDiagnosis = server && (await attempt(() => checkServer(project, server, options)));
  checks.push(...(serverDiagnosis?.checks ?? []));
  const { baseUrl = null } = server ?? {};
  const stateChecks = await attempt(async () =>
    checkState(await backendOf(project, options.redactor.add), project, baseUrl),
  );
  checks.push(...(stateChecks ?? []));
  return {
    server: baseUrl,
    configured: server?.profile.name ?? null,
    matchingProfile: serverDiagnosis?.matchingProfile ?? null,
    checks,
  };
}

async function checkServer(
  project: Project,
  server: ServerSettings,
  options: ExamineOptions,
): Promise<Diagnosis> {
  const { redactor, signal } = options;
  const { profile, baseUrl, profileWritten: isConfigured } = server;
  const loaded = await loadManifests(project, { lenient: true, profile, signal });
  registerSecrets(loaded, redactor.add);
  const { declared, problems } = loaded;
  const needed = scopesOf(declared, profile);
  const { checks, matchingProfile } = await withReader(server, declared, options, (reader) =>
    diagnose({ reader, baseUrl, profile, isConfigured, needed }),
  );
  return {
    matchingProfile,
    checks: [
      ok('configuration', `${project.file} is fine`),
      manifestsCheck(problems),
      ...stateLossWarning(project, declared).map(({ message, hint }) => warn('state', message, hint ?? '')),
      ...checks,
    ],
  };
}

function manifestsCheck(problems: readonly Problem[]): Check {
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  if (errors === 0) return ok('manifests', 'they are valid');
  const message = errors === 1 ? 'they have 1 error' : `they have ${errors} errors`;
  return fail('manifests', message, 'idops validate shows what');
}
