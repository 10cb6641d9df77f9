import type { Share } from '../plan/plan.js';
import { mask } from '../secrets/redactor.js';

/** How something is to look. */
export interface Look {
  /** With the escape sequences of a terminal's colours. */
  readonly color: boolean;
  /** Unchanged objects and requests too, and long values whole. */
  readonly debug: boolean;
  /** Where idops was started, from the root of the repository that annotations are for; empty where it was there. */
  readonly folder: string;
  /** Whether a plan was made before, and says when. */
  readonly stored?: boolean;
  /** Which changes of a plan are shown; all where it isn't given. */
  readonly only?: Share;
  /** How many characters Markdown may have at most; as many as a comment takes where it isn't given. */
  readonly budget?: number;
  /** Where Markdown leads to files; nowhere where it isn't given. */
  readonly forge?: Forge;
  /** What a heading in Markdown says; its own words where it isn't given. */
  readonly title?: string;
  /** What is said below the heading of a plan or of a result in Markdown. */
  readonly intro?: string;
}

/** Where a forge, such as GitHub, shows the files of a commit to people. */
export interface Forge {
  /** The address of the repository's root, without a slash at its end; nothing in it means anything in Markdown or HTML. */
  readonly files: string;
  /** Where idops was started, from that root; empty where it was there. */
  readonly folder: string;
}

/** Where a forge shows a line of a file; undefined for a file that lies outside of the repository. Harmless, whatever the file is called. */
export function fileUrl(
  { files, folder }: Forge,
  { file, line }: { readonly file: string; readonly line: number },
): string | undefined {
  // The name of one that is masked isn't known.
  if (/^([\\/]|[a-z]:)/i.test(file) || file.includes(mask)) return undefined;
  const { steps, isInside } = stepsTo(folder, file);
  return isInside ? `${files}/${steps.map(segment).join('/')}#L${line}` : undefined;
}

/** The steps to a file from the root of the repository, and whether they stay in it; what leads out of it is left out of them. */
export function stepsTo(folder: string, file: string): { steps: string[]; isInside: boolean } {
  const steps: string[] = [];
  let isInside = true;
  for (const step of `${folder}/${file}`.split('/')) {
    if (step === '..') isInside = steps.pop() !== undefined && isInside;
    else if (step !== '' && step !== '.') steps.push(step);
  }
  return { steps, isInside };
}

/** A name in an address, with what could mean something in Markdown encoded too. */
function segment(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replace(
    /[!'()*~]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
