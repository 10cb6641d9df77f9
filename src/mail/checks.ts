import type { Span } from '../base/span.js';
import { htmlFindings } from './html-checks.js';
import { type KnownPlaceholders, unknownPlaceholders } from './known.js';
import { limits } from './limits.js';
import { changedLinks } from './links.js';
import { missingFrom, type Placeholder, placeholdersOf, written } from './placeholders.js';
import type { CheckCode } from './settings.js';
import { type MustacheTemplate, parseMustache, type SyntaxProblem } from './template.js';
import { short, some } from './words.js';

/** So many names that nothing fills in are told one by one. */
const unknownAtMost = 10;

/** The two bodies of an email; undefined where one isn't known, null where there is none. */
export interface TemplateBodies {
  readonly txt?: string | null | undefined;
  readonly html?: string | null | undefined;
}

export type BodyName = 'txt' | 'html';

/** Something about an email that a reviewer should know. */
export interface TemplateFinding {
  readonly code: CheckCode;
  readonly message: string;
  /** The body that it is about; null where it is about both. */
  readonly body: BodyName | null;
  /** Everything that it is about in each body. */
  readonly at?: { readonly [body in BodyName]?: readonly Span[] };
  /** It is about the body that the server has, which nobody can be asked to mend first: never more than a warning. */
  readonly live?: true;
}

/** An email to check, and what is known of those who fill it in. */
export interface CheckedTemplate {
  readonly before?: TemplateBodies;
  readonly after: TemplateBodies;
  /** The placeholders of its type; left out where none are known. */
  readonly known?: KnownPlaceholders | undefined;
}

type ParsedBody = MustacheTemplate | SyntaxProblem;
type ParsedBodies = { readonly [body in BodyName]: ParsedBody | undefined };

/**
 * Everything that is questionable about an email's bodies, and about their change where `before` is given.
 * A body that isn't known or isn't there is not checked.
 */
export function checkTemplate({ before, after, known }: CheckedTemplate): TemplateFinding[] {
  const txt = parsed(after.txt);
  const html = parsed(after.html);
  const had = { txt: parsed(before?.txt), html: parsed(before?.html) };
  return [
    ...lost('txt', had.txt, txt),
    ...lost('html', had.html, html),
    ...changed(before ?? {}, after),
    ...unreadLive('txt', had.txt, txt),
    ...unreadLive('html', had.html, html),
    ...syntax('txt', txt),
    ...syntax('html', html),
    ...mismatch(txt, html),
    ...(known === undefined ? [] : unknown({ txt, html }, had, known)),
    ...(present(after.txt) && after.txt.length <= limits.bodyCharacters ? insecureText(after.txt) : []),
    ...(present(after.html)
      ? htmlFindings(after.html).map(({ at, ...finding }) => ({
          ...finding,
          body: 'html' as const,
          ...within('html', at),
        }))
      : []),
  ];
}

function within(body: BodyName, at: readonly Span[]): Pick<TemplateFinding, 'at'> {
  return at.length === 0 ? {} : { at: { [body]: at } };
}

function present(body: string | null | undefined): body is string {
  return typeof body === 'string' && body.trim() !== '';
}

function parsed(body: string | null | undefined): ParsedBody | undefined {
  return present(body) ? parseMustache(body) : undefined;
}

function names(template: ParsedBody | undefined): Placeholder[] | undefined {
  return template === undefined || 'syntax' in template ? undefined : placeholdersOf(template.parts);
}

function lost(
  body: BodyName,
  before: ParsedBody | undefined,
  after: ParsedBody | undefined,
): TemplateFinding[] {
  const now = names(after);
  const had = names(before);
  if (now === undefined || had === undefined) return [];
  const gone = missingFrom(now, had);
  if (gone.length === 0) return [];
  const message = `the new ${body} body lost ${list(gone)}, which the present one has`;
  return [{ code: 'lost-placeholder', message, body }];
}

function changed(before: TemplateBodies, after: TemplateBodies): TemplateFinding[] {
  const links = changedLinks(before, after).filter(({ elsewhere }) => elsewhere);
  return (['txt', 'html'] as const).flatMap((body): TemplateFinding[] => {
    const ones = links.filter((link) => link.body === body);
    if (ones.length === 0) return [];
    const told = ones.map(({ from, to }) => (from === null ? `a new link to ${to}` : `${from} → ${to}`));
    const message = `the new ${body} body leads elsewhere: ${some([...new Set(told)])}`;
    return [
      {
        code: 'changed-link',
        message,
        body,
        ...within(
          body,
          ones.flatMap(({ at }) => at ?? []),
        ),
      },
    ];
  });
}

