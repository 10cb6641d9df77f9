import type { Span } from '../base/problems.js';
import { groupBy, isMap } from '../base/values.js';
import { exceeded, formatNumber, limits } from './limits.js';
import {
  type MustacheTemplate,
  Opaque,
  OpaqueTime,
  type Part,
  type Partials,
  type SyntaxProblem,
  type TemplateValue,
  TooLongError,
} from './template.js';

/**
 * Mustachex 0.0.2 (github.com/jui/mustachex), which renders Boruta's mails. Unlike Mustache, it escapes values in text too, ignores `{{=`,
 * renders partials of mails as nothing, and raises an error for what it can't do; then no mail is sent.
 */

/** A name: one word, or the steps of a dotted name, with their white space. */
type Name = string | readonly string[];

type Node =
  | {
      readonly kind: 'text';
      readonly text: string;
      readonly at: Span;
      readonly unmatchedEnd?: Extract<Token, { kind: 'end' }>;
    }
  | { readonly kind: 'variable'; readonly name: Name; readonly escaped: boolean; readonly at: Span }
  | {
      readonly kind: 'section';
      readonly name: Name;
      readonly inverted: boolean;
      readonly at: Span;
      readonly inner: readonly Node[];
    }
  | { readonly kind: 'partial'; readonly name: Name; readonly at: Span }
  | { readonly kind: 'error'; readonly why: string; readonly at: Span };

type Token =
  | Exclude<Node, { readonly kind: 'section' | 'error' }>
  | { readonly kind: 'start'; readonly name: Name; readonly inverted: boolean; readonly at: Span }
  | { readonly kind: 'end'; readonly name: Name; readonly at: Span };

/** A tag that raises an error, renders nothing, or is printed. */
export interface TagFinding {
  /** Why no mail would be sent; undefined if the tag is only empty. */
  readonly error?: string;
  /** What the server prints instead of a tag that ends no section. */
  readonly prints?: string;
  /** The name as written. */
  readonly name: string;
  readonly section: boolean;
  readonly at: Span;
}

/** A body that Mustachex can parse. */
export interface MustachexTemplate extends MustacheTemplate {
  /** Renders the body with all values of the server: the text, and the tags that raise an error or render nothing. */
  examine(
    data: { readonly [name: string]: TemplateValue },
    partials?: Partials,
  ): { readonly findings: readonly TagFinding[]; readonly text: string } | { readonly tooLong: string };
}

/** An error that ends rendering on the server, so that no mail is sent. */
export class MustachexError extends Error {}

/** Parses a body. Never throws: returns a description of what is wrong. */
export function parseMustachex(body: string): MustachexTemplate | SyntaxProblem {
  if (body.length > limits.bodyCharacters) return { syntax: exceeded.characters, exceedsLimit: true };
  const tokens = tokenize(body);
  if ('syntax' in tokens) return tokens;
  if (tokens.filter(({ kind }) => kind !== 'text').length > limits.tags)
    return { syntax: exceeded.tags, exceedsLimit: true };
  const nodes = buildNodes(tokens);
  if (nodes === null) return { syntax: exceeded.depth, exceedsLimit: true };
  return {
    parts: partsOf(nodes),
    render: (data, { absent = new Set(), partials = {} }) =>
      new Rendering(data, { absent, partials, isExamining: false }).text(nodes),
    examine(data, partials = {}) {
      const rendering = new Rendering(data, { absent: new Set(), partials, isExamining: true });
      try {
        const text = rendering.text(nodes);
        return { findings: rendering.findings, text };
      } catch (failure) {
        if (failure instanceof TooLongError) return { tooLong: failure.message };
        throw failure;
      }
    },
  };
}

function tokenize(body: string): Token[] | SyntaxProblem {
  const tokens: Token[] = [];
  for (let from = 0; ; ) {
    const start = body.indexOf('{{', from);
    if (start < 0) {
      tokens.push({ kind: 'text', text: body.slice(from), at: { start: from, end: body.length } });
      return tokens;
    }
    tokens.push({ kind: 'text', text: body.slice(from, start), at: { start: from, end: start } });
    const isUnescaped = body.startsWith('{{{', start);
    const [open, close] = isUnescaped ? ['{{{', '}}}'] : ['{{', '}}'];
    const end = body.indexOf(close, start + open.length);
    const at = { start, end: end + close.length };
    if (end < 0) return { syntax: 'a tag is never closed', at: { start, end: start + open.length } };
    const inside = body.slice(start + open.length, end);
    if (inside.length > limits.nameCharacters)
      return {
        syntax: `a tag has more than ${formatNumber(limits.nameCharacters)} characters`,
        exceedsLimit: true,
        at,
      };
    const token = isUnescaped ? variable(inside, false, at) : tagOf(inside.replace(/^ +| +$/g, ''), at);
    if (token !== null) tokens.push(token);
    from = at.end;
  }
}

