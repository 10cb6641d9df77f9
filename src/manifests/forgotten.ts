import { type Place, type Problem, warning } from '../base/problems.js';

/** What to say of a field's text that looks like the path of a file, whose `file:` was forgotten; undefined of any other. */
export function forgottenFile(field: string, text: string, place: Place): Problem | undefined {
  const path = text.trim().replace(/^file:\s*/, '');
  if (text.length > 300 || !/^[^\s{}<>:|?*"]+\.(?:te?xt|html?|mustache)$/i.test(path)) return undefined;
  return warning(
    'forgotten-file',
    `"${field}" is the text "${path}", which looks like the path of a file, and that is what recipients would get`,
    [place],
    `to send what is in the file, write ${field}: {file: ${path}}`,
  );
}
