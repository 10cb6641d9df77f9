import { isUuid } from '../base/identifiers.js';
import { layersOf, lowered, mayHoldEscapes, squeezed } from './decode.js';
import { Needles } from './needles.js';

/** What a secret is shown as, wherever it turns up. */
export const mask = '(sensitive)';
/** Shorter secrets are left in free text, where they would tear up innocent words. */
export const leastSecret = 4;
/** Shorter ones are found as they are alone, in their own case; and so short a line says too little by itself. */
const leastFolded = 8;
/** Shorter ones are found without a break in them alone. */
const leastSqueezed = 12;
/** Tokens that are shorter are found whole alone. */
const leastLong = 20;

/**
 * - `token`: what idops signs in with; any run of 12 characters of a long one is looked for too.
 * - `variable`: what a process variable gave to a manifest.
 * - `answer`: what the server called a secret. A short one is no more than `declared`.
 * - `declared`: a field that a manifest calls secret. It hides itself, and what the server says of it.
 */
export type SecretKind = 'token' | 'variable' | 'answer' | 'declared';

/** Told a secret before it can turn up anywhere; of no kind that is told, it is a token. */
export type OnSecret = (secret: string, kind?: SecretKind) => void;

/**
 * Takes secrets out of values, before they are escaped and laid out: never out of a finished report, whose markup and
 * words could be mistaken for secrets.
 */
export interface Redactor {
  /** Makes a secret known, from now on. */
  readonly add: OnSecret;
  /** A value without credentials, in whatever form they are usually written. */
  redact(text: string): string;
  /** The key of a map, in which a short credential stands by chance. */
  redactKey(text: string): string;
  /**
   * A name, an address or a path of a field: tokens and long values of variables alone, and an id stays unless it is a
   * token. What a server calls a secret takes nothing out of them.
   */
  redactName(text: string): string;
  /** The path of a file, which the project has chosen: tokens alone. */
  redactFile(text: string): string;
  /**
   * A sentence of idops with values in it: its own words stay, since a mask in the place of one would tell it. A token
   * is masked even so, and what a server calls a secret within quotation marks alone.
   */
  redactSentence(text: string): string;
  /** What a server or a program says: it may repeat what it was sent, so declared secrets are taken out as well. */
  redactEcho(text: string): string;
  /** Whether a value is a credential, or has one in it that is too long to be there by chance. */
  holds(text: string): boolean;
}

/** An address without credentials that its object is named after; the kind stays. */
export function redactAddress(address: string, { redactName }: Pick<Redactor, 'redactName'>): string {
  const slash = address.indexOf('/') + 1;
  return address.slice(0, slash) + redactName(address.slice(slash));
}

/** A redactor that knows no secret yet. */
export function createRedactor(): Redactor {
  const tokens = new Secrets();
  const variables = new Secrets();
  const answered = new Secrets();
  const declared = new Secrets();
  const credentials = [tokens, variables, answered];
  const short = new Set<string>();
  const knownTokens = new Set<string>();
  const isToken = (text: string): boolean => knownTokens.has(text.toLowerCase());
  const values = new Innocent();
  const keys = new Innocent();
  const names = new Innocent();
  return {
    add(secret, kind = 'token') {
      for (const innocent of [values, keys, names]) innocent.forget();
      const trimmed = secret.trim();
      const credential = kind === 'answer' ? trimmed.length >= leastFolded : kind !== 'declared';
      const list = { token: tokens, variable: variables, answer: answered, declared }[kind];
      (credential ? list : declared).add(secret, kind === 'token');
      if (credential && trimmed !== '' && trimmed.length < leastFolded) short.add(trimmed);
      if (kind === 'token') knownTokens.add(trimmed.toLowerCase());
    },
    redact: (text) => values.unless(text, () => replaced(text, found(credentials, text, true))),
    redactKey: (text) => keys.unless(text, () => replaced(text, found(credentials, text, false))),
    redactName: (text) =>
      names.unless(text, () =>
        replaced(text, found([tokens, variables], text, false), (one) => isUuid(one) && !isToken(one)),
      ),
    redactFile: (text) => replaced(text, found([tokens], text, false)),
    redactSentence(text) {
      const own = found([tokens, variables], text, true);
      const quoted = within(found([answered], text, true), quotations(text));
      return replaced(text, [...own, ...quoted], (one) => isWord(one) && !isToken(one));
    },
    redactEcho: (text) => replaced(text, found([...credentials, declared], text, true)),
    holds: (text) => short.has(text.trim()) || found(credentials, text, false).length > 0,
  };
}

/** A redactor that a long-running command resets, so that it doesn't collect the secrets of every cycle. */
export interface ResettableRedactor extends Redactor {
  /** Forgets every secret that was added; the initial ones stay. */
  reset(): void;
}

