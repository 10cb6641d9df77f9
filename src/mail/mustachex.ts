import type { Span } from '../base/problems.js';
import { groupBy, isMap } from '../base/values.js';
import { beyond, limits, shown } from './limits.js';
import {
  type Bound,
  Moment,
  type MustacheTemplate,
  Opaque,
  type Part,
  type Partials,
  type SyntaxProblem,
  TooLong,
} from './template.js';

/**
 * Mustachex 0.0.2 (github.com/jui/mustachex), with which Boruta renders its mails. Unlike Mustache, it escapes values in text too, ignores
 * `{{=`, renders partials of mails as nothing, and raises for what it can't do; then no mail is sent.
 */

/** A name: one word, or the steps of a dotted one. White space belongs to a step, as in the tokenizer. */
type Name = string | readonly string[];

type Node =
  | { readonly kind: 'text'; readonly text: string; readonly stray?: Extract<Token, { kind: 'end' }> }
  | { readonly kind: 'variable'; readonly name: Name; readonly escaped: boolean; readonly at: Span }
  | {
      readonly kind: 'section';
      readonly name: Name;
      readonly inverted: boolean;
      readonly at: Span;
      readonly inner: readonly Node[];
    }
  | { readonly kind: 'partial'; readonly name: Name; readonly at: Span }
  | { readonly kind: 'raises'; readonly why: string; readonly at: Span };

type Token =
  | Exclude<Node, { readonly kind: 'section' | 'raises' }>
  | { readonly kind: 'start'; readonly name: Name; readonly inverted: boolean; readonly at: Span }
  | { readonly kind: 'end'; readonly name: Name; readonly at: Span };

/** A tag that raises, or that renders nothing. */
export interface TagFinding {
  /** Why no mail would be sent; undefined if the tag is only empty. */
  readonly raises?: string;
  /** The text in its place, if it ends no section. */
  readonly prints?: string;
  /** The name as written. */
  readonly name: string;
  readonly section: boolean;
  readonly at: Span;
}

/** A body that Mustachex can tokenize. */
export interface MustachexTemplate extends MustacheTemplate {
  /** The tags that raise or are empty with all values of the server, and the text with these values. */
  examine(
    data: { readonly [name: string]: Bound },
    partials?: Partials,
  ): { readonly findings: readonly TagFinding[]; readonly text: string } | { readonly tooLong: string };
}

/** Ends the rendering on the server, which sends no mail then; the message says why. */
export class Raised extends Error {}

