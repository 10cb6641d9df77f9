import { mask } from '../base/redact.js';

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
  const path = pathFrom(folder, file);
  // The name of one that is masked isn't known.
  return path === undefined || file.includes(mask)
    ? undefined
    : `${files}/${path.map(segment).join('/')}#L${line}`;
}

/** The steps to a file from the root; undefined where they lead out of it. */
function pathFrom(folder: string, file: string): string[] | undefined {
  if (/^([\\/]|[a-z]:)/i.test(file)) return undefined;
  const steps: string[] = [];
  for (const step of `${folder}/${file}`.split('/')) {
    if (step === '..' && steps.pop() === undefined) return undefined;
    if (!['', '.', '..'].includes(step)) steps.push(step);
  }
  return steps;
}

/** A name in an address, with what could mean something in Markdown encoded too. */
function segment(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replace(
    /[!'()*~]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
