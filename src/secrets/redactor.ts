import { isUuid } from '../base/identifiers.js';
import { compact, compactOffsets, decodingsOf, lowerCase } from './decode.js';
import { Needles } from './needles.js';

/** The text that replaces a secret. */
export const mask = '(sensitive)';
/** Characters. Shorter secrets aren't masked, since they would match innocent words. */
export const minSecretLength = 4;
/** Shorter secrets are found only in their own letter case, and only as a whole, not line by line. */
const minAnyCaseLength = 8;
/** Shorter secrets are found only without white space or invisible characters in them. */
const minCompactLength = 12;
/** Shorter tokens are found only as a whole. */
const minPartialLength = 20;

/**
 * - `token`: a credential of idops itself; any 12 characters of a long one are masked too.
 * - `variable`: the value of a process variable in a manifest.
 * - `answer`: a secret field of a server's answer; under 8 characters it counts as `declared`.
 * - `declared`: a secret field of a manifest, masked only in texts of servers and programs.
 */
export type SecretKind = 'token' | 'variable' | 'answer' | 'declared';

/** Called with each secret before it can appear anywhere; the default kind is `token`. */
export type OnSecret = (secret: string, kind?: SecretKind) => void;

/** Masks secrets in values, before they are escaped and laid out. Never used on a finished report, since its markup could match. */
export interface Redactor {
  /** Adds a secret, to mask it from now on. */
  readonly add: OnSecret;
  /** Masks credentials in a value, in all their usual encodings. */
  redact(text: string): string;
  /** The same for a key of a map. Short credentials stay, since a match is a coincidence. */
  redactKey(text: string): string;
  /** The same for a name, an address or the path of a field: masks tokens and long variables, but no UUIDs except tokens. */
  redactName(text: string): string;
  /** The same for the path of a file: masks only tokens. */
  redactFile(text: string): string;
  /**
   * The same for a sentence of idops. A word of it that equals a credential stays, unless the credential is a token: a mask
   * would reveal the credential. Secrets of answers are masked only within quotation marks.
   */
  redactSentence(text: string): string;
  /** The same for a text of a server or a program: masks declared secrets too. */
  redactEcho(text: string): string;
  /** Whether a value is a credential, or contains one that is too long for a coincidence. */
  holds(text: string): boolean;
}

/** Masks credentials in an address, except in the kind. */
export function redactAddress(address: string, { redactName }: Pick<Redactor, 'redactName'>): string {
  const slash = address.indexOf('/') + 1;
  return address.slice(0, slash) + redactName(address.slice(slash));
}

/** A redactor that knows no secret yet. */
export function createRedactor(): Redactor {
  return resettableRedactor([]);
}

/** A redactor for a long-running command, which resets it so that secrets of earlier cycles don't accumulate. */
export interface ResettableRedactor extends Redactor {
  /** Forgets every secret that was added; the initial ones stay. */
  reset(): void;
}

/** A redactor that knows `initial` tokens, also after a reset. */
export function resettableRedactor(initial: readonly string[]): ResettableRedactor {
  let known = new KnownSecrets(initial);
  const masked = (clean: 'values' | 'keys', text: string, short: boolean): string =>
    known[clean].cached(text, () => maskRanges(text, findRanges(known.credentials, text, short)));
  return {
    add: (secret, kind) => known.add(secret, kind),
    redact: (text) => masked('values', text, true),
    redactKey: (text) => masked('keys', text, false),
    redactName: (text) => {
      const { names, ownLists } = known;
      const isSpared = (one: string) => isUuid(one) && !known.isToken(one);
      return names.cached(text, () => maskRanges(text, findRanges(ownLists, text, false), isSpared));
    },
    redactFile: (text) => maskRanges(text, findRanges([known.lists.token], text, false)),
    redactSentence(text) {
      const own = findRanges(known.ownLists, text, true);
      const quoted = rangesWithin(findRanges([known.lists.answer], text, true), quotations(text));
      return maskRanges(text, [...own, ...quoted], (one) => isWord(one) && !known.isToken(one));
    },
    redactEcho: (text) => maskRanges(text, findRanges(Object.values(known.lists), text, true)),
    holds: (text) => known.short.has(text.trim()) || masked('keys', text, false) !== text,
    reset: () => {
      known = new KnownSecrets(initial);
    },
  };
}

/** The secrets that a redactor knows. */
class KnownSecrets {
  readonly lists = {
    token: new SecretList(),
    variable: new SecretList(),
    answer: new SecretList(),
    declared: new SecretList(),
  };
  /** Secrets that come from the user, not from the server. */
  readonly ownLists = [this.lists.token, this.lists.variable];
  readonly credentials = [...this.ownLists, this.lists.answer];
  /** Short credentials: `holds` finds them only as a whole value. */
  readonly short = new Set<string>();
  readonly #tokens = new Set<string>();
  readonly values = new CleanTexts();
  readonly keys = new CleanTexts();
  readonly names = new CleanTexts();

