import { parseJson } from '../base/json.js';
import { isMap } from '../base/values.js';
import { isSecretMember } from '../secrets/names.js';
import type { Parsed } from './answers.js';

/** Reads the JSON of a body. Never throws; what is wrong is one word, and repeats nothing of it. */
export function readJson(body: Buffer): Parsed<unknown> {
  let text: string;
  try {
    // A wrong byte must not turn into another text: what was read may be sent back.
    text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    return { wrong: 'not-utf-8' };
  }
  try {
    return { value: parseJson(text) };
  } catch {
    return { wrong: 'not-json' };
  }
}

/** The secret texts anywhere in a document. Goes as deep as it is, so it keeps its own stack. */
export function secretTextsIn(document: unknown): string[] {
  const secrets: string[] = [];
  const open: unknown[] = [document];
  while (open.length > 0) {
    const next = open.pop();
    if (Array.isArray(next)) for (const item of next) open.push(item);
    else if (isMap(next)) {
      for (const [name, member] of Object.entries(next)) {
        if (typeof member === 'string') {
          if (isSecretMember(name)) secrets.push(member);
        } else open.push(member);
      }
    }
  }
  return secrets;
}
