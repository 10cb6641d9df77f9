import Mustache from 'mustache';
import type { Span } from '../base/problems.js';
import { isMap, type Json } from '../base/values.js';
import { beyond, limits, shown } from './limits.js';

/** The parser takes quadratic time on a run of white space, so long runs are cut. */
const longSpace = /(?<!\s)\s{1000,}/g;

/** The two bodies of an email; undefined if unknown, null if there is none. */
export interface TemplateBodies {
  readonly txt?: string | null | undefined;
  readonly html?: string | null | undefined;
  /** The page around a page. */
  readonly layout?: string | undefined;
}

/** A piece of a body, in order. */
export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'variable'; readonly name: string; readonly at: Span }
  | { readonly kind: 'partial'; readonly name: string; readonly at: Span }
  | {
      readonly kind: 'section';
      readonly name: string;
      /** Its opening tag. */
      readonly at: Span;
      /** Shown if there is no such value. */
      readonly inverted: boolean;
      readonly parts: readonly Part[];
    };

/** A value of the server that isn't JSON: printing it or looking into it raises. */
export class Opaque {
  /** What it is, in words. */
  readonly what: string;

  constructor(what: string) {
    this.what = what;
  }
}

/** A time: it can be printed, and looking into it raises. */
export class Moment extends Opaque {
  readonly text: string;

  constructor(text: string) {
    super('a time');
    this.text = text;
  }
}

/** A value of a name; undefined and null are empty. */
export type Bound = Json | Opaque | undefined | { readonly [name: string]: Bound } | readonly Bound[];

/** A body that is a Mustache template. */
export interface MustacheTemplate {
  readonly parts: readonly Part[];
  /**
   * The body with values filled in. Looks up only JSON, and calls nothing. Throws TooLong if the text exceeds the limits, as nested
   * lists can.
   */
  render(data: { readonly [name: string]: Bound }, options: RenderOptions): string;
}

export interface RenderOptions {
  /** Whether values are escaped for HTML. */
  readonly html: boolean;
  /** Names that count as absent, whatever the data has. */
  readonly absent?: ReadonlySet<string>;
  /** What the server puts in place of partials. */
  readonly partials?: Partials | undefined;
}

export type Partials = { readonly [name: string]: string };

/** The rendered text is too long, and why. */
export class TooLong extends Error {}

/** Why a body isn't a Mustache template. */
export interface SyntaxProblem {
  readonly syntax: string;
  /** Whether it exceeds a limit and may be a template. */
  readonly limit?: true;
  /** The place of the mistake, if it is one place. */
  readonly at?: Span;
}

/** Parses a body as Mustache. Never throws: returns what is wrong in words. */
export function parseMustache(body: string): MustacheTemplate | SyntaxProblem {
  if (body.length > limits.bodyCharacters) return { syntax: beyond.characters, limit: true };
  const { text, whole } = withoutLongSpace(body);
  try {
    const tokens: readonly MustacheToken[] = new Mustache.Writer().parse(text);
    if (depthOf(tokens) > limits.sectionDepth) return { syntax: beyond.depth, limit: true };
    const parts = partsOf(tokens, whole);
    const strange = strangeName(parts);
    if (strange !== undefined) return strange;
    if (tagsIn(parts) > limits.tags) return { syntax: beyond.tags, limit: true };
    return {
      parts,
      render: (data, { html, absent = new Set() }) =>
        new LimitedWriter().renderTokens(
          tokens as unknown as string[][],
          new JsonContext(data, undefined, absent),
          undefined,
          text,
          { escape: (value: unknown) => (html ? Mustache.escape(printed(value)) : printed(value)) },
        ),
    };
  } catch (failure) {
    if (!(failure instanceof Error)) throw failure;
    const { words, offset } = located(failure.message);
    if (offset === undefined) return { syntax: words };
    const { at, end, until } = blamed(words, offset, text);
    const lineAt = (offset: number) => text.slice(0, offset).split('\n').length;
    const where = `at line ${lineAt(at)}${until === undefined ? '' : `, before line ${lineAt(until)} closes another one`}`;
    return { syntax: `${words} ${where}`, at: { start: whole(at), end: whole(end) } };
  }
}

