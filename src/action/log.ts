import { escapeLines } from '../base/escape.js';
import type { Problem } from '../base/problems.js';
import { problemsReport, type RenderOptions, type Report, renderText } from '../report/formats.js';
import { type Annotation, annotationCommand } from '../report/github.js';
import type { Inputs } from './inputs.js';
import { folderInRepository } from './workspace.js';

/** The log of the step. Texts must be redacted already. */
export class Log {
  #inputs: Inputs | undefined;

  /** Sets the inputs, which say how reports are rendered. */
  setInputs(inputs: Inputs): void {
    this.#inputs = inputs;
  }

  /** How reports are rendered in the log. */
  get renderOptions(): RenderOptions {
    const inputs = this.#inputs;
    const only = inputs?.args.only;
    return {
      ...(only === undefined ? {} : { only }),
      color: false,
      debug: inputs?.args.debug === true,
      folder: inputs === undefined ? '' : folderInRepository(inputs),
    };
  }

  /** Writes an escaped text. */
  write(text: string): void {
    if (text !== '') process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
  }

  /** Writes a report as text, and its annotations. */
  async report<T>(report: Report<T>, shown: T): Promise<void> {
    for (const format of ['text', 'github'] as const)
      this.write(await renderText(report, format, shown, this.renderOptions));
  }

  /** Writes problems, if there are any. */
  async problems(problems: readonly Problem[]): Promise<void> {
    if (problems.length > 0) await this.report(problemsReport, problems);
  }

  /** Writes a sentence about the step itself as an annotation. */
  annotate(level: Annotation['level'], message: string): void {
    this.write(annotationCommand({ level, title: 'idops', message, place: null }));
  }
}

/** A redacted text as one escaped line, for an output or a title. */
export function titleLine(text: string): string {
  return escapeLines(text).split('\n').join(' ').slice(0, 1_000);
}