/** Parses a body. Never throws: returns what is wrong in words. */
export function parseMustachex(body: string): MustachexTemplate | SyntaxProblem {
  if (body.length > limits.bodyCharacters) return { syntax: beyond.characters, limit: true };
  const tokens = tokenize(body);
  if ('syntax' in tokens) return tokens;
  if (tokens.filter(({ kind }) => kind !== 'text').length > limits.tags)
    return { syntax: beyond.tags, limit: true };
  const nodes = nodesOf(tokens);
  if (nodes === null) return { syntax: beyond.depth, limit: true };
  return {
    parts: partsOf(nodes),
    render: (data, { absent = new Set(), partials = {} }) =>
      new Rendering(data, { absent, partials, examines: false }).text(nodes),
    examine(data, partials = {}) {
      const rendering = new Rendering(data, { absent: new Set(), partials, examines: true });
      try {
        const text = rendering.text(nodes);
        return { findings: rendering.findings, text };
      } catch (failure) {
        if (failure instanceof TooLong) return { tooLong: failure.message };
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
      tokens.push({ kind: 'text', text: body.slice(from) });
      return tokens;
    }
    tokens.push({ kind: 'text', text: body.slice(from, start) });
    const isUnescaped = body.startsWith('{{{', start);
    const [open, close] = isUnescaped ? ['{{{', '}}}'] : ['{{', '}}'];
    const end = body.indexOf(close, start + open.length);
    const at = { start, end: end + close.length };
    if (end < 0) return { syntax: 'a tag is never closed', at: { start, end: start + open.length } };
    const inside = body.slice(start + open.length, end);
    if (inside.length > limits.nameCharacters)
      return { syntax: `a tag has more than ${shown(limits.nameCharacters)} characters`, limit: true, at };
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

function written(name: Name): string {
  return typeof name === 'string' ? name : name.join('.');
}

/** A section reaches to the first end with its name. Null if sections are nested too deep. */
function nodesOf(tokens: readonly Token[]): readonly Node[] | null {
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
        nodes.push({ kind: 'text', text: `{:end_section, ${atomOf(token.name)}}`, stray: token });
      } else if (token.kind === 'start') {
        const { name, inverted, at } = token;
        const end = ends.get(JSON.stringify(name))?.find((one) => one.index > index)?.index;
        if (end === undefined || end >= until) {
          const why = `the section "${written(name)}" is not closed: its end has to have the same name and the same spaces`;
          nodes.push({ kind: 'raises', why, at });
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

/** A name as the server prints it. */
function atomOf(name: Name): string {
  if (typeof name !== 'string') return `[${name.map(atomOf).join(', ')}]`;
  return /^[A-Za-z_][A-Za-z0-9_@]*[?!]?$/.test(name) ? `:${name}` : `:${JSON.stringify(name)}`;
}

function partsOf(nodes: readonly Node[]): Part[] {
  return nodes.flatMap((node): Part[] => {
    switch (node.kind) {
      case 'text':
        return [node];
      case 'raises':
        return [];
      case 'section': {
        const { name, inverted, at, inner } = node;
        return [{ kind: 'section', name: written(name), inverted, at, parts: partsOf(inner) }];
      }
      default:
        return [{ kind: node.kind, name: written(node.name), at: node.at }];
    }
  });
}

interface RenderingOptions {
  readonly absent: ReadonlySet<string>;
  readonly partials: Partials;
  readonly examines: boolean;
}

/** One rendering. Examining continues after a tag that raises, and enters inverted sections without a value. */
class Rendering {
  readonly #root: Bound;
  readonly #options: RenderingOptions;
  readonly #found = new Map<number, TagFinding>();
  /** The tags that rendered something. */
  readonly #full = new Set<number>();
  #visits = 0;
  #characters = 0;

  constructor(root: Bound, options: RenderingOptions) {
    this.#root = root;
    this.#options = options;
  }

  get findings(): readonly TagFinding[] {
    return [...this.#found.values()]
      .filter(
        ({ raises, prints, at }) => raises !== undefined || prints !== undefined || !this.#full.has(at.start),
      )
      .sort((one, other) => one.at.start - other.at.start);
  }

  text(nodes: readonly Node[], bound: Bound = this.#root): string {
    this.#visits += 1;
    if (this.#visits > limits.sectionVisits) throw new TooLong(beyond.visits);
    return nodes.map((node) => this.#node(node, bound)).join('');
  }

  #node(node: Node, bound: Bound): string {
    if (node.kind === 'text') {
      const { stray, text } = node;
      if (this.#options.examines && stray !== undefined) {
        const { name, at } = stray;
        this.#found.set(at.start, { prints: text, name: written(name), section: true, at });
      }
      return this.#counted(text);
    }
    try {
      return this.#tag(node, bound);
    } catch (failure) {
      if (!(failure instanceof Raised) || !this.#options.examines) throw failure;
      this.#tell(node, failure.message);
      return '';
    }
  }

  #tag(node: Exclude<Node, { readonly kind: 'text' }>, bound: Bound): string {
    if (node.kind === 'raises') throw new Raised(node.why);
    if (node.kind === 'partial') {
      if (typeof node.name !== 'string') throw new Raised('a partial with a dot in its name');
      const { partials } = this.#options;
      if (Object.hasOwn(partials, node.name)) return this.#counted(partials[node.name] ?? '');
      this.#tell(node);
      return '';
    }
    const found = this.#get(bound, node.name);
    if (node.kind === 'variable') {
      const text = printed(found, written(node.name));
      if (text === '') this.#tell(node);
      else this.#full.add(node.at.start);
      return this.#counted(node.escaped ? escaped(text) : text);
    }
    const isThere = found !== undefined && found !== null && found !== false;
    if (node.inverted) {
      const isShown = !isThere || (Array.isArray(found) && found.length === 0);
      if (this.#options.examines && !isShown) this.text(node.inner, null);
      return isShown ? this.text(node.inner, found ?? null) : '';
    }
    if (!isThere) {
      this.#tell(node);
      return '';
    }
    this.#full.add(node.at.start);
    const each = Array.isArray(found) ? (found as readonly Bound[]) : [found];
    return each.map((one) => this.text(node.inner, one)).join('');
  }

  /** As `get_value`: a name that isn't found is looked up at the top. */
  #get(bound: Bound, name: Name): Bound {
    if (this.#options.absent.has(written(name))) return undefined;
    if (bound === undefined || bound === null) return undefined;
    if (typeof name === 'string') return this.#one(bound, name, this.#root);
    if (!(bound instanceof Opaque || Array.isArray(bound) || isMap(bound)))
      throw new Raised(`"${written(name)}" has a dot, and the section around it is a mere value`);
    return name.reduce<Bound>((at, step) => this.#one(at, step, this.#root), bound);
  }

  #one(bound: Bound, name: string, root: Bound): Bound {
    if (bound === undefined || bound === null) return undefined;
    if (name === '.' && typeof bound === 'string') return bound;
    if (bound instanceof Opaque) throw new Raised(`the server can't look into ${bound.what}`);
    if (Array.isArray(bound)) return undefined;
    const members = isMap(bound) ? (bound as { readonly [name: string]: Bound }) : {};
    const found = Object.hasOwn(members, name) ? members[name] : undefined;
    return found ?? (root === undefined ? undefined : this.#one(root, name, undefined));
  }

  #tell(node: Exclude<Node, { readonly kind: 'text' }>, raises?: string): void {
    if (!this.#options.examines || this.#found.get(node.at.start)?.raises !== undefined) return;
    this.#found.set(node.at.start, {
      ...(raises === undefined ? {} : { raises }),
      name: node.kind === 'raises' ? '' : written(node.name),
      section: node.kind === 'section',
      at: node.at,
    });
  }

  #counted(text: string): string {
    this.#characters += text.length;
    if (this.#characters > limits.renderedCharacters) throw new TooLong(beyond.rendered);
    return text;
  }
}

/** As `to_string`. */
function printed(value: Bound, name: string): string {
  if (value === undefined || value === null) return '';
  if (value instanceof Moment) return value.text;
  if (value instanceof Opaque) throw new Raised(`"${name}" is ${value.what}, which can't be printed`);
  if (Array.isArray(value)) return value.map((one: Bound) => printedIn(one, name)).join('');
  if (isMap(value)) throw new Raised(`"${name}" is a map, which can't be printed: name one of its members`);
  return String(value);
}

/** As an element of a charlist, in which a number is a character. */
function printedIn(value: Bound, name: string): string {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 0x10ffff)
    return String.fromCodePoint(value);
  if (typeof value === 'string' || Array.isArray(value)) return printed(value, name);
  throw new Raised(`"${name}" is a list, which can't be printed`);
}

const entities: { readonly [character: string]: string } = {
  "'": '&#39;',
  '&': '&amp;',
  '"': '&quot;',
  '<': '&lt;',
  '>': '&gt;',
};

function escaped(text: string): string {
  return text.replace(/['&"<>]/g, (character) => entities[character] ?? character);
}
