import type { Problem } from '../../base/problems.js';
import { version } from '../../base/version.js';
import { loadManifests, tellSecrets } from '../../manifests/index.js';
import { scopesOf } from '../../plan/scopes.js';
import type { Diagnosed } from '../../report/diagnosis.js';
import { diagnosisReport } from '../../report/formats.js';
import { type Check, diagnose } from '../../server/diagnose.js';
import { openConnection } from '../../session/connection.js';
import { problemsOf } from '../../session/failures.js';
import type { Context, GlobalOptions } from '../context.js';
import { type ExitCode, exit } from '../exit.js';
import { parseFormats, show } from '../formats.js';

interface Options {
  readonly format: readonly string[];
}

/** `idops doctor`: whether the configuration, the server and the credentials go together. Sends GETs alone. */
export async function doctor(context: Context, options: Options & GlobalOptions): Promise<ExitCode> {
  const formats = parseFormats(options.format, diagnosisReport);
  const report = await examine(context, options);
  await show(formats, diagnosisReport, report, context);
  return report.checks.some(({ status }) => status === 'fail') ? exit.failed : exit.done;
}

async function examine(
  { project: load, redactor, signal }: Context,
  options: GlobalOptions,
): Promise<Diagnosed> {
  const { baseUrl, tokenFile, concurrency = 1, timeout = 30 } = options;
  try {
    const project = await load();
    const server = await project.server({
      ...(baseUrl === undefined ? {} : { baseUrl }),
      ...(tokenFile === undefined ? {} : { tokenFile }),
    });
    for (const secret of server.secrets) redactor.add(secret);
    const loaded = await loadManifests(project, { lenient: true, profile: server.profile });
    tellSecrets(loaded, redactor.add);
    const { declared, problems } = loaded;
    const connection = openConnection(server, declared, {
      concurrency,
      timeout,
      redact: redactor.redactEcho,
      onSecret: redactor.add,
      signal,
      version,
    });
    try {
      const { checks, fits } = await diagnose({
        reader: connection.reader,
        baseUrl: server.baseUrl,
        profile: server.profile,
        needed: scopesOf(declared, server.profile),
      });
      return {
        server: server.baseUrl,
        configured: server.profile.name,
        fits,
        checks: [configurationCheck(project.file), ...manifestChecks(problems), ...checks],
      };
    } finally {
      await connection.close();
    }
  } catch (failure) {
    const problems = problemsOf(failure);
    if (problems.some(({ code }) => code === 'internal')) throw failure;
    return { server: null, configured: null, fits: null, checks: problems.map(asCheck) };
  }
}

function configurationCheck(file: string): Check {
  return { name: 'configuration', status: 'ok', message: `${file} is fine`, hint: null };
}

function manifestChecks(problems: readonly Problem[]): Check[] {
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  if (errors === 0) return [{ name: 'manifests', status: 'ok', message: 'they are valid', hint: null }];
  const message = errors === 1 ? 'one thing is wrong with them' : `${errors} things are wrong with them`;
  return [{ name: 'manifests', status: 'fail', message, hint: 'idops validate shows what' }];
}

function asCheck({ code, message, hint, places: [place] }: Problem): Check {
  const where = place === undefined ? '' : ` (${place.file}:${place.line})`;
  const name = code.startsWith('server-') ? 'credentials' : 'configuration';
  return { name, status: 'fail', message: `${message}${where}`, hint: hint ?? null };
}