function syntax(body: BodyName, template: ParsedBody | undefined): TemplateFinding[] {
  if (template === undefined || !('syntax' in template)) return [];
  const at = template.at === undefined ? [] : [template.at];
  if (template.limit) {
    const message = `the ${body} body can't be checked or rendered: ${template.syntax}; shorten it, or look at what is sent yourself`;
    return [{ code: 'body-too-large', message, body, ...within(body, at) }];
  }
  const message = `the ${body} body is not a Mustache template: ${template.syntax}`;
  return [{ code: 'template-syntax', message, body, ...within(body, at) }];
}

/** A live body that can't be compared with the new one, where that could be. */
function unreadLive(
  body: BodyName,
  had: ParsedBody | undefined,
  after: ParsedBody | undefined,
): TemplateFinding[] {
  if (names(after) === undefined || had === undefined || !('syntax' in had) || !had.limit) return [];
  const message = `the present ${body} body can't be checked or rendered: ${had.syntax}; look yourself whether the new one lost a placeholder`;
  return [{ code: 'body-too-large', message, body, live: true }];
}

function mismatch(txt: ParsedBody | undefined, html: ParsedBody | undefined): TemplateFinding[] {
  const inTxt = names(txt);
  const inHtml = names(html);
  if (inTxt === undefined || inHtml === undefined) return [];
  const onlyTxt = missingFrom(inHtml, inTxt);
  const onlyHtml = missingFrom(inTxt, inHtml);
  const parts = [
    ...(onlyTxt.length > 0 ? [`only the txt body has ${list(onlyTxt)}`] : []),
    ...(onlyHtml.length > 0 ? [`only the html body has ${list(onlyHtml)}`] : []),
  ];
  if (parts.length === 0) return [];
  const at = {
    ...within('txt', spotsOf(onlyTxt)).at,
    ...within('html', spotsOf(onlyHtml)).at,
  };
  return [{ code: 'placeholder-mismatch', message: parts.join(', '), body: null, at }];
}

/** What the present bodies have is known to somebody, if not to idops. */
function unknown(after: ParsedBodies, had: ParsedBodies, known: KnownPlaceholders): TemplateFinding[] {
  const live = [had.txt, had.html].flatMap((body) => names(body) ?? []);
  const all = known.with(live.flatMap(({ meanings }) => meanings));
  const found = new Map<
    string,
    { readonly one: Placeholder; readonly at: { [body in BodyName]?: readonly Span[] } }
  >();
  for (const body of ['txt', 'html'] as const) {
    const template = after[body];
    if (template === undefined || 'syntax' in template) continue;
    for (const one of unknownPlaceholders(template.parts, all)) {
      const { at } = found.get(one.name) ?? { at: {} };
      found.set(one.name, { one, at: { ...at, [body]: one.at } });
    }
  }
  const [told, untold] = [
    [...found.values()].slice(0, unknownAtMost),
    [...found.values()].slice(unknownAtMost),
  ];
  return told.map(({ one, at }, index): TemplateFinding => {
    const similar = known.nearest(one.name);
    const rest = index === unknownAtMost - 1 ? untold : [];
    const more = rest.length;
    const body = at.txt === undefined ? 'html' : at.html === undefined ? 'txt' : null;
    const where = body === null ? 'the bodies have' : `the ${body} body has`;
    const hint = similar === undefined ? '' : `, did you mean ${short(written({ ...one, name: similar }))}?`;
    const others = more > 0 ? ` (and ${more} more such names)` : '';
    const message = `${where} ${short(written(one))}, which nothing is known to fill in for ${known.type}${hint}${others}`;
    return {
      code: 'unknown-placeholder',
      message,
      body,
      at: together([at, ...rest.map((other) => other.at)]),
    };
  });
}

/** Mail programs make a link of an address in plain text too. */
function insecureText(body: string): TemplateFinding[] {
  const found = [...body.matchAll(/\bhttp:\/\/[^\s<>"]+/gi)];
  if (found.length === 0) return [];
  const addresses = new Set(found.map(([address]) => address));
  const message = `the txt body leads to ${some([...addresses].map(short))} without https`;
  const at = found.map(({ 0: address, index }) => ({ start: index, end: index + address.length }));
  return [{ code: 'insecure-link', message, body: 'txt', at: { txt: at } }];
}

function spotsOf(placeholders: readonly Placeholder[]): Span[] {
  return placeholders.flatMap(({ at }) => at);
}

function together(all: readonly NonNullable<TemplateFinding['at']>[]): NonNullable<TemplateFinding['at']> {
  const txt = all.flatMap(({ txt = [] }) => txt);
  const html = all.flatMap(({ html = [] }) => html);
  return { ...within('txt', txt).at, ...within('html', html).at };
}

function list(placeholders: readonly Placeholder[]): string {
  return some(placeholders.map((placeholder) => short(written(placeholder))));
}
