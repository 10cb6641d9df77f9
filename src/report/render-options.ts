import type { Share } from '../plan/plan.js';
import { mask } from '../secrets/redactor.js';

export interface RenderOptions {
  /** Colours in `text`. */
  readonly color: boolean;
  /** Shows unchanged objects, requests and whole values. */
  readonly debug: boolean;
  /** The current folder relative to the root of the repository, for annotations. */
  readonly folder: string;
  /** Whether the plan was read from a file. */
  readonly stored?: boolean;
  /** Which changes of a plan are shown; by default all. */
  readonly only?: Share;
  /** The maximum length of Markdown in characters; by default that of a comment. */
  readonly budget?: number;
  /** For links to files in Markdown. */
  readonly forge?: Forge;
  /** The heading of Markdown, and the text below it. */
  readonly title?: string;
  readonly intro?: string;
}

/** A forge, such as GitHub, that shows the files of a commit. */
export interface Forge {
  /** The address of the repository's root, without a trailing slash; safe in Markdown and HTML. */
  readonly files: string;
  /** The current folder relative to that root. */
  readonly folder: string;
}

/** The link to a line of a file; undefined outside the repository. Escaped. */
export function fileUrl(
  { files, folder }: Forge,
  { file, line }: { readonly file: string; readonly line: number },
): string | undefined {
  // Nothing has a masked name.
  if (/^([\\/]|[a-z]:)/i.test(file) || file.includes(mask)) return undefined;
  const { steps, isInside } = stepsTo(folder, file);
  return isInside ? `${files}/${steps.map(segment).join('/')}#L${line}` : undefined;
}

/** The path of a file from the root of the repository, and whether it is inside. */
export function stepsTo(folder: string, file: string): { steps: string[]; isInside: boolean } {
  const steps: string[] = [];
  let isInside = true;
  for (const step of `${folder}/${file}`.split('/')) {
    if (step === '..') isInside = steps.pop() !== undefined && isInside;
    else if (step !== '' && step !== '.') steps.push(step);
  }
  return { steps, isInside };
}

/** Encodes a segment of a path, including characters with a meaning in Markdown. */
function segment(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replace(
    /[!'()*~]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
