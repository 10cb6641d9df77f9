import { setMember as define, isMap, type Json } from '../base/values.js';
import { limits } from './limits.js';
import { MustachexError, parseMustachex } from './mustachex.js';
import { layout } from './pages.js';
import { exampleValue, placeholdersOf } from './placeholders.js';
import { isPage, type ServerMail, withUsedMetadata } from './servers.js';
import {
  type MustacheTemplate,
  Opaque,
  type Part,
  parseMustache,
  type RenderOptions,
  type SyntaxProblem,
  type TemplateBodies,
  type TemplateValue,
  TooLongError,
  valueAt,
} from './template.js';

/** The values for a template. */
export type SampleData = { readonly [name: string]: Json };

/** Declared sample data of a template. */
export interface NamedSample {
  /** The file, or the number of the document in a file with several. */
  readonly name: string;
  /** Relative to the current folder. */
  readonly file: string;
  readonly data: SampleData;
}

/** Up to so many sections are shown in all combinations; more sections are varied one by one. */
const maxCombinedSections = 3;

/** A rendered body; or its source and why it isn't a template; or why it is too long. */
export type RenderedBody =
  | { readonly text: string }
  | { readonly source: string; readonly syntax: string }
  | { readonly tooLong: string };

/** One mail that a user can get. */
export interface Mail {
  readonly txt: RenderedBody | null;
  readonly html: RenderedBody | null;
}

/** Versions of a mail with the same data. */
export interface MailVariant {
  /** The index of the sample data. */
  readonly sample: number;
  /** Says which sections are shown; null if the template has none. */
  readonly label: string | null;
  /** A mail for each version, in order. */
  readonly mails: readonly Mail[];
}

/**
 * Renders the mails that a user can get for each sample, with sections shown and hidden, and counts the combinations beyond the limits. The
 * data are those of the sample, then what the server fills in, or values generated from the placeholders if that is unknown.
 */
export function renderMails(
  sides: readonly TemplateBodies[],
  mail: ServerMail | undefined,
  sampleData: readonly SampleData[],
): { readonly variants: readonly MailVariant[]; readonly omitted: number } {
  const parsed = sides.map(({ txt, html, layout }) => ({
    txt: parse(txt, mail),
    html: parse(html, mail),
    layout: parse(layout, mail),
  }));
  const partsOf = (body: ParsedBody | null) =>
    body !== null && 'parts' in body.parsed ? body.parsed.parts : [];
  const parts = parsed.flatMap(({ txt, html }) => [txt, html].flatMap(partsOf));
  const layoutParts = parsed.flatMap(({ layout }) => partsOf(layout));
  const allSamples = sampleData.length === 0 ? [{}] : sampleData;
  const samples = allSamples
    .slice(0, limits.variants)
    .map((sample) =>
      mail === undefined
        ? completeSample(parts, sample)
        : serverData([...parts, ...layoutParts], sample, mail),
    );
  const sections = sectionsOf(parts);
  const seen = new Set<string>();
  const variants: MailVariant[] = [];
  let rendered = 0;
  let characters = 0;
  const isFull = (): boolean => rendered === limits.variants || characters > limits.templateCharacters;
  for (const absent of combinations(sections)) {
    // The combinations may be too many to generate.
    if (isFull()) break;
    for (const [sample, data] of samples.entries()) {
      if (isFull()) break;
      rendered += 1;
      const mails = parsed.map(({ txt, html, layout }) => ({
        txt: renderBody(txt, data, { html: false, absent }),
        html: inLayout(
          layout,
          data,
          renderBody(html, data, { html: true, absent, partials: mail?.partials }),
        ),
      }));
      const text = JSON.stringify(mails);
      if (seen.has(text)) continue;
      seen.add(text);
      characters += text.length;
      variants.push({ sample, label: sections.length === 0 ? null : sectionsLabel(sections, absent), mails });
    }
  }
  return { variants, omitted: countCombinations(sections) * allSamples.length - rendered };
}

interface ParsedBody {
  readonly source: string;
  /** Says what happens if it can't be rendered; the reason follows. */
  readonly failureText: string;
  readonly parsed: MustacheTemplate | SyntaxProblem;
}

function parse(body: string | null | undefined, mail: ServerMail | undefined): ParsedBody | null {
  if (typeof body !== 'string') return null;
  if (mail === undefined)
    return { source: body, failureText: 'This body is not a Mustache template', parsed: parseMustache(body) };
  const failureText = `${isPage(mail) ? 'The server shows no page' : 'The server sends no mail'} with this body`;
  return { source: body, failureText, parsed: parseMustachex(body) };
}

function renderBody(body: ParsedBody | null, data: ServerMail['data'], options: RenderOptions) {
  if (body === null) return null;
  const { source, parsed, failureText } = body;
  if ('syntax' in parsed) {
    const { syntax, exceedsLimit } = parsed;
    return exceedsLimit ? { tooLong: syntax } : { source, syntax: `${failureText}: ${syntax}` };
  }
  try {
    return { text: parsed.render(data, options) };
  } catch (failure) {
    if (failure instanceof TooLongError) return { tooLong: failure.message };
    if (!(failure instanceof MustachexError)) throw failure;
    return { source, syntax: `${failureText}: ${failure.message}` };
  }
}

/** A rendered page in its layout, if there is one. */
function inLayout(layoutBody: ParsedBody | null, data: ServerMail['data'], page: RenderedBody | null) {
  if (layoutBody === null || page === null || !('text' in page)) return page;
  return renderBody(layoutBody, data, { html: true, partials: { [layout.partial]: page.text } });
}

