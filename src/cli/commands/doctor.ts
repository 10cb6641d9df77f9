import { diagnosisReport } from '../../report/formats.js';
import { examine } from '../../session/doctor/examine.js';
import type { Context, GlobalOptions } from '../context.js';
import { type ExitCode, exit } from '../exit.js';
import { parseFormats, show } from '../formats.js';

interface Options {
  readonly format: readonly string[];
}

/** `idops doctor`: checks configuration, server, credentials and state. Sends GETs only, and writes nothing. */
export async function doctor(context: Context, options: Options & GlobalOptions): Promise<ExitCode> {
  const formats = parseFormats(options.format, diagnosisReport);
  const { redactor, signal } = context;
  const { progress, network, ...session } = context.sessionOptions();
  const reporting = { ...network, ...(progress?.retry && { onRetry: progress.retry }) };
  const report = await examine(context.project, { ...session, network: reporting, redactor, signal });
  const isFailed = report.checks.some(({ status }) => status === 'fail');
  const writeText = isFailed ? context.output.failure : undefined;
  await show(formats, diagnosisReport, report, context, {}, writeText);
  return isFailed ? exit.failed : exit.done;
}