/**
 * The place of the mistake: the opening tag of a section or tag that isn't closed, not the later place at which the parser noticed it.
 */
function blamed(words: string, noticed: number, text: string) {
  const { sections, last } = tagsBefore(noticed, text);
  const section = words.startsWith('unclosed section') ? sections.at(-1) : undefined;
  if (section !== undefined) return { ...section, ...(noticed < text.length ? { until: noticed } : {}) };
  const at = words.startsWith('unclosed tag') ? last : noticed;
  return { at, end: at + 1 };
}

/** The tags of the sections that are open at a place, and the start of the last tag before it. The body is valid up to there. */
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

/** A body with long runs of white space cut, and a mapping of its places to the body's. */
function withoutLongSpace(body: string): { readonly text: string; whole(offset: number): number } {
  const cuts: { readonly from: number; readonly gone: number }[] = [];
  let gone = 0;
  const text = body.replace(longSpace, (run, at: number) => {
    if (run.length > 1000) {
      gone += run.length - 1000;
      cuts.push({ from: at + run.length - gone, gone });
    }
    return run.slice(0, 1000);
  });
  return { text, whole: (offset) => offset + (cuts.findLast(({ from }) => from <= offset)?.gone ?? 0) };
}

function tagsIn(parts: readonly Part[]): number {
  let tags = 0;
  for (const part of parts) {
    if (part.kind !== 'text') tags += 1;
    if (part.kind === 'section') tags += tagsIn(part.parts);
  }
  return tags;
}

/** A writer that throws if its text grows too long. */
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
    if (this.#visits > limits.sectionVisits) throw new TooLong(beyond.visits);
    return super.renderTokens(...parts);
  }

  #counted(text: string | undefined): string {
    this.#characters += String(text ?? '').length;
    if (this.#characters > limits.renderedCharacters) throw new TooLong(beyond.rendered);
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

/** Counts level by level: a hostile body nests too deep for recursion. */
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
        return [{ kind: 'text', text: name }];
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

/** Finds a tag that was closed too late: the parser accepts text as a part of its name. */
function strangeName(parts: readonly Part[]): SyntaxProblem | undefined {
  for (const part of parts) {
    if (part.kind === 'text') continue;
    const { at } = part;
    if (part.name === '') return { syntax: 'a tag has no name: {{}}', at };
    const start = `"${part.name.slice(0, 40)}…"`;
    if (part.name.length > limits.nameCharacters) {
      const syntax = `the name ${start} has more than ${shown(limits.nameCharacters)} characters`;
      return { syntax, limit: true, at };
    }
    if (part.name.split('.').length > limits.nameSteps)
      return { syntax: `the name ${start} has more than ${limits.nameSteps} steps`, limit: true, at };
    if (/[{}<>\n]/.test(part.name)) {
      const [start = ''] = part.name.split(/[{}<>\n]/);
      return { syntax: `the tag "{{ ${start.trim().slice(0, 40)}" is not closed with "}}"`, at };
    }
    const inner = part.kind === 'section' ? strangeName(part.parts) : undefined;
    if (inner !== undefined) return inner;
  }
  return undefined;
}

/** The library's message, which may contain a long name, and its position. */
function located(message: string): { readonly words: string; readonly offset: number | undefined } {
  const at = message.lastIndexOf(' at ');
  const offset = /^ at (\d+)$/.exec(message.slice(at))?.[1];
  const words = offset === undefined ? message : message.slice(0, at);
  const short = words.length > 100 ? `${words.slice(0, 80)}…${words.endsWith('"') ? '"' : ''}` : words;
  return {
    words: `${short.charAt(0).toLowerCase()}${short.slice(1)}`,
    offset: offset === undefined ? undefined : Number(offset),
  };
}

function printed(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}

/** Looks up names only in JSON: the library's own context finds and calls inherited members. */
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