  constructor(tokens: readonly string[]) {
    for (const token of tokens) this.add(token);
  }

  add(secret: string, kind: SecretKind = 'token'): void {
    for (const clean of [this.values, this.keys, this.names]) clean.clear();
    const trimmed = secret.trim();
    const isShort = trimmed.length < minAnyCaseLength;
    const isCredential = kind !== 'declared' && !(kind === 'answer' && isShort);
    this.lists[isCredential ? kind : 'declared'].add(secret, kind === 'token');
    if (isCredential && isShort && trimmed !== '') this.short.add(trimmed);
    if (kind === 'token') this.#tokens.add(trimmed.toLowerCase());
  }

  isToken(text: string): boolean {
    return this.#tokens.has(text.toLowerCase());
  }
}

/** How many texts are cached, and how long they may be. */
const maxCleanTexts = 4096;
const maxCleanTextLength = 256;

/** A cache of texts without secrets, since most objects share names, words and ids. */
class CleanTexts {
  readonly #texts = new Set<string>();

  /** The text if it is known to contain no secret; otherwise the result of `work`. */
  cached(text: string, work: () => string): string {
    if (this.#texts.has(text)) return text;
    const result = work();
    if (result === text && text.length <= maxCleanTextLength) {
      if (this.#texts.size === maxCleanTexts) this.#texts.clear();
      this.#texts.add(text);
    }
    return result;
  }

  clear(): void {
    this.#texts.clear();
  }
}

/** The ranges of the quoted parts of a sentence. */
function quotations(text: string): MaskedRange[] {
  return [...text.matchAll(/"(?:[^"\\]|\\.)*"/g)].map(({ 0: quoted, index }) => ({
    from: index,
    to: index + quoted.length,
  }));
}

/** The ranges that are within one of the others. */
function rangesWithin(ranges: readonly MaskedRange[], others: readonly MaskedRange[]): MaskedRange[] {
  return ranges.filter(({ from, to }) => others.some((other) => other.from <= from && to <= other.to));
}

interface MaskedRange {
  readonly from: number;
  readonly to: number;
}

/** The ranges of the secrets of several lists in a text; `short` includes short secrets. */
function findRanges(lists: readonly SecretList[], text: string, short: boolean): MaskedRange[] {
  const sought = lists.filter((list) => list.has(short));
  if (text.length < minSecretLength || sought.length === 0) return [];
  const ranges: MaskedRange[] = [];
  for (const decoding of decodingsOf(text)) {
    const compactText = compact(decoding.text);
    for (const list of sought) {
      list.find(decoding.text, compactText, short, (from, to) => {
        ranges.push({ from: decoding.from?.[from] ?? from, to: decoding.to?.[to - 1] ?? to });
      });
    }
  }
  return ranges;
}

/** A list of secrets, in all their encodings. */
class SecretList {
  /** Found in their own letter case. */
  readonly #exact = new Needles(minSecretLength);
  /** Found in any letter case. */
  readonly #anyCase = new Needles(minAnyCaseLength);
  /** Found in any letter case, and with white space and invisible characters between their characters. */
  readonly #compact = new Needles(minCompactLength);
  readonly #known = new Set<string>();

  add(secret: string, findsParts: boolean): void {
    const key = `${findsParts} ${secret}`;
    if (this.#known.has(key)) return;
    this.#known.add(key);
    const trimmed = secret.trim();
    if (trimmed.length < minSecretLength) return;
    const frame = /^-----(BEGIN|END) [A-Z0-9 ]+-----$/;
    const lines = trimmed.split(/\r?\n/).map((line) => line.trim());
    // The BEGIN and END lines of a PEM block are public.
    const own = lines.filter((line) => !frame.test(line));
    for (const text of new Set([trimmed, ...own.filter(({ length }) => length >= minAnyCaseLength)])) {
      this.#addForms(text);
    }
    if (secret !== trimmed) this.#addExact(secret);
    if (!findsParts || trimmed.length < minPartialLength) return;
    // The first line of a PEM block has the type of the key, as in public keys.
    for (const line of own.length < lines.length ? own.slice(1) : own) this.#addRuns(line);
  }

  /** Whether there is anything to look for. */
  has(short: boolean): boolean {
    return !this.#anyCase.isEmpty || !this.#compact.isEmpty || (short && !this.#exact.isEmpty);
  }

  /** Finds the secrets in a text; `compactText` is its compact form. */
  find(text: string, compactText: string, short: boolean, onFound: (from: number, to: number) => void): void {
    if (short) this.#exact.find(text, onFound);
    if (!this.#anyCase.isEmpty) this.#anyCase.find(lowerCase(text), onFound);
    let offsets: number[] | undefined;
    this.#compact.find(compactText, (from, to, edges) => {
      offsets ??= compactOffsets(text);
      const first = offsets[from] ?? 0;
      const last = (offsets[to - 1] ?? 0) + 1;
      onFound(
        edges.before && isBase64(text[first - 1]) ? first - 1 : first,
        edges.after ? encodingEnd(text, last) : last,
      );
    });
  }

