import { type Place, type Problem, warning } from '../base/problems.js';

/** A text of a field that takes one, as it is written. */
interface GivenText {
  readonly field: string;
  readonly text: string;
  readonly place: Place;
  /** Whether there is such a file, relative to the manifest. */
  exists(path: string): Promise<boolean>;
}

/** What to say of a text that is the path of a file, whose `file:` was forgotten; undefined of any other. */
export async function forgottenFile({ field, text, place, exists }: GivenText): Promise<Problem | undefined> {
  const path = pathIn(text);
  if (path === undefined) return undefined;
  const isFile = await exists(path);
  if (!isFile && !/\.(?:txt|html?|mustache)$/i.test(path)) return undefined;
  const what = isFile ? 'is the path of a file' : 'looks like the path of a file';
  return warning(
    'forgotten-file',
    `"${field}" is the text "${path}", which ${what}, and that is what recipients would get`,
    [place],
    `to send what is in the file, write ${field}: {file: ${path}}`,
  );
}

/** A text of one line that could be a path and no address, sentence or template. */
function pathIn(text: string): string | undefined {
  if (text.length > 300) return undefined;
  const path = text.trim().replace(/^file:\s*/, '');
  return /^[^\s{}<>:|?*"]+$/.test(path) && /[./]/.test(path) ? path : undefined;
}
