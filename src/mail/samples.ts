import { setMember as define, isMap, type Json } from '../base/values.js';
import { limits } from './limits.js';
import { parseMustachex, Raised } from './mustachex.js';
import { layout } from './pages.js';
import { exampleOf, placeholdersOf } from './placeholders.js';
import { isPage, type MailOf, withMetadata } from './servers.js';
import {
  type Bound,
  type MustacheTemplate,
  Opaque,
  type Part,
  parseMustache,
  type RenderOptions,
  type SyntaxProblem,
  type TemplateBodies,
  TooLong,
  valueAt,
} from './template.js';

/** Values for a template. */
export type SampleData = { readonly [name: string]: Json };

/** Declared sample data of a template. */
export interface NamedSample {
  /** The file, or the number of the document if it has several. */
  readonly name: string;
  /** Relative to the current folder. */
  readonly file: string;
  readonly data: SampleData;
}

/** Up to this number of sections are shown in all combinations, others one by one. */
const combinedSections = 3;
/** A rendered body; its source if it isn't a template, or why it is too long to be shown. */
export type RenderedBody =
  | { readonly text: string }
  | { readonly source: string; readonly syntax: string }
  | { readonly tooLong: string };

/** One mail that a user can get. */
export interface Mail {
  readonly txt: RenderedBody | null;
  readonly html: RenderedBody | null;
}

/** A mail before and after the change, with the same data. */
export interface MailVariant {
  /** The index of its sample data. */
  readonly sample: number;
  /** The sections that are shown, in words; null if the template has none. */
  readonly label: string | null;
  /** One for each given version, in order. */
  readonly mails: readonly Mail[];
}

/**
 * Renders the mails that a user can get, and counts the combinations that are left out: for each sample, with each section shown and hidden, within the limits. All bodies get the same
 * data: the sample, then what the server fills in, or values made up from the names of the placeholders if that is unknown.
 */
export function renderMails(
  sides: readonly TemplateBodies[],
  mail: MailOf | undefined,
  given: readonly SampleData[],
): { readonly variants: readonly MailVariant[]; readonly left: number } {
  const parsed = sides.map(({ txt, html, layout }) => ({
    txt: parse(txt, mail),
    html: parse(html, mail),
    around: parse(layout, mail),
  }));
  const partsOf = (body: ParsedBody | null) =>
    body !== null && 'parts' in body.parsed ? body.parsed.parts : [];
  const parts = parsed.flatMap(({ txt, html }) => [txt, html].flatMap(partsOf));
  const around = parsed.flatMap((one) => partsOf(one.around));
  const all = given.length === 0 ? [{}] : given;
  const samples = all
    .slice(0, limits.variants)
    .map((one) => (mail === undefined ? sampleData(parts, one) : filledIn([...parts, ...around], one, mail)));
  const sections = sectionsOf(parts);
  const seen = new Set<string>();
  const variants: MailVariant[] = [];
  let made = 0;
  let characters = 0;
  const isFull = (): boolean => made === limits.variants || characters > limits.templateCharacters;
  for (const absent of combinations(sections)) {
    // There may be very many combinations.
    if (isFull()) break;
    for (const [sample, data] of samples.entries()) {
      if (isFull()) break;
      made += 1;
      const mails = parsed.map(({ txt, html, around }) => ({
        txt: renderBody(txt, data, { html: false, absent }),
        html: within(around, data, renderBody(html, data, { html: true, absent, partials: mail?.partials })),
      }));
      const text = JSON.stringify(mails);
      if (seen.has(text)) continue;
      seen.add(text);
      characters += text.length;
      variants.push({ sample, label: sections.length === 0 ? null : labelOf(sections, absent), mails });
    }
  }
  return { variants, left: combinationsOf(sections) * all.length - made };
}

interface ParsedBody {
  readonly source: string;
  /** What happens if it can't be rendered, before the reason. */
  readonly fails: string;
  readonly parsed: MustacheTemplate | SyntaxProblem;
}

function parse(body: string | null | undefined, mail: MailOf | undefined): ParsedBody | null {
  if (typeof body !== 'string') return null;
  if (mail === undefined)
    return { source: body, fails: 'This body is not a Mustache template', parsed: parseMustache(body) };
  const fails = `${isPage(mail) ? 'The server shows no page' : 'The server sends no mail'} with this body`;
  return { source: body, fails, parsed: parseMustachex(body) };
}

function renderBody(body: ParsedBody | null, data: MailOf['data'], options: RenderOptions) {
  if (body === null) return null;
  const { source, parsed, fails } = body;
  if ('syntax' in parsed) {
    const { syntax, limit } = parsed;
    return limit ? { tooLong: syntax } : { source, syntax: `${fails}: ${syntax}` };
  }
  try {
    return { text: parsed.render(data, options) };
  } catch (failure) {
    if (failure instanceof TooLong) return { tooLong: failure.message };
    if (!(failure instanceof Raised)) throw failure;
    return { source, syntax: `${fails}: ${failure.message}` };
  }
}

/** A page in its layout. */
function within(around: ParsedBody | null, data: MailOf['data'], page: RenderedBody | null) {
  if (around === null || page === null || !('text' in page)) return page;
  return renderBody(around, data, { html: true, partials: { [layout.partial]: page.text } });
}

