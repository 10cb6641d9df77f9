import type { Problem } from '../../base/problems.js';
import { loadManifests, tellSecrets } from '../../manifests/load.js';
import { scopesOf } from '../../plan/observe.js';
import type { Project, ServerOverrides, ServerSettings } from '../../project/index.js';
import type { Diagnosed } from '../../report/diagnosis.js';
import { type Check, type Diagnosis, diagnose, fail, ok, warn } from '../../server/diagnose.js';
import { backendOf, stateLossWarning } from '../backend.js';
import { type ReaderOptions, withReader } from '../connection.js';
import { problemsOf } from '../failures.js';
import { checkState, failedCheck } from './state.js';

export type ExamineOptions = ReaderOptions & ServerOverrides;

/**
 * Checks whether configuration, server, credentials and state fit together. Sends only GETs and writes nothing. Throws a ProblemsError if
 * it is interrupted.
 */
export async function examine(load: () => Promise<Project>, options: ExamineOptions): Promise<Diagnosed> {
  const project = await attempt(load, options);
  if ('failed' in project) {
    return { server: null, configured: null, fits: null, checks: project.failed };
  }
  const server = await attempt(() => project.found.server(options), options);
  const settings = 'found' in server ? server.found : null;
  const looked =
    'found' in server
      ? await attempt(() => checkServer(project.found, server.found, options), options)
      : { failed: server.failed };
  const beside = await attempt(async () => {
    const backend = await backendOf(project.found, options.redactor.add);
    return { checks: await checkState(backend, project.found, settings?.baseUrl ?? null) };
  }, options);
  return {
    server: settings?.baseUrl ?? null,
    configured: settings?.profile.name ?? null,
    fits: 'found' in looked ? looked.found.fits : null,
    checks: [...checksOf(looked), ...checksOf(beside)],
  };
}

async function checkServer(
  project: Project,
  server: ServerSettings,
  options: ExamineOptions,
): Promise<Diagnosis> {
  const { redactor } = options;
  const loaded = await loadManifests(project, {
    lenient: true,
    profile: server.profile,
    signal: options.signal,
  });
  tellSecrets(loaded, redactor.add);
  const { declared, problems } = loaded;
  const { checks, fits } = await withReader(server, declared, options, (reader) =>
    diagnose({
      reader,
      baseUrl: server.baseUrl,
      profile: server.profile,
      isWritten: server.profileWritten,
      needed: scopesOf(declared, server.profile),
    }),
  );
  return {
    fits,
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
  const message = errors === 1 ? 'one thing is wrong with them' : `${errors} things are wrong with them`;
  return fail('manifests', message, 'idops validate shows what');
}

type Attempt<T> = { readonly found: T } | { readonly failed: readonly Check[] };

/** Mistakes in the input become failed checks; mistakes of idops, and failures after an interruption, are thrown. */
async function attempt<T>(work: () => Promise<T>, { signal }: ExamineOptions): Promise<Attempt<T>> {
  try {
    return { found: await work() };
  } catch (failure) {
    if (signal.aborted) throw failure;
    const problems = problemsOf(failure);
    if (problems.some(({ code }) => code === 'internal')) throw failure;
    return { failed: problems.map(asCheck) };
  }
}

function checksOf(attempted: Attempt<{ readonly checks: readonly Check[] }>): readonly Check[] {
  return 'found' in attempted ? attempted.found.checks : attempted.failed;
}

function asCheck(problem: Problem): Check {
  return failedCheck(problem.code.startsWith('server-') ? 'credentials' : 'configuration', problem);
}