function tagOf(tag: string, at: Span): Token | null {
  const rest = tag.slice(1);
  switch (tag.charAt(0)) {
    case '!':
    case '=':
      return null;
    case '#':
      return { kind: 'start', name: nameOf(rest), inverted: false, at };
    case '^':
      return { kind: 'start', name: nameOf(rest), inverted: true, at };
    case '/':
      return { kind: 'end', name: nameOf(rest), at };
    case '>':
      return { kind: 'partial', name: nameOf(rest), at };
    case '&':
      return variable(rest, false, at);
    case '.':
      return { kind: 'variable', name: '.', escaped: true, at };
    default:
      return variable(tag, true, at);
  }
}

function variable(text: string, escaped: boolean, at: Span): Token {
  return { kind: 'variable', name: nameOf(text), escaped, at };
}

function nameOf(text: string): Name {
  return text.includes('.') ? text.split('.').filter((step) => step !== '') : text.replace(/^ +| +$/g, '');
}

function nameText(name: Name): string {
  return typeof name === 'string' ? name : name.join('.');
}

/** Nests tokens: a section ends at the first end tag with its name. Null if sections are nested too deep. */
function buildNodes(tokens: readonly Token[]): readonly Node[] | null {
  const ends = groupBy(
    tokens.flatMap((token, index) => (token.kind === 'end' ? [{ name: token.name, index }] : [])),
    ({ name }) => JSON.stringify(name),
  );
  let isTooDeep = false;
  const build = (from: number, until: number, depth: number): Node[] => {
    const nodes: Node[] = [];
    if (depth > limits.sectionDepth) isTooDeep = true;
    for (let index = from; index < until && !isTooDeep; index += 1) {
      const token = tokens[index];
      if (token === undefined) break;
      if (token.kind === 'end') {
        const text = `{:end_section, ${atomOf(token.name)}}`;
        nodes.push({ kind: 'text', text, at: token.at, unmatchedEnd: token });
      } else if (token.kind === 'start') {
        const { name, inverted, at } = token;
        const end = ends.get(JSON.stringify(name))?.find((candidate) => candidate.index > index)?.index;
        if (end === undefined || end >= until) {
          const why = `the section "${nameText(name)}" is not closed: its end has to have the same name and the same spaces`;
          nodes.push({ kind: 'error', why, at });
          continue;
        }
        nodes.push({ kind: 'section', name, inverted, at, inner: build(index + 1, end, depth + 1) });
        index = end;
      } else {
        nodes.push(token);
      }
    }
    return nodes;
  };
  const nodes = build(0, tokens.length, 0);
  return isTooDeep ? null : nodes;
}

/** A name as Elixir prints it: an atom, or a list of atoms. */
function atomOf(name: Name): string {
  if (typeof name !== 'string') return `[${name.map(atomOf).join(', ')}]`;
  return /^[A-Za-z_][A-Za-z0-9_@]*[?!]?$/.test(name) ? `:${name}` : `:${JSON.stringify(name)}`;
}

function partsOf(nodes: readonly Node[]): Part[] {
  return nodes.flatMap((node): Part[] => {
    switch (node.kind) {
      case 'text':
        return [node];
      case 'error':
        return [];
      case 'section': {
        const { name, inverted, at, inner } = node;
        return [{ kind: 'section', name: nameText(name), inverted, at, parts: partsOf(inner) }];
      }
      default:
        return [{ kind: node.kind, name: nameText(node.name), at: node.at }];
    }
  });
}

interface RenderingOptions {
  readonly absent: ReadonlySet<string>;
  readonly partials: Partials;
  readonly isExamining: boolean;
}

/** One rendering. When examining, it continues after errors and also renders inverted sections that are hidden. */
class Rendering {
  readonly #root: TemplateValue;
  readonly #options: RenderingOptions;
  readonly #findings = new Map<number, TagFinding>();
  /** The tags that rendered something. */
  readonly #nonEmpty = new Set<number>();
  #visits = 0;
  #characters = 0;

  constructor(root: TemplateValue, options: RenderingOptions) {
    this.#root = root;
    this.#options = options;
  }

