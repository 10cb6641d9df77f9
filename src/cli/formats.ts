import { dirname, relative, sep } from 'node:path';
import { jsonText } from '../base/escape.js';
import { error, type Problem, refuse } from '../base/problems.js';
import { writeOutput } from '../base/write-file.js';
import {
  formatNames,
  problemsReport,
  type RenderOptions,
  type Report,
  render,
  renderText,
} from '../report/formats.js';
import type { Context } from './context.js';

/** A `--format` option: `json`, or `json=plan.json`. */
export interface Format {
  readonly name: string;
  /** The file to write; undefined for standard output. */
  readonly file: string | undefined;
}

/** Parses `--format` options; adds `text` if standard output gets none. Throws a ProblemsError for unknown formats, or two on standard output. */
export function parseFormats(given: readonly string[], report: { readonly formats: object }): Format[] {
  const known = formatNames(report);
  const formats = given.map((option) => {
    const split = option.indexOf('=');
    return split < 0
      ? { name: option, file: undefined }
      : { name: option.slice(0, split), file: option.slice(split + 1) };
  });
  const problems = formats
    .filter(({ name, file }) => !known.includes(name) || file === '')
    .map(({ name, file }) =>
      file === ''
        ? error('wrong-option', `--format ${name}= names no file`, [], `write --format ${name}=FILE`)
        : error('wrong-option', `unknown format ${name}`, [], `the formats are ${known.join(', ')}`),
    );
  const shown = formats.filter(({ file }) => file === undefined);
  if (shown.length > 1) {
    const names = shown.map(({ name }) => name).join(' and ');
    problems.push(
      error(
        'wrong-option',
        `${names} can't both go to standard output`,
        [],
        'write all but one to a file: --format NAME=FILE',
      ),
    );
  }
  refuse(problems);
  return shown.length > 0 ? formats : [...formats, { name: 'text', file: undefined }];
}

/** The path from GITHUB_WORKSPACE, on which annotations are based, to the current folder; empty if unknown. */
function githubFolder(): string {
  const workspace = process.env.GITHUB_WORKSPACE;
  if (workspace === undefined || workspace === '') return '';
  const folder = relative(workspace, process.cwd()).split(sep).join('/');
  return folder.startsWith('..') ? '' : folder;
}

export function renderOptionsOf({ options, output }: Pick<Context, 'options' | 'output'>): RenderOptions {
  return { color: output.color.stdout, debug: options.debug === true, folder: githubFolder() };
}

/** The same without colours, for files and standard error. */
export function plainRenderOptionsOf(context: Pick<Context, 'options' | 'output'>): RenderOptions {
  return { ...renderOptionsOf(context), color: false };
}

/**
 * Shows a result, without secrets, in each format; if standard output is for programs, `writeText` also gets it as text, for standard error.
 * Throws a ProblemsError if a file can't be written.
 */
export async function show<T>(
  formats: readonly Format[],
  report: Report<T>,
  found: T,
  context: Context,
  options: Partial<RenderOptions> = {},
  writeText?: (text: string) => void,
): Promise<void> {
  await context.refuseOutputs(filesOf(formats));
  const { output, redactor } = context;
  const shown = report.redact(found, redactor);
  const links = formats.some(({ name }) => name === 'markdown') ? await linksOf(context, options) : {};
  if (writeText !== undefined && formats.some(isMachineReadable))
    writeText(await renderText(report, 'text', shown, { ...plainRenderOptionsOf(context), ...options }));
  for (const { name, file } of formats) {
    const own = file === undefined ? renderOptionsOf(context) : plainRenderOptionsOf(context);
    const rendering = await render(report, name, shown, { ...own, ...links, ...options });
    if (file === undefined) {
      if ('json' in rendering) output.json(rendering.json);
      else output.result(rendering.text);
      continue;
    }
    const text = 'json' in rendering ? jsonText(rendering.json) : rendering.text;
    await writeOutput(file, text);
  }
}

function isMachineReadable({ name, file }: Format): boolean {
  return file === undefined && ['json', 'github', 'gitlab'].includes(name);
}

/** Links of Markdown to files, in CI. Paths in a stored plan are relative to the project root, other paths to the current folder. */
async function linksOf(
  { options }: Context,
  { stored }: Partial<RenderOptions>,
): Promise<Pick<RenderOptions, 'forge'>> {
  const { forgeOf } = await import('../session/forge.js');
  let folder = process.cwd();
  if (stored === true) {
    const { configPath } = await import('../project/index.js');
    const where = { cwd: folder, variables: process.env, config: options.config };
    const config = await configPath(where).catch(() => undefined);
    if (config === undefined) return {};
    folder = dirname(config);
  }
  const forge = await forgeOf(process.env, folder);
  return forge === undefined ? {} : { forge };
}

/** Prints problems as GitHub annotations. */
export async function annotate(context: Context, problems: readonly Problem[]): Promise<void> {
  const shown = problemsReport.redact(problems, context.redactor);
  context.output.result(await renderText(problemsReport, 'github', shown, renderOptionsOf(context)));
}

/** Shows why a command failed on standard output: as annotations, or as JSON if no result was printed there. */
export async function showFailure(
  context: Context,
  problems: readonly Problem[],
  given: readonly string[],
): Promise<void> {
  const { output, redactor } = context;
  const names = given.filter((one) => !one.includes('='));
  if (names.includes('github')) return await annotate(context, problems);
  if (output.hasResult || names.length === 0 || names.some((name) => name !== 'json')) return;
  const { problemsJson } = await import('../report/json.js');
  output.json(problemsJson(problemsReport.redact(problems, redactor)));
}

export function filesOf(formats: readonly Format[]): string[] {
  return formats.flatMap(({ file }) => file ?? []);
}

export function showsText(formats: readonly Format[]): boolean {
  return formats.some(({ name, file }) => name === 'text' && file === undefined);
}