/** A redactor that knows `initial` tokens, also after a reset. */
export function resettableRedactor(initial: readonly string[]): ResettableRedactor {
  const create = (): Redactor => {
    const redactor = createRedactor();
    for (const token of initial) redactor.add(token);
    return redactor;
  };
  let current = create();
  return {
    add: (secret, kind) => current.add(secret, kind),
    redact: (text) => current.redact(text),
    redactKey: (text) => current.redactKey(text),
    redactName: (text) => current.redactName(text),
    redactFile: (text) => current.redactFile(text),
    redactSentence: (text) => current.redactSentence(text),
    redactEcho: (text) => current.redactEcho(text),
    holds: (text) => current.holds(text),
    reset: () => {
      current = create();
    },
  };
}

/** Of so many texts it is known that nothing is in them; longer ones are seldom there twice. */
const mostInnocent = 4096;
const longestInnocent = 256;

/** Texts in which nothing was found: the names, words and ids that most objects have in common are searched once. */
class Innocent {
  readonly #texts = new Set<string>();

  /** A text as it is where nothing is in it, else what the work gives. */
  unless(text: string, work: () => string): string {
    if (this.#texts.has(text)) return text;
    const result = work();
    if (result === text && text.length <= longestInnocent) {
      if (this.#texts.size === mostInnocent) this.#texts.clear();
      this.#texts.add(text);
    }
    return result;
  }

  forget(): void {
    this.#texts.clear();
  }
}

/** What stands between quotation marks in a sentence. */
function quotations(text: string): MaskedRange[] {
  return [...text.matchAll(/"(?:[^"\\]|\\.)*"/g)].map(({ 0: quoted, index }) => ({
    from: index,
    to: index + quoted.length,
  }));
}

/** Ranges that lie within one of others, which are in their order. */
function within(ranges: readonly MaskedRange[], others: readonly MaskedRange[]): MaskedRange[] {
  return ranges.filter(({ from, to }) => others.some((other) => other.from <= from && to <= other.to));
}

interface MaskedRange {
  readonly from: number;
  readonly to: number;
}

/** A text as it is or decoded, with what is the same for all that is looked for in it. */
interface Form {
  readonly text: string;
  readonly small: () => string;
  readonly narrow: () => ReturnType<typeof squeezed>;
}

/** Where secrets of several lists stand in a text, which is decoded and folded once for all of them. */
function found(lists: readonly Secrets[], text: string, short: boolean): MaskedRange[] {
  const ranges: MaskedRange[] = [];
  const sought = lists.filter((list) => list.has(short));
  if (text.length < leastSecret || sought.length === 0) return ranges;
  // Most texts have nothing to decode, and nothing in them begins as a secret does.
  if (!mayHoldEscapes(text) && !sought.some((list) => list.beginIn(text, short))) return ranges;
  for (const layer of layersOf(text)) {
    const holding = sought.filter((list) => list.beginIn(layer.text, short));
    if (holding.length === 0) continue;
    let small: string | undefined;
    let narrow: ReturnType<typeof squeezed> | undefined;
    const form: Form = {
      text: layer.text,
      small: () => {
        small ??= lowered(layer.text).text;
        return small;
      },
      narrow: () => {
        narrow ??= squeezed(layer.text);
        return narrow;
      },
    };
    for (const list of holding) {
      list.find(form, short, (from, to) => {
        ranges.push({ from: layer.from?.[from] ?? from, to: layer.to?.[to - 1] ?? to });
      });
    }
  }
  return ranges;
}

/** Secrets in all the forms in which they are looked for. */
class Secrets {
  /** As they are. */
  readonly #exact = new Needles(leastSecret);
  /** In any case. */
  readonly #lowered = new Needles(leastFolded);
  /** In any case, and whatever can't be seen is between their characters. */
  readonly #squeezed = new Needles(leastSqueezed);
  readonly #known = new Set<string>();
  #short = false;
  #long = false;

