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
  const forms = new Set<string>();
  let pattern: RegExp | null = null;

  const redact = (text: string): string => {
    if (forms.size === 0) return text;
    pattern ??= alternation(forms);
    return text.replace(pattern, mask);
  };

  return {
    add(secret) {
      const before = forms.size;
      for (const form of formsOf(secret)) forms.add(form);
      if (forms.size > before) pattern = null;
    },
    redact,
    redactJson<T>(value: T): T {
      // The shape stays the same: only strings are replaced, by strings.
      return forms.size === 0 ? value : (redactStrings(value, redact) as T);
    },
  };
}

/** One regular expression for all, so that a text is gone through once; the longest form wins. */
function alternation(forms: ReadonlySet<string>): RegExp {
  const longestFirst = [...forms].sort((a, b) => b.length - a.length);
  return new RegExp(longestFirst.map((form) => form.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'), 'g');
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
