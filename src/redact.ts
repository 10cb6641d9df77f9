import { escapeText, jsonText, quote } from './report/escape.js';
import { isMap } from './values.js';

/** What a secret is shown as, wherever it turns up. */
const mask = '(sensitive)';
/** Shorter secrets are left in free text, where they would tear up innocent words. */
const minSecret = 4;
/** Shorter lines of a secret of several lines say too little to be worth masking. */
const minLine = 8;

/** Takes secrets out of texts. It is the last barrier: values are held back where they are known to be secret. */
export interface Redactor {
  /** Makes a secret known, from now on. */
  add(secret: string): void;
  /** A text without the secrets, in whatever form they are usually written. */
  redact(text: string): string;
  /** An object to be written as JSON, without the secrets in its strings; keys stay. */
  redactJson<T>(value: T): T;
}

/** A redactor that knows no secret yet. */
export function createRedactor(): Redactor {
  const forms = new Forms();
  return {
    add(secret) {
      for (const form of formsOf(secret)) forms.add(form);
    },
    redact: (text) => forms.replace(text),
    redactJson<T>(value: T): T {
      // The shape stays the same: only strings are replaced, by strings.
      return forms.size === 0 ? value : (redactStrings(value, (text) => forms.replace(text)) as T);
    },
  };
}

/** The forms that begin alike. */
interface Beginning {
  readonly forms: Set<string>;
  /** The lengths that they have, the greatest first. */
  readonly lengths: number[];
}

/**
 * The forms of all secrets, by how they begin. A server may answer with thousands of secrets while texts are shown, and
 * a regular expression of all would be built anew for each.
 */
class Forms {
  readonly #byBeginning = new Map<string, Beginning>();
  /** Whether any form begins with a character, so that most places of a text cost next to nothing. */
  readonly #firsts = new Uint8Array(2 ** 16);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(form: string): void {
    const beginning = form.slice(0, minSecret);
    const { forms, lengths } = this.#byBeginning.get(beginning) ?? { forms: new Set(), lengths: [] };
    if (forms.has(form)) return;
    forms.add(form);
    if (!lengths.includes(form.length)) {
      lengths.push(form.length);
      // The longest one wins.
      lengths.sort((one, other) => other - one);
    }
    this.#byBeginning.set(beginning, { forms, lengths });
    this.#firsts[form.charCodeAt(0)] = 1;
    this.#size += 1;
  }

  replace(text: string): string {
    if (this.#size === 0) return text;
    let clean = '';
    let kept = 0;
    for (let at = 0; at + minSecret <= text.length; at += 1) {
      const found = this.#at(text, at);
      if (found === undefined) continue;
      clean += text.slice(kept, at) + mask;
      kept = at + found.length;
      at = kept - 1;
    }
    return kept === 0 ? text : clean + text.slice(kept);
  }

  #at(text: string, at: number): string | undefined {
    if (this.#firsts[text.charCodeAt(at)] === 0) return undefined;
    const beginning = this.#byBeginning.get(text.slice(at, at + minSecret));
    if (beginning === undefined) return undefined;
    for (const length of beginning.lengths) {
      const found = text.slice(at, at + length);
      if (beginning.forms.has(found)) return found;
    }
    return undefined;
  }
}

function redactStrings(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return value.map((item) => redactStrings(item, redact));
  if (!isMap(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, redactStrings(member, redact)]),
  );
}

function formsOf(secret: string): string[] {
  const trimmed = secret.trim();
  if (trimmed.length < minSecret) return [];
  const lines = trimmed
    .split(/\r?\n/)
    .map((line) => line.trim())
    // The frame of a PEM block is no secret, and stands in public keys too.
    .filter((line) => line.length >= minLine && !/^-----(BEGIN|END) [A-Z0-9 ]+-----$/.test(line));
  const texts = new Set([secret, trimmed, ...lines]);
  return [...texts].flatMap(encodings).filter((form) => form.length >= minSecret);
}

function encodings(text: string): string[] {
  const json = JSON.stringify(text).slice(1, -1);
  const bytes = Buffer.from(text, 'utf8');
  const base64 = bytes.toString('base64');
  // A lone surrogate has no percent-encoding, and can't be sent either.
  const url = encodeURIComponent(text.toWellFormed());
  const form = new URLSearchParams([['', text]]).toString().slice(1);
  return [
    text,
    json,
    escapeText(text),
    quote(text).slice(1, -1),
    jsonText(text).slice(1, -2),
    url,
    lowerHex(url),
    url.replaceAll('%20', '+'),
    form,
    lowerHex(form),
    base64,
    base64.replace(/=+$/, ''),
    bytes.toString('base64url'),
  ];
}

function lowerHex(encoded: string): string {
  return encoded.replace(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase());
}