  add(secret: string, runs: boolean): void {
    const key = `${runs} ${secret}`;
    if (this.#known.has(key)) return;
    this.#known.add(key);
    const trimmed = secret.trim();
    if (trimmed.length < leastSecret) return;
    const frame = /^-----(BEGIN|END) [A-Z0-9 ]+-----$/;
    const lines = trimmed.split(/\r?\n/).map((line) => line.trim());
    // The frame of a PEM block is no secret, and stands in public keys too.
    const own = lines.filter((line) => !frame.test(line));
    for (const text of new Set([trimmed, ...own.filter(({ length }) => length >= leastFolded)])) {
      this.#addForms(text);
    }
    if (secret !== trimmed) this.#addExact(secret);
    if (!runs || trimmed.length < leastLong) return;
    // The first line of a PEM block tells what kind of key it is, and stands in public keys in part.
    for (const line of own.length < lines.length ? own.slice(1) : own) this.#addRuns(line);
  }

  /** Whether there is anything to look for; the short ones count only if they are looked for. */
  has(short: boolean): boolean {
    return this.#long || (short && this.#short);
  }

  /** Whether any of them may stand in a text. */
  beginIn(text: string, short: boolean): boolean {
    if (short && this.#short && this.#exact.beginIn(text, 'exact')) return true;
    return this.#long && (this.#lowered.beginIn(text, 'lowered') || this.#squeezed.beginIn(text, 'squeezed'));
  }

  /** Where they stand in a text in one of its forms; the short ones among them only if that is asked for. */
  find({ text, small, narrow }: Form, short: boolean, onFound: (from: number, to: number) => void): void {
    if (short && this.#short) this.#exact.find(text, onFound);
    if (!this.#long) return;
    if (this.#lowered.beginIn(text, 'lowered')) this.#lowered.find(small(), onFound);
    if (!this.#squeezed.beginIn(text, 'squeezed')) return;
    const { text: squeezedText, at } = narrow();
    this.#squeezed.find(squeezedText, (from, to, edges) => {
      const first = at[from] ?? 0;
      const last = (at[to - 1] ?? 0) + 1;
      onFound(
        edges.before && isBase64(text[first - 1]) ? first - 1 : first,
        edges.after ? encodingEnd(text, last) : last,
      );
    });
  }

  #addForms(text: string): void {
    for (const { text: meant } of layersOf(text)) {
      this.#add(meant);
      // Forms write a space so.
      if (meant.includes(' ')) this.#add(meant.replaceAll(' ', '+'));
    }
    const bytes = Buffer.from(text, 'utf8');
    if (text.length < leastFolded) {
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
      // Characters that hold bits of what stands before or behind as well are another one each time.
      const core = whole
        .toString('base64')
        .slice(before ? offset + 1 : 0, Math.floor((whole.length * 8) / 6));
      const edges = { before, after: true };
      this.#squeezed.add(squeezed(core).text, edges);
      this.#squeezed.add(squeezed(core.replaceAll('+', '-').replaceAll('/', '_')).text, edges);
    }
    this.#long = true;
  }

  #add(text: string): void {
    // What is part of the mask can't be hidden by it.
    if (mask.includes(text.toLowerCase())) return;
    const narrow = squeezed(text).text;
    if (narrow.length >= leastSqueezed) this.#squeezed.add(narrow);
    else if (text.length >= leastFolded) this.#lowered.add(lowered(text).text);
    else {
      this.#addExact(text);
      return;
    }
    this.#long = true;
  }

  #addExact(text: string): void {
    if (text.trim().length < leastSecret || mask.includes(text)) return;
    this.#exact.add(text);
    this.#short = true;
  }

  /** All parts of a line that are long enough and look as if nobody had written them. */
  #addRuns(line: string): void {
    const { text, at } = squeezed(line);
    for (let from = 0; from + leastSqueezed <= text.length; from += 1) {
      const written = line.slice(at[from], (at[from + leastSqueezed - 1] ?? 0) + 1);
      if (isRandom(written)) this.#squeezed.addRun(text.slice(from, from + leastSqueezed));
    }
    this.#long = true;
  }
}

/** Words and separators are in other texts as well: a run of a token has digits among its letters, or letters of both cases. */
function isRandom(text: string): boolean {
  const mixed = [/\d/, /\p{Ll}/u, /\p{Lu}/u].filter((kind) => kind.test(text)).length >= 2;
  return mixed && new Set(text).size >= 5;
}

function isBase64(character: string | undefined): boolean {
  return character !== undefined && /[\w+/-]/.test(character);
}

/** Where a text in base64 ends whose last whole character stands before `at`: with one more, or with its padding. */
function encodingEnd(text: string, at: number): number {
  let end = isBase64(text[at]) ? at + 1 : at;
  while (end < at + 3 && text[end] === '=') end += 1;
  return end;
}

/** A word or a number, such as idops' own sentences are made of. */
function isWord(text: string): boolean {
  return /^(?:[A-Z]?[a-z]{1,15}|\d{1,7})$/.test(text);
}

/** A text with each range masked, but for those that are spared. */
function replaced(
  text: string,
  ranges: MaskedRange[],
  isSpared: (found: string) => boolean = () => false,
): string {
  let clean = '';
  let end = 0;
  for (const { from, to } of joined(text, ranges)) {
    const found = text.slice(from, to);
    clean += text.slice(end, from) + (isSpared(found) ? found : mask);
    end = to;
  }
  return clean + text.slice(end);
}

/** Ranges in their order, those that touch as one; no surrogate pair is cut in half. */
function joined(text: string, ranges: MaskedRange[]): MaskedRange[] {
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

/** Whether a place is between the halves of a surrogate pair. */
function inPair(text: string, at: number): boolean {
  return (
    at > 0 &&
    at < text.length &&
    (text.charCodeAt(at - 1) & 0xfc00) === 0xd800 &&
    (text.charCodeAt(at) & 0xfc00) === 0xdc00
  );
}
