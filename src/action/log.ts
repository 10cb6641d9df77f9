import { escapeLines } from '../base/escape.js';
import type { Problem } from '../base/problems.js';
import { type Look, problemsReport, type Report, renderText } from '../report/formats.js';
import type { Annotation } from '../report/github.js';
import { plural } from '../report/words.js';
import type { Inputs } from './inputs.js';
import { folderInRepository } from './places.js';

/** How many annotations of each level GitHub shows of a step. */
const shownOfEach = 10;
const levels = ['error', 'warning', 'notice'] as const;

/** An annotation with the folder that its file is told from. */
export interface Annotated extends Annotation {
  readonly folder: string;
}

/** The log of the step. What is written there must be without secrets already. */
export class Log {
  #inputs: Inputs | undefined;
  #annotations: Annotated[] = [];
  /** What is kept already: of several environments each may say the same. */
  readonly #kept = new Set<string>();

  /** Told what the step was told, once that is known. */
  learn(inputs: Inputs): void {
    this.#inputs = inputs;
  }

  /** How reports look in it. */
  get look(): Look {
    const inputs = this.#inputs;
    const only = inputs?.args.only;
    return {
      ...(only === undefined ? {} : { only }),
      color: false,
      debug: inputs?.args.debug === true,
      folder: inputs === undefined ? '' : folderInRepository(inputs),
    };
  }

  /** Writes a text, which must be harmless. */
  say(text: string): void {
    if (text !== '') process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
  }

  /** Writes a report as text, and keeps its annotations for the end. */
  async report<T>(report: Report<T>, shown: T): Promise<void> {
    const { look } = this;
    this.say(await renderText(report, 'text', shown, look));
    const annotations = (await report.annotations?.())?.(shown, look) ?? [];
    for (const annotation of annotations) this.#keep({ ...annotation, folder: look.folder });
  }

  #keep(annotation: Annotated): void {
    const { level, title, message, place } = annotation;
    const name = JSON.stringify([level, title, message, place?.file, place?.line, place?.column]);
    if (!this.#kept.has(name)) this.#annotations.push(annotation);
    this.#kept.add(name);
  }

  /** Writes problems, where there are any. */
  async problems(problems: readonly Problem[]): Promise<void> {
    if (problems.length > 0) await this.report(problemsReport, problems);
  }

  /** Keeps a sentence about the step itself, which comes before what is about files. */
  annotate(level: Annotation['level'], message: string): void {
    this.#keep({ level, title: 'idops', message, place: null, rank: -1, folder: '' });
  }

  /** All annotations, the most important first. */
  get annotations(): readonly Annotated[] {
    return this.#annotations.toSorted((one, other) => one.rank - other.rank);
  }

  /** Whether there are more of a level than GitHub shows. */
  get overflows(): boolean {
    return levels.some((level) => this.#of(level).length > shownOfEach);
  }

  /** Writes the annotations as far as GitHub shows them, and counts the others in a line. To be called once, at the end. */
  async end(): Promise<void> {
    if (this.#annotations.length === 0) return;
    const { annotationCommand } = await import('../report/github.js');
    for (const level of levels) {
      for (const annotation of this.#of(level).slice(0, shownOfEach))
        this.say(annotationCommand(annotation, annotation));
    }
    const left = levels.flatMap((level) => {
      const count = this.#of(level).length - shownOfEach;
      return count > 0 ? [plural(count, `more ${level}`)] : [];
    });
    if (left.length > 0)
      this.say(`Not shown as annotations, since GitHub shows ten of each level: ${left.join(', ')}.`);
  }

  #of(level: Annotation['level']): Annotated[] {
    return this.annotations.filter((annotation) => annotation.level === level);
  }
}

/** Text without secrets for an output or a title: one line that nothing can hide in. */
export function titleLine(text: string): string {
  return escapeLines(text).split('\n').join(' ').slice(0, 1_000);
}