  get findings(): readonly TagFinding[] {
    return [...this.#findings.values()]
      .filter(
        ({ error, prints, at }) =>
          error !== undefined || prints !== undefined || !this.#nonEmpty.has(at.start),
      )
      .sort((one, other) => one.at.start - other.at.start);
  }

  text(nodes: readonly Node[], bound: TemplateValue = this.#root): string {
    this.#visits += 1;
    if (this.#visits > limits.sectionVisits) throw new TooLongError(exceeded.visits);
    return nodes.map((node) => this.#node(node, bound)).join('');
  }

  #node(node: Node, bound: TemplateValue): string {
    if (node.kind === 'text') {
      const { unmatchedEnd, text } = node;
      if (this.#options.isExamining && unmatchedEnd !== undefined) {
        const { name, at } = unmatchedEnd;
        this.#findings.set(at.start, { prints: text, name: nameText(name), section: true, at });
      }
      return this.#counted(text);
    }
    try {
      return this.#tag(node, bound);
    } catch (failure) {
      if (!(failure instanceof MustachexError) || !this.#options.isExamining) throw failure;
      this.#report(node, failure.message);
      return '';
    }
  }

  #tag(node: Exclude<Node, { readonly kind: 'text' }>, bound: TemplateValue): string {
    if (node.kind === 'error') throw new MustachexError(node.why);
    if (node.kind === 'partial') {
      if (typeof node.name !== 'string') throw new MustachexError('a partial with a dot in its name');
      const { partials } = this.#options;
      if (Object.hasOwn(partials, node.name)) return this.#counted(partials[node.name] ?? '');
      this.#report(node);
      return '';
    }
    const found = this.#get(bound, node.name);
    if (node.kind === 'variable') {
      const text = toText(found, nameText(node.name));
      if (text === '') this.#report(node);
      else this.#nonEmpty.add(node.at.start);
      return this.#counted(node.escaped ? escapeHtml(text) : text);
    }
    const isThere = found !== undefined && found !== null && found !== false;
    if (node.inverted) {
      const isShown = !isThere || (Array.isArray(found) && found.length === 0);
      if (this.#options.isExamining && !isShown) this.text(node.inner, null);
      return isShown ? this.text(node.inner, found ?? null) : '';
    }
    if (!isThere) {
      this.#report(node);
      return '';
    }
    this.#nonEmpty.add(node.at.start);
    const values = Array.isArray(found) ? (found as readonly TemplateValue[]) : [found];
    return values.map((value) => this.text(node.inner, value)).join('');
  }

  /** As `get_value` of Mustachex: a name that isn't found is looked up in the root. */
  #get(bound: TemplateValue, name: Name): TemplateValue {
    if (this.#options.absent.has(nameText(name))) return undefined;
    if (bound === undefined || bound === null) return undefined;
    if (typeof name === 'string') return this.#member(bound, name, this.#root);
    if (!(bound instanceof Opaque || Array.isArray(bound) || isMap(bound)))
      throw new MustachexError(`"${nameText(name)}" has a dot, and the section around it has no members`);
    return name.reduce<TemplateValue>((at, step) => this.#member(at, step, this.#root), bound);
  }

  #member(bound: TemplateValue, name: string, root: TemplateValue): TemplateValue {
    if (bound === undefined || bound === null) return undefined;
    if (name === '.' && typeof bound === 'string') return bound;
    if (bound instanceof Opaque) throw new MustachexError(`the server can't look into ${bound.description}`);
    if (Array.isArray(bound)) return undefined;
    const members = isMap(bound) ? (bound as { readonly [name: string]: TemplateValue }) : {};
    const found = Object.hasOwn(members, name) ? members[name] : undefined;
    return found ?? (root === undefined ? undefined : this.#member(root, name, undefined));
  }

  #report(node: Exclude<Node, { readonly kind: 'text' }>, error?: string): void {
    if (!this.#options.isExamining || this.#findings.get(node.at.start)?.error !== undefined) return;
    this.#findings.set(node.at.start, {
      ...(error === undefined ? {} : { error }),
      name: node.kind === 'error' ? '' : nameText(node.name),
      section: node.kind === 'section',
      at: node.at,
    });
  }

  #counted(text: string): string {
    this.#characters += text.length;
    if (this.#characters > limits.renderedCharacters) throw new TooLongError(exceeded.rendered);
    return text;
  }
}

/** As `to_string` of Elixir. */
function toText(value: TemplateValue, name: string): string {
  if (value === undefined || value === null) return '';
  if (value instanceof OpaqueTime) return value.text;
  if (value instanceof Opaque)
    throw new MustachexError(`"${name}" is ${value.description}, which can't be printed`);
  if (Array.isArray(value)) return value.map((one: TemplateValue) => toCharlistText(one, name)).join('');
  if (isMap(value))
    throw new MustachexError(`"${name}" is a map, which can't be printed: name one of its members`);
  return String(value);
}

/** As `to_string` for an element of a list: a number is a character. */
function toCharlistText(value: TemplateValue, name: string): string {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 0x10ffff)
    return String.fromCodePoint(value);
  if (typeof value === 'string' || Array.isArray(value)) return toText(value, name);
  throw new MustachexError(`"${name}" is a list, which can't be printed`);
}

const entities: { readonly [character: string]: string } = {
  "'": '&#39;',
  '&': '&amp;',
  '"': '&quot;',
  '<': '&lt;',
  '>': '&gt;',
};

function escapeHtml(text: string): string {
  return text.replace(/['&"<>]/g, (character) => entities[character] ?? character);
}
