import { put as define, isMap, type Json } from '../base/values.js';
import { limits } from './limits.js';
import { parseMustachex, Raised } from './mustachex.js';
import { layout } from './pages.js';
import { placeholdersOf } from './placeholders.js';
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

/** Declared sample data. */
export interface NamedSample {
  /** Its name among the samples of its template. */
  readonly name: string;
  /** As a person would type it. */
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
  const templates = parsed.flatMap(({ txt, html }) => [txt, html]).flatMap((body) => body?.parsed ?? []);
  const parts = templates.flatMap((template) => ('parts' in template ? template.parts : []));
  const around = parsed.flatMap(({ around }) =>
    around !== null && 'parts' in around.parsed ? around.parsed.parts : [],
  );
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
  /** Whether it is parsed with the server's dialect. */
  readonly isServers: boolean;
  /** What happens if it can't be rendered. */
  readonly fails: string;
  readonly parsed: MustacheTemplate | SyntaxProblem;
}

function parse(body: string | null | undefined, mail: MailOf | undefined): ParsedBody | null {
  if (typeof body !== 'string') return null;
  const isServers = mail !== undefined;
  const fails = isPage(mail) ? 'The server shows no page' : 'The server sends no mail';
  return { source: body, isServers, fails, parsed: isServers ? parseMustachex(body) : parseMustache(body) };
}

function renderBody(
  body: ParsedBody | null,
  data: MailOf['data'],
  options: RenderOptions,
): RenderedBody | null {
  if (body === null) return null;
  const { parsed, isServers, fails } = body;
  if ('syntax' in parsed) {
    const { syntax, limit } = parsed;
    const why = isServers
      ? `${fails} with this body: ${syntax}`
      : `This body is not a Mustache template: ${syntax}`;
    return limit ? { tooLong: syntax } : { source: body.source, syntax: why };
  }
  try {
    return { text: parsed.render(data, options) };
  } catch (failure) {
    if (failure instanceof TooLong) return { tooLong: failure.message };
    if (!(failure instanceof Raised)) throw failure;
    return { source: body.source, syntax: `${fails} with this body: ${failure.message}` };
  }
}

/** A page in its layout. */
function within(
  around: ParsedBody | null,
  data: MailOf['data'],
  page: RenderedBody | null,
): RenderedBody | null {
  if (around === null || page === null || !('text' in page)) return page;
  return renderBody(around, data, { html: true, partials: { [layout.partial]: page.text } });
}

function sectionsOf(parts: readonly Part[]): string[] {
  const names = new Set<string>();
  const walk = (inner: readonly Part[]): void => {
    for (const part of inner) {
      if (part.kind !== 'section') continue;
      if (part.name !== '.') names.add(part.name);
      walk(part.parts);
    }
  };
  walk(parts);
  return [...names];
}

/** The sets of hidden sections: none first, all last. */
function* combinations(sections: readonly string[]): Generator<ReadonlySet<string>> {
  if (sections.length <= combinedSections) {
    for (let bits = 0; bits < 2 ** sections.length; bits += 1) {
      yield new Set(sections.filter((_, index) => (bits >> index) % 2 === 1));
    }
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
  const variables = new Set(
    placeholdersOf(parts)
      .filter(({ section }) => !section)
      .map(({ name }) => name),
  );
  const sections = new Set(sectionsOf(parts));
  const data = madeUp(parts, given, variables);
  // An empty value of a section doesn't count: hidden sections are shown separately.
  lay(
    data,
    given as DataTree,
    (before, value, path) => before === undefined || !sections.has(path) || !isEmpty(value),
  );
  return data;
}

/** The server's values, overridden by sample data, which adds no names except keys of metadata. */
function filledIn(parts: readonly Part[], given: SampleData, { data }: MailOf): MailOf['data'] {
  const names = placeholdersOf(parts).map(({ name }) => name);
  return overlaid(withMetadata(data, names, exampleOf), given) as MailOf['data'];
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
    if (part.inverted) {
      lay(tree, inner, isMissing);
      put(tree, path, variables.has(part.name) ? exampleOf(part.name) : true);
    } else if (variables.has(part.name)) {
      lay(tree, inner, isMissing);
      put(tree, path, exampleOf(part.name));
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

function isEmpty(value: Json): boolean {
  return !value || (Array.isArray(value) && value.length === 0);
}

/** Example values by the name of a placeholder; the first match counts. */
const examples: readonly (readonly [RegExp, string])[] = [
  [/e-?mail/, 'jane.doe@example.com'],
  [/(^|_)(url|uri|link|href)$/, ''],
  [/(first|given)_?name$/, 'Jane'],
  [/(last|family|sur)_?name$/, 'Doe'],
  [/(^|_)(name|username|user|display_?name|full_?name)$/, 'Jane Doe'],
  [/(code|otp|pin)$/, '493172'],
  [/(date|day)$/, '31 January 2026'],
  [/(time|_at|expiry|expiration|expires)$/, '31 January 2026, 12:00'],
  [/(count|number|minutes|hours|days)$/, '3'],
  [/(company|organi[sz]ation|product|brand|app)(_?name)?$/, 'ACME'],
];

/** An example value for a placeholder: `https://example.com/reset-password` for `reset_password_url`. */
export function exampleOf(name: string): string {
  const last = name.split('.').at(-1) ?? name;
  const key = last.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase();
  const known = examples.find(([pattern]) => pattern.test(key))?.[1];
  if (known === undefined) return `[${last.replaceAll('_', ' ')}]`;
  if (known !== '') return known;
  const path = key.replace(/_?(url|uri|link|href)$/, '').replace(/[^a-z0-9]+/g, '-');
  return `https://example.com/${path}`;
}
