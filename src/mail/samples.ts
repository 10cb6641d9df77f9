import { isMap, type Json } from '../values.js';
import type { TemplateBodies } from './checks.js';
import { placeholdersOf } from './placeholders.js';
import { type Part, parseTemplate, type SyntaxProblem, type Template } from './template.js';

/** What a template is rendered with. */
export type SampleData = { readonly [name: string]: Json };

/** So many sections are shown in every combination; more of them one by one. */
const combinedSections = 3;
/** More mails than this are no longer looked at. */
const maxVariants = 24;

/** One body as a user would get it; its source where it isn't a template. */
export type RenderedBody = { readonly text: string } | { readonly source: string; readonly syntax: string };

/** One mail that a user can get. */
export interface Mail {
  readonly txt: RenderedBody | null;
  readonly html: RenderedBody | null;
}

/** A mail as it is now and as it will be, with the same things there and not there. */
export interface MailVariant {
  /** Which sections are there, in words; null where the template has none. */
  readonly label: string | null;
  /** One for each of the given bodies, in their order. */
  readonly mails: readonly Mail[];
}

/**
 * Every mail that a user can get: each section there and not there. All the bodies are rendered with the same
 * data: `given`, and what it lacks is made up from the placeholders' names.
 */
export function renderMails(sides: readonly TemplateBodies[], given: SampleData): MailVariant[] {
  const parsed = sides.map(({ txt, html }) => ({ txt: parse(txt), html: parse(html) }));
  const templates = parsed
    .flatMap(({ txt, html }) => [txt, html])
    .flatMap((body) => (body?.template === undefined ? [] : [body.template]));
  const parts = templates.flatMap((template) => template.parts);
  const data = sampleData(parts, given);
  const sections = sectionsOf(parts);
  const seen = new Set<string>();
  return combinations(sections)
    .map((absent) => ({
      label: sections.length === 0 ? null : labelOf(sections, absent),
      mails: parsed.map(({ txt, html }) => ({
        txt: render(txt, data, { html: false, absent }),
        html: render(html, data, { html: true, absent }),
      })),
    }))
    .filter(({ mails }) => {
      const text = JSON.stringify(mails);
      return !seen.has(text) && seen.add(text);
    })
    .slice(0, maxVariants);
}

interface ParsedBody {
  readonly source: string;
  readonly template: Template | undefined;
  readonly syntax: string;
}

function parse(body: string | null | undefined): ParsedBody | null {
  if (typeof body !== 'string') return null;
  const parsed: Template | SyntaxProblem = parseTemplate(body);
  return 'syntax' in parsed
    ? { source: body, template: undefined, syntax: parsed.syntax }
    : { source: body, template: parsed, syntax: '' };
}

function render(
  body: ParsedBody | null,
  data: SampleData,
  options: { readonly html: boolean; readonly absent: ReadonlySet<string> },
): RenderedBody | null {
  if (body === null) return null;
  if (body.template === undefined) return { source: body.source, syntax: body.syntax };
  return { text: body.template.render(data, options) };
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

/** The sets of sections that aren't there: none first, all last. */
function combinations(sections: readonly string[]): ReadonlySet<string>[] {
  if (sections.length <= combinedSections) {
    return [...Array(2 ** sections.length).keys()].map(
      (bits) => new Set(sections.filter((_, index) => (bits >> index) % 2 === 1)),
    );
  }
  const alone = sections.map((section) => new Set([section]));
  const others = sections.map((section) => new Set(sections.filter((other) => other !== section)));
  return [new Set(), new Set(sections), ...alone, ...others];
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

/** Values for all that the parts use: the given ones, and made up ones where there are none. */
function sampleData(parts: readonly Part[], given: SampleData): SampleData {
  const variables = new Set(
    placeholdersOf(parts)
      .filter(({ section }) => !section)
      .map(({ name }) => name),
  );
  return merge(madeUp(parts, given, variables), given, new Set(sectionsOf(parts)));
}

type Tree = { [name: string]: Json };

function madeUp(parts: readonly Part[], given: SampleData, variables: ReadonlySet<string>): Tree {
  const tree: Tree = {};
  for (const part of parts) {
    if (part.kind === 'text' || part.kind === 'partial' || part.name === '.') continue;
    const path = part.name.split('.');
    if (part.kind === 'variable') {
      // A value that is given outside of a section is meant inside of it too.
      if (valueAt(given, path) === undefined) put(tree, path, exampleOf(part.name));
      continue;
    }
    const inner = madeUp(part.parts, given, variables);
    if (part.inverted) {
      Object.assign(tree, merge(inner, tree, new Set()));
      put(tree, path, variables.has(part.name) ? exampleOf(part.name) : true);
    } else if (variables.has(part.name)) {
      Object.assign(tree, merge(inner, tree, new Set()));
      put(tree, path, exampleOf(part.name));
    } else if (part.parts.some((it) => it.kind === 'variable' && it.name === '.')) {
      put(tree, path, ['first', 'second']);
    } else {
      put(tree, path, Object.keys(inner).length === 0 ? true : inner);
    }
  }
  return tree;
}

function put(tree: Tree, path: readonly string[], value: Json): void {
  const [step = '', ...rest] = path;
  const before = Object.hasOwn(tree, step) ? tree[step] : undefined;
  if (rest.length > 0) {
    const inner: Tree = isMap(before) ? (before as Tree) : {};
    put(inner, rest, value);
    define(tree, step, inner);
  } else if (isMap(before) && isMap(value)) {
    define(tree, step, merge(before as Tree, value as Tree, new Set()));
  } else if (before === undefined || before === true) {
    define(tree, step, value);
  }
}

/** A member that is one whatever it is called. */
function define(tree: Tree, name: string, value: Json): void {
  Object.defineProperty(tree, name, { value, enumerable: true, configurable: true, writable: true });
}

function valueAt(data: SampleData, path: readonly string[]): Json | undefined {
  let at: Json | undefined = data as Tree;
  for (const step of path) {
    if (!isMap(at) || !Object.hasOwn(at, step)) return undefined;
    at = (at as Tree)[step];
  }
  return at;
}

/** The second over the first; an empty value of a section doesn't count, since that is shown besides. */
function merge(base: SampleData, over: SampleData, sections: ReadonlySet<string>, under = ''): Tree {
  const merged: Tree = {};
  for (const [name, value] of Object.entries(base)) define(merged, name, value);
  for (const [name, value] of Object.entries(over)) {
    const path = `${under}${name}`;
    const before = Object.hasOwn(base, name) ? base[name] : undefined;
    if (before !== undefined && sections.has(path) && isEmpty(value)) continue;
    define(
      merged,
      name,
      isMap(before) && isMap(value)
        ? merge(before as Tree, value as Tree, sections, `${path}.`)
        : (value as Json),
    );
  }
  return merged;
}

function isEmpty(value: Json): boolean {
  return !value || (Array.isArray(value) && value.length === 0);
}

/** What a placeholder may stand for, judged by its name; the first that fits. */
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

/** A value that shows what the placeholder is for: `https://example.com/reset-password` for `reset_password_url`. */
export function exampleOf(name: string): string {
  const last = name.split('.').at(-1) ?? name;
  const key = last.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase();
  const known = examples.find(([pattern]) => pattern.test(key))?.[1];
  if (known === undefined) return `[${last.replaceAll('_', ' ')}]`;
  if (known !== '') return known;
  const path = key.replace(/_?(url|uri|link|href)$/, '').replace(/[^a-z0-9]+/g, '-');
  return `https://example.com/${path}`;
}