function sectionsOf(parts: readonly Part[]): string[] {
  const names = parts.flatMap((part) =>
    part.kind === 'section' ? [...(part.name === '.' ? [] : [part.name]), ...sectionsOf(part.parts)] : [],
  );
  return [...new Set(names)];
}

/** The sets of hidden sections: none first, all last. */
function* combinations(sections: readonly string[]): Generator<ReadonlySet<string>> {
  if (sections.length <= combinedSections) {
    for (let bits = 0; bits < 2 ** sections.length; bits += 1)
      yield new Set(sections.filter((_, index) => (bits >> index) % 2 === 1));
    return;
  }
  yield new Set();
  yield new Set(sections);
  for (const section of sections) yield new Set([section]);
  for (const section of sections) yield new Set(sections.filter((other) => other !== section));
}

/** How many sets `combinations` gives. */
function combinationsOf({ length }: readonly string[]): number {
  return length <= combinedSections ? 2 ** length : 2 + 2 * length;
}

function labelOf(sections: readonly string[], absent: ReadonlySet<string>): string {
  const there = sections.filter((section) => !absent.has(section));
  const gone = sections.filter((section) => absent.has(section));
  if (sections.length > combinedSections) {
    if (gone.length === 0) return 'with every section';
    if (there.length === 0) return 'without any section';
    return gone.length < there.length ? `without ${gone.join(', ')}` : `only with ${there.join(', ')}`;
  }
  return [
    ...(there.length > 0 ? [`with ${there.join(', ')}`] : []),
    ...(gone.length > 0 ? [`without ${gone.join(', ')}`] : []),
  ].join(', ');
}

/** Values for all names in the parts: the given ones, others made up. */
function sampleData(parts: readonly Part[], given: SampleData): SampleData {
  const names = placeholdersOf(parts).flatMap(({ name, section }) => (section ? [] : [name]));
  const variables = new Set(names);
  const sections = new Set(sectionsOf(parts));
  const data = madeUp(parts, given, variables);
  // An empty value of a section doesn't count: hidden sections are shown separately.
  const isEmpty = (value: Json) => !value || (Array.isArray(value) && value.length === 0);
  lay(
    data,
    given as DataTree,
    (before, value, path) => before === undefined || !sections.has(path) || !isEmpty(value),
  );
  return data;
}

/** The server's values, overridden by sample data, which adds no names except keys of metadata. */
function filledIn(parts: readonly Part[], given: SampleData, { data }: MailOf): MailOf['data'] {
  return overlaid(withMetadata(data, parts), given) as MailOf['data'];
}

function overlaid(base: Bound, given: Json): Bound {
  if (!isMap(base) || base instanceof Opaque || !isMap(given)) return base instanceof Opaque ? base : given;
  const isOpen = Object.keys(base).length === 0;
  const over = Object.entries(given as DataTree).filter(([name]) => isOpen || Object.hasOwn(base, name));
  const members = base as { readonly [name: string]: Bound };
  return {
    ...members,
    ...Object.fromEntries(over.map(([name, value]) => [name, overlaid(members[name], value)])),
  };
}

type DataTree = { [name: string]: Json };

function madeUp(parts: readonly Part[], given: SampleData, variables: ReadonlySet<string>): DataTree {
  const tree: DataTree = {};
  for (const part of parts) {
    if (part.kind === 'text' || part.kind === 'partial' || part.name === '.') continue;
    const path = part.name.split('.');
    if (part.kind === 'variable') {
      // A value given outside a section also counts inside it.
      if (valueAt(given, path) === undefined) put(tree, path, exampleOf(part.name));
      continue;
    }
    const inner = madeUp(part.parts, given, variables);
    const isVariable = variables.has(part.name);
    if (part.inverted || isVariable) {
      lay(tree, inner, isMissing);
      put(tree, path, isVariable ? exampleOf(part.name) : true);
    } else if (part.parts.some((it) => it.kind === 'variable' && it.name === '.')) {
      put(tree, path, ['first', 'second']);
    } else {
      put(tree, path, Object.keys(inner).length === 0 ? true : inner);
    }
  }
  return tree;
}

/** Whether a value replaces the one that a tree has at a path (`before`; undefined for none). */
type Replaces = (before: Json | undefined, value: Json, path: string) => boolean;

const isMissing: Replaces = (before) => before === undefined;

/** Merges a tree into another, in place: thousands of sections can have one name. */
function lay(tree: DataTree, over: DataTree, replaces: Replaces, under = ''): void {
  for (const [name, value] of Object.entries(over)) {
    const before = Object.hasOwn(tree, name) ? tree[name] : undefined;
    const path = `${under}${name}`;
    if (isMap(before) && isMap(value)) lay(before as DataTree, value as DataTree, replaces, `${path}.`);
    else if (replaces(before, value, path)) define(tree, name, value);
  }
}

function put(tree: DataTree, path: readonly string[], value: Json): void {
  const [step = '', ...rest] = path;
  const before = Object.hasOwn(tree, step) ? tree[step] : undefined;
  if (rest.length > 0) {
    const inner: DataTree = isMap(before) ? (before as DataTree) : {};
    put(inner, rest, value);
    define(tree, step, inner);
  } else if (isMap(before) && isMap(value)) {
    lay(before as DataTree, value as DataTree, () => true);
  } else if (before === undefined || before === true) {
    define(tree, step, value);
  }
}