function sectionsOf(parts: readonly Part[]): string[] {
  const names = parts.flatMap((part) =>
    part.kind === 'section' ? [...(part.name === '.' ? [] : [part.name]), ...sectionsOf(part.parts)] : [],
  );
  return [...new Set(names)];
}

/** The sets of hidden sections: none first, all last. */
function* combinations(sections: readonly string[]): Generator<ReadonlySet<string>> {
  if (sections.length <= maxCombinedSections) {
    for (let bits = 0; bits < 2 ** sections.length; bits += 1)
      yield new Set(sections.filter((_, index) => (bits >> index) % 2 === 1));
    return;
  }
  yield new Set();
  yield new Set(sections);
  for (const section of sections) yield new Set([section]);
  for (const section of sections) yield new Set(sections.filter((other) => other !== section));
}

/** The number of sets that `combinations` yields. */
function countCombinations({ length }: readonly string[]): number {
  return length <= maxCombinedSections ? 2 ** length : 2 + 2 * length;
}

function sectionsLabel(sections: readonly string[], absent: ReadonlySet<string>): string {
  const shown = sections.filter((section) => !absent.has(section));
  const hidden = sections.filter((section) => absent.has(section));
  if (sections.length > maxCombinedSections) {
    if (hidden.length === 0) return 'with every section';
    if (shown.length === 0) return 'without any section';
    return hidden.length < shown.length ? `without ${hidden.join(', ')}` : `only with ${shown.join(', ')}`;
  }
  return [
    ...(shown.length > 0 ? [`with ${shown.join(', ')}`] : []),
    ...(hidden.length > 0 ? [`without ${hidden.join(', ')}`] : []),
  ].join(', ');
}

/** A sample with generated values for the names that it lacks. */
function completeSample(parts: readonly Part[], sample: SampleData): SampleData {
  const names = placeholdersOf(parts).flatMap(({ name, section }) => (section ? [] : [name]));
  const variables = new Set(names);
  const sections = new Set(sectionsOf(parts));
  const data = generateData(parts, sample, variables);
  // An empty value of a section is ignored, since variants show hidden sections anyway.
  const isEmpty = (value: Json) => !value || (Array.isArray(value) && value.length === 0);
  mergeInto(
    data,
    sample as DataTree,
    (before, value, path) => before === undefined || !sections.has(path) || !isEmpty(value),
  );
  return data;
}

/** The server's values, overridden by sample data. The sample can only add keys of metadata. */
function serverData(parts: readonly Part[], sample: SampleData, { data }: ServerMail): ServerMail['data'] {
  return overlay(withUsedMetadata(data, parts), sample) as ServerMail['data'];
}

function overlay(base: TemplateValue, sample: Json): TemplateValue {
  if (!isMap(base) || base instanceof Opaque || !isMap(sample)) return base instanceof Opaque ? base : sample;
  const isOpen = Object.keys(base).length === 0;
  const over = Object.entries(sample as DataTree).filter(([name]) => isOpen || Object.hasOwn(base, name));
  const members = base as { readonly [name: string]: TemplateValue };
  return {
    ...members,
    ...Object.fromEntries(over.map(([name, value]) => [name, overlay(members[name], value)])),
  };
}

type DataTree = { [name: string]: Json };

/** Values for the names that the sample lacks. */
function generateData(parts: readonly Part[], sample: SampleData, variables: ReadonlySet<string>): DataTree {
  const tree: DataTree = {};
  for (const part of parts) {
    if (part.kind === 'text' || part.kind === 'partial' || part.name === '.') continue;
    const path = part.name.split('.');
    if (part.kind === 'variable') {
      // A section can use values from outside it.
      if (valueAt(sample, path) === undefined) setAt(tree, path, exampleValue(part.name));
      continue;
    }
    const inner = generateData(part.parts, sample, variables);
    const isVariable = variables.has(part.name);
    if (part.inverted || isVariable) {
      mergeInto(tree, inner, isMissing);
      setAt(tree, path, isVariable ? exampleValue(part.name) : true);
    } else if (part.parts.some((inner) => inner.kind === 'variable' && inner.name === '.')) {
      setAt(tree, path, ['first', 'second']);
    } else {
      setAt(tree, path, Object.keys(inner).length === 0 ? true : inner);
    }
  }
  return tree;
}

/** Whether a value replaces `before`, the value at the path; undefined if there is none. */
type Replaces = (before: Json | undefined, value: Json, path: string) => boolean;

const isMissing: Replaces = (before) => before === undefined;

/** Merges `over` into `tree` in place, which is faster for thousands of sections with one name. */
function mergeInto(tree: DataTree, over: DataTree, replaces: Replaces, under = ''): void {
  for (const [name, value] of Object.entries(over)) {
    const before = Object.hasOwn(tree, name) ? tree[name] : undefined;
    const path = `${under}${name}`;
    if (isMap(before) && isMap(value)) mergeInto(before as DataTree, value as DataTree, replaces, `${path}.`);
    else if (replaces(before, value, path)) define(tree, name, value);
  }
}

function setAt(tree: DataTree, path: readonly string[], value: Json): void {
  const [step = '', ...rest] = path;
  const before = Object.hasOwn(tree, step) ? tree[step] : undefined;
  if (rest.length > 0) {
    const inner: DataTree = isMap(before) ? (before as DataTree) : {};
    setAt(inner, rest, value);
    define(tree, step, inner);
  } else if (isMap(before) && isMap(value)) {
    mergeInto(before as DataTree, value as DataTree, () => true);
  } else if (before === undefined || before === true) {
    define(tree, step, value);
  }
}
