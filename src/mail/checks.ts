import type { Span } from '../base/span.js';
import { htmlFindings } from './html-checks.js';
import { missingFrom, type Placeholder, placeholdersOf, written } from './placeholders.js';
import type { CheckCode } from './settings.js';
import { type MustacheTemplate, parseMustache, type SyntaxProblem } from './template.js';
import { short, some } from './words.js';

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
  /** What it is about in each body, where one place is the first or the only one. */
  readonly at?: { readonly [body in BodyName]?: Span };
  /** It is about the body that the server has, which nobody can be asked to mend first: never more than a warning. */
  readonly live?: true;
}

type ParsedBody = MustacheTemplate | SyntaxProblem;

/**
 * Everything that is questionable about an email's bodies, and about their change where `before` is given.
 * A body that isn't known or isn't there is not checked.
 */
export function checkTemplate({
  before,
  after,
}: {
  readonly before?: TemplateBodies;
  readonly after: TemplateBodies;
}): TemplateFinding[] {
  const txt = parsed(after.txt);
  const html = parsed(after.html);
  return [
    ...lost('txt', before?.txt, txt),
    ...lost('html', before?.html, html),
    ...unreadLive('txt', before?.txt, txt),
    ...unreadLive('html', before?.html, html),
    ...syntax('txt', txt),
    ...syntax('html', html),
    ...mismatch(txt, html),
    ...(present(after.txt) ? insecureText(after.txt) : []),
    ...(present(after.html)
      ? htmlFindings(after.html).map(({ at, ...finding }) => ({
          ...finding,
          body: 'html' as const,
          ...within('html', at),
        }))
      : []),
  ];
}

function within(body: BodyName, at: Span | undefined): Pick<TemplateFinding, 'at'> {
  return at === undefined ? {} : { at: { [body]: at } };
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
  before: string | null | undefined,
  after: ParsedBody | undefined,
): TemplateFinding[] {
  const now = names(after);
  const had = now === undefined ? undefined : names(parsed(before));
  if (now === undefined || had === undefined) return [];
  const gone = missingFrom(now, had);
  if (gone.length === 0) return [];
  const message = `the new ${body} body lost ${list(gone)}, which the present one has`;
  return [{ code: 'lost-placeholder', message, body }];
}

function syntax(body: BodyName, template: ParsedBody | undefined): TemplateFinding[] {
  if (template === undefined || !('syntax' in template)) return [];
  if (template.limit) {
    const message = `the ${body} body can't be checked or rendered: ${template.syntax}; shorten it, or look at what is sent yourself`;
    return [{ code: 'body-too-large', message, body, ...within(body, template.at) }];
  }
  const message = `the ${body} body is not a Mustache template: ${template.syntax}`;
  return [{ code: 'template-syntax', message, body, ...within(body, template.at) }];
}

/** A live body that can't be compared with the new one, where that could be. */
function unreadLive(
  body: BodyName,
  before: string | null | undefined,
  after: ParsedBody | undefined,
): TemplateFinding[] {
  const had = names(after) === undefined ? undefined : parsed(before);
  if (had === undefined || !('syntax' in had) || !had.limit) return [];
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
  const at = { ...within('txt', onlyTxt[0]?.at).at, ...within('html', onlyHtml[0]?.at).at };
  return [{ code: 'placeholder-mismatch', message: parts.join(', '), body: null, at }];
}

/** Mail programs make a link of an address in plain text too. */
function insecureText(body: string): TemplateFinding[] {
  const found = new Map<string, Span>();
  for (const { 0: address, index } of body.matchAll(/\bhttp:\/\/[^\s<>"]+/gi)) {
    if (!found.has(address)) found.set(address, { start: index, end: index + address.length });
  }
  const [first] = found.values();
  if (first === undefined) return [];
  const message = `the txt body leads to ${some([...found.keys()].map(short))} without https`;
  return [{ code: 'insecure-link', message, body: 'txt', at: { txt: first } }];
}

function list(placeholders: readonly Placeholder[]): string {
  return some(placeholders.map((placeholder) => short(written(placeholder))));
}
