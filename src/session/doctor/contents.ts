import { basename } from 'node:path';
import { looksSecret } from '../../base/secret-names.js';

/** Bytes that tell what a file is. */
export const ENOUGH = 4096;

/** What git should not have. */
export interface Content {
  readonly what: string;
  readonly kind: 'secret' | 'within' | 'doubtful' | 'state' | 'plan';
}

const environmentFile = /^\.env(\..+)?$|\.env$/i;
const harmlessEnvironment = /\.(example|sample|template|dist|defaults?)$/i;
const keyStore = /\.(p12|pfx|jks|keystore)$/i;
const keyFile = /\.(pem|key|p8)$|^[^.]+$/i;
const keyBegin = /-----BEGIN ([A-Z0-9]+ )*PRIVATE KEY-----/;

/** What a file is that git shouldn't have; undefined for all others. `text` is its beginning. */
export async function recognise(
  path: string,
  text: string,
  whole: () => Promise<string> | string,
): Promise<Content | undefined> {
  const name = basename(path);
  if (environmentFile.test(name) && !harmlessEnvironment.test(name)) {
    const secret = secretVariable(text);
    return secret === undefined
      ? { what: 'such a file holds the values of process variables', kind: 'doubtful' }
      : { what: `it has a value for ${secret}`, kind: 'secret' };
  }
  if (keyStore.test(name)) return { what: 'it is a store of keys', kind: 'secret' };
  const start = text.slice(0, ENOUGH);
  if (new RegExp(`^\\s*${keyBegin.source}`).test(start) || (keyFile.test(name) && keyBegin.test(start)))
    return { what: 'it is a private key', kind: 'secret' };
  if (/^\s*\{\s*"format_version":\s*\d+,\s*"serial":\s*\d+,\s*"lineage":/.test(start))
    return { what: 'it is a state of idops', kind: 'state' };
  if (/^\{"type":"run","format_version":\d+,/.test(start))
    return { what: 'it is the journal of a run of idops', kind: 'state' };
  // A report of a plan begins alike; only a plan that can be applied has what applying needs.
  const isPlan = /^\s*\{\s*"format_version":\s*\d+,\s*"tool_version":/.test(start);
  if (isPlan && /^ {2}"apply": \{/m.test(await whole())) return { what: 'it is a stored plan', kind: 'plan' };
  return undefined;
}

/** What is secret in a file that may well be there itself; undefined where nothing is found. */
export function within(text: string, credentials: readonly string[]): Content | undefined {
  if (credentials.some((one) => text.includes(one)))
    return { what: 'it has a credential in it that idops uses', kind: 'within' };
  // What only speaks of keys has no key behind the line.
  if (new RegExp(`${keyBegin.source}(\\s|\\\\[nr])+[A-Za-z0-9+/]{4}`).test(text))
    return { what: 'it has a private key in it', kind: 'within' };
  return undefined;
}

/** The first variable that looks like a secret and has a value, which is none of another variable. */
function secretVariable(text: string): string | undefined {
  for (const [, name = '', value = ''] of text.matchAll(
    /^[ \t]*(?:export[ \t]+)?(\w+)[ \t]*=[ \t]*["']?([^\s"'#]*)/gm,
  )) {
    const isIt = looksSecret(name) || /KEY$/i.test(name);
    if (isIt && value !== '' && !value.startsWith('$')) return name;
  }
  return undefined;
}
