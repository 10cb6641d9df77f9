import Mustache from 'mustache';
import type { Span } from '../base/problems.js';
import { isMap, type Json } from '../base/values.js';
import { exceeded, formatNumber, limits } from './limits.js';

/** Matches long white space, which is shortened: the parser takes quadratic time on it. */
const longSpace = /(?<!\s)\s{1000,}/g;

/** The two bodies of an email; undefined if unknown, null if there is none. */
export interface TemplateBodies {
  readonly txt?: string | null | undefined;
  readonly html?: string | null | undefined;
  /** The layout of a page. */
  readonly layout?: string | undefined;
}

/** A part of a body. */
export type Part =
  | { readonly kind: 'text'; readonly text: string; readonly at: Span }
  | { readonly kind: 'variable'; readonly name: string; readonly at: Span }
  | { readonly kind: 'partial'; readonly name: string; readonly at: Span }
  | {
      readonly kind: 'section';
      readonly name: string;
      /** The opening tag. */
      readonly at: Span;
      /** Whether it is shown if there is no value. */
      readonly inverted: boolean;
      readonly parts: readonly Part[];
    };

/** A value of the server that isn't JSON: printing or accessing it is an error. */
export class Opaque {
  /** What it is, in words. */
  readonly description: string;

  constructor(what: string) {
    this.description = what;
  }
}

/** A time: it can be printed, and accessing it is an error. */
export class OpaqueTime extends Opaque {
  readonly text: string;

  constructor(text: string) {
    super('a time');
    this.text = text;
  }
}

/** The value of a name; undefined and null are empty. */
export type TemplateValue =
  | Json
  | Opaque
  | undefined
  | { readonly [name: string]: TemplateValue }
  | readonly TemplateValue[];

/** A body that is a Mustache template. */
export interface MustacheTemplate {
  readonly parts: readonly Part[];
  /** Fills values into the body. Only reads JSON and calls nothing. Throws TooLongError if the text exceeds the limits. */
  render(data: { readonly [name: string]: TemplateValue }, options: RenderOptions): string;
}

export interface RenderOptions {
  /** Whether values are escaped for HTML. */
  readonly html: boolean;
  /** Names that are treated as absent. */
  readonly absent?: ReadonlySet<string>;
  /** What the server replaces partials with. */
  readonly partials?: Partials | undefined;
}

export type Partials = { readonly [name: string]: string };

/** The rendered text is too long; the message says why. */
export class TooLongError extends Error {}

/** Why a body isn't a Mustache template. */
export interface SyntaxProblem {
  readonly syntax: string;
  /** Whether it exceeds a limit, so that it may be a template. */
  readonly exceedsLimit?: true;
  /** The place of the mistake, if known. */
  readonly at?: Span;
}

/** Parses a body as Mustache. Never throws: returns a description of what is wrong. */
export function parseMustache(body: string): MustacheTemplate | SyntaxProblem {
  if (body.length > limits.bodyCharacters) return { syntax: exceeded.characters, exceedsLimit: true };
  const { text, originalOffset } = cutLongSpace(body);
  try {
    const tokens: readonly MustacheToken[] = new Mustache.Writer().parse(text);
    if (depthOf(tokens) > limits.sectionDepth) return { syntax: exceeded.depth, exceedsLimit: true };
    const parts = partsOf(tokens, originalOffset);
    const nameProblem = invalidName(parts);
    if (nameProblem !== undefined) return nameProblem;
    if (countTags(parts) > limits.tags) return { syntax: exceeded.tags, exceedsLimit: true };
    return {
      parts,
      render: (data, { html, absent = new Set() }) =>
        new LimitedWriter().renderTokens(
          tokens as unknown as string[][],
          new JsonContext(data, undefined, absent),
          undefined,
          text,
          { escape: (value: unknown) => (html ? Mustache.escape(toText(value)) : toText(value)) },
        ),
    };
  } catch (failure) {
    if (!(failure instanceof Error)) throw failure;
    const { words, offset } = parseErrorMessage(failure.message);
    if (offset === undefined) return { syntax: words };
    const { at, end, until } = mistakePlace(words, offset, text);
    const lineAt = (offset: number) => text.slice(0, offset).split('\n').length;
    const where = `at line ${lineAt(at)}${until === undefined ? '' : `, before line ${lineAt(until)} closes another one`}`;
    return { syntax: `${words} ${where}`, at: { start: originalOffset(at), end: originalOffset(end) } };
  }
}