  #addForms(text: string): void {
    for (const { text: decoded } of decodingsOf(text)) {
      this.#add(decoded);
      // As in HTML forms.
      if (decoded.includes(' ')) this.#add(decoded.replaceAll(' ', '+'));
    }
    const bytes = Buffer.from(text, 'utf8');
    if (text.length < minAnyCaseLength) {
      this.#addExact(bytes.toString('base64').replace(/=+$/, ''));
      return;
    }
    this.#add(bytes.toString('hex'));
    for (const [offset, before] of [
      [0, false],
      [1, true],
      [2, true],
    ] as const) {
      const whole = Buffer.concat([Buffer.alloc(offset), bytes]);
      // Without the outer characters, which depend on the bytes next to the secret.
      const core = whole
        .toString('base64')
        .slice(before ? offset + 1 : 0, Math.floor((whole.length * 8) / 6));
      const edges = { before, after: true };
      this.#compact.add(compact(core), edges);
      this.#compact.add(compact(core.replaceAll('+', '-').replaceAll('/', '_')), edges);
    }
  }

  #add(text: string): void {
    // A secret that is part of the mask itself can't be masked.
    if (mask.includes(text.toLowerCase())) return;
    const compactText = compact(text);
    if (compactText.length >= minCompactLength) this.#compact.add(compactText);
    else if (text.length >= minAnyCaseLength) this.#anyCase.add(lowerCase(text));
    else this.#addExact(text);
  }

  #addExact(text: string): void {
    if (text.trim().length >= minSecretLength && !mask.includes(text)) this.#exact.add(text);
  }

  /** Adds each part of a line that looks random. */
  #addRuns(line: string): void {
    const compactText = compact(line);
    const offsets = compactOffsets(line);
    for (let from = 0; from + minCompactLength <= compactText.length; from += 1) {
      const written = line.slice(offsets[from], (offsets[from + minCompactLength - 1] ?? 0) + 1);
      if (isRandom(written)) this.#compact.add(compactText.slice(from, from + minCompactLength));
    }
  }
}

/** Whether a text has letters and digits, or letters of both cases, unlike words and separators. */
function isRandom(text: string): boolean {
  const mixed = [/\d/, /\p{Ll}/u, /\p{Lu}/u].filter((kind) => kind.test(text)).length >= 2;
  return mixed && new Set(text).size >= 5;
}

function isBase64(character: string | undefined): boolean {
  return character !== undefined && /[\w+/-]/.test(character);
}

/** The end of a base64 text that continues at `at` with at most one more character and its padding. */
function encodingEnd(text: string, at: number): number {
  let end = isBase64(text[at]) ? at + 1 : at;
  while (end < at + 3 && text[end] === '=') end += 1;
  return end;
}

/** Whether a text is a word or a number, as in idops' own sentences. */
function isWord(text: string): boolean {
  return /^(?:[A-Z]?[a-z]{1,15}|\d{1,7})$/.test(text);
}

/** A text with each range masked, except those that `isSpared` accepts. */
function maskRanges(
  text: string,
  ranges: MaskedRange[],
  isSpared: (found: string) => boolean = () => false,
): string {
  let clean = '';
  let end = 0;
  for (const { from, to } of mergeRanges(text, ranges)) {
    const findRanges = text.slice(from, to);
    clean += text.slice(end, from) + (isSpared(findRanges) ? findRanges : mask);
    end = to;
  }
  return clean + text.slice(end);
}

/** Sorted ranges, merged if they touch; no surrogate pair is split. */
function mergeRanges(text: string, ranges: MaskedRange[]): MaskedRange[] {
  const all: { from: number; to: number }[] = [];
  for (const range of ranges.sort((one, other) => one.from - other.from)) {
    const from = inPair(text, range.from) ? range.from - 1 : range.from;
    const to = inPair(text, range.to) ? range.to + 1 : range.to;
    const last = all.at(-1);
    if (last === undefined || from > last.to) all.push({ from, to });
    else last.to = Math.max(last.to, to);
  }
  return all;
}

/** Whether an offset is inside a surrogate pair. */
function inPair(text: string, at: number): boolean {
  return (
    at > 0 &&
    at < text.length &&
    (text.charCodeAt(at - 1) & 0xfc00) === 0xd800 &&
    (text.charCodeAt(at) & 0xfc00) === 0xdc00
  );
}