/** The place of a mistake. For an unclosed section or tag it is the opening tag, not the later place that the parser reports. */
function mistakePlace(words: string, noticed: number, text: string) {
  const { sections, last } = tagsBefore(noticed, text);
  const section = words.startsWith('unclosed section') ? sections.at(-1) : undefined;
  if (section !== undefined) return { ...section, ...(noticed < text.length ? { until: noticed } : {}) };
  const at = words.startsWith('unclosed tag') ? last : noticed;
  return { at, end: at + 1 };
}

/** The opening tags of the sections around a place, and the start of the last tag before it. The body is valid up to the place. */
function tagsBefore(place: number, text: string) {
  const sections: { readonly at: number; readonly end: number }[] = [];
  let [open = '', close = ''] = ['{{', '}}'];
  let last = 0;
  for (let at = text.indexOf(open); at >= 0 && at < place; ) {
    last = at;
    const start = at + open.length;
    const first = start + text.slice(start).search(/\S/);
    const sign = text.charAt(first);
    const from = '#^/{&>=!'.includes(sign) ? first + 1 : first;
    const ending = sign === '{' ? `}${close}` : sign === '=' ? `=${close}` : close;
    const until = text.indexOf(ending, from);
    if (until < 0) break;
    const end = until + ending.length;
    if (sign === '#' || sign === '^') sections.push({ at, end });
    else if (sign === '/') sections.pop();
    else if (sign === '=') [open = '', close = ''] = text.slice(from, until).trim().split(/\s+/);
    at = text.indexOf(open, end);
  }
  return { sections, last };
}

/** The body with long white space shortened, and a function that maps offsets back to the body. */
function cutLongSpace(body: string): { readonly text: string; originalOffset(offset: number): number } {
  const cuts: { readonly from: number; readonly gone: number }[] = [];
  let gone = 0;
  const text = body.replace(longSpace, (run, at: number) => {
    if (run.length > 1000) {
      gone += run.length - 1000;
      cuts.push({ from: at + run.length - gone, gone });
    }
    return run.slice(0, 1000);
  });
  return {
    text,
    originalOffset: (offset) => offset + (cuts.findLast(({ from }) => from <= offset)?.gone ?? 0),
  };
}

function countTags(parts: readonly Part[]): number {
  let tags = 0;
  for (const part of parts) {
    if (part.kind !== 'text') tags += 1;
    if (part.kind === 'section') tags += countTags(part.parts);
  }
  return tags;
}

/** A writer that throws TooLongError at the limits. */
class LimitedWriter extends Mustache.Writer {
  #characters = 0;
  #visits = 0;

  override rawValue(token: string[]): string {
    return this.#counted(super.rawValue(token));
  }

  override escapedValue(...parts: Parameters<Mustache.Writer['escapedValue']>): string {
    return this.#counted(super.escapedValue(...parts));
  }

  override unescapedValue(...parts: Parameters<Mustache.Writer['unescapedValue']>): string {
    return this.#counted(super.unescapedValue(...parts));
  }

  override renderTokens(...parts: Parameters<Mustache.Writer['renderTokens']>): string {
    this.#visits += 1;
    if (this.#visits > limits.sectionVisits) throw new TooLongError(exceeded.visits);
    return super.renderTokens(...parts);
  }

  #counted(text: string | undefined): string {
    this.#characters += String(text ?? '').length;
    if (this.#characters > limits.renderedCharacters) throw new TooLongError(exceeded.rendered);
    return text ?? '';
  }
}

/** A token of the library: the tag's sign, name, start and end, and the content of a section. */
type MustacheToken = readonly [
  type: string,
  name: string,
  start: number,
  end: number,
  inside?: readonly MustacheToken[],
];

function isSection([type]: MustacheToken): boolean {
  return type === '#' || type === '^';
}

function inside([, , , , tokens]: MustacheToken): readonly MustacheToken[] {
  return tokens ?? [];
}

/** The depth of nested sections. Iterative, since a hostile body can nest too deep for recursion. */
function depthOf(tokens: readonly MustacheToken[]): number {
  let depth = 0;
  let level = tokens.filter(isSection);
  while (level.length > 0 && depth <= limits.sectionDepth) {
    depth += 1;
    level = level.flatMap((token) => inside(token).filter(isSection));
  }
  return depth;
}

function partsOf(tokens: readonly MustacheToken[], original: (offset: number) => number): Part[] {
  return tokens.flatMap((token): Part[] => {
    const [type, name, start, end] = token;
    const at = (): Span => ({ start: original(start), end: original(end) });
    switch (type) {
      case 'text':
        return [{ kind: 'text', text: name, at: at() }];
      case 'name':
      case '&':
        return [{ kind: 'variable', name, at: at() }];
      case '>':
        return [{ kind: 'partial', name, at: at() }];
      case '#':
      case '^': {
        const parts = partsOf(inside(token), original);
        return [{ kind: 'section', name, at: at(), inverted: type === '^', parts }];
      }
      default:
        return [];
    }
  });
}

/** A problem with a name, such as that of a tag that isn't closed: the parser accepts the following text as a part of the name. */
function invalidName(parts: readonly Part[]): SyntaxProblem | undefined {
  for (const part of parts) {
    if (part.kind === 'text') continue;
    const { at } = part;
    if (part.name === '') return { syntax: 'a tag has no name: {{}}', at };
    const start = `"${part.name.slice(0, 40)}…"`;
    if (part.name.length > limits.nameCharacters) {
      const syntax = `the name ${start} has more than ${formatNumber(limits.nameCharacters)} characters`;
      return { syntax, exceedsLimit: true, at };
    }
    if (part.name.split('.').length > limits.nameSteps)
      return { syntax: `the name ${start} has more than ${limits.nameSteps} steps`, exceedsLimit: true, at };
    if (/[{}<>\n]/.test(part.name)) {
      const [start = ''] = part.name.split(/[{}<>\n]/);
      return { syntax: `the tag "{{ ${start.trim().slice(0, 40)}" is not closed with "}}"`, at };
    }
    const inner = part.kind === 'section' ? invalidName(part.parts) : undefined;
    if (inner !== undefined) return inner;
  }
  return undefined;
}

/** A message of the library, shortened, and the offset in it. */
function parseErrorMessage(message: string): { readonly words: string; readonly offset: number | undefined } {
  const at = message.lastIndexOf(' at ');
  const offset = /^ at (\d+)$/.exec(message.slice(at))?.[1];
  const words = offset === undefined ? message : message.slice(0, at);
  const short = words.length > 100 ? `${words.slice(0, 80)}…${words.endsWith('"') ? '"' : ''}` : words;
  return {
    words: `${short.charAt(0).toLowerCase()}${short.slice(1)}`,
    offset: offset === undefined ? undefined : Number(offset),
  };
}

function toText(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}

/** A context that looks up names only in JSON: the library's own finds and calls inherited members. */
class JsonContext extends Mustache.Context {
  readonly #absent: ReadonlySet<string>;

  constructor(view: unknown, parent: Mustache.Context | undefined, absent: ReadonlySet<string>) {
    super(view, parent);
    this.#absent = absent;
  }

  override push(view: unknown): Mustache.Context {
    return new JsonContext(view, this, this.#absent);
  }

  override lookup(name: string): unknown {
    if (name === '.') return this.view;
    if (this.#absent.has(name)) return undefined;
    const path = name.split('.');
    for (let context: Mustache.Context | undefined = this; context !== undefined; context = context.parent) {
      const found = valueAt(context.view, path);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

/** The value at a path in JSON, without inherited members. */
export function valueAt(view: unknown, path: readonly string[]): unknown {
  let at = view;
  for (const step of path) {
    if (!isMap(at) || !Object.hasOwn(at, step)) return undefined;
    at = at[step];
  }
  return at;
}
