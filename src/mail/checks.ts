import { inspectHtml } from './html.js';
import { limits } from './limits.js';
import { missingFrom, type Placeholder, placeholdersOf, written } from './placeholders.js';
import type { CheckCode } from './settings.js';
import { type MustacheTemplate, parseMustache, type SyntaxProblem } from './template.js';

/** Gmail clips what is longer, and others follow it. */
const clippedBytes = 102 * 1024;
/** More names than this say no more. */
const namedAtMost = 5;

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
    ...(present(after.html) ? htmlFindings(after.html) : []),
  ];
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
    return [{ code: 'body-too-large', message, body }];
  }
  const message = `the ${body} body is not a Mustache template: ${template.syntax}`;
  return [{ code: 'template-syntax', message, body }];
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
  return parts.length === 0 ? [] : [{ code: 'placeholder-mismatch', message: parts.join(', '), body: null }];
}

function htmlFindings(body: string): TemplateFinding[] {
  const found: TemplateFinding[] = [];
  const add = (code: CheckCode, message: string) => found.push({ code, message, body: 'html' });
  const facts = inspectHtml(body);
  // That a body has too many characters is told of each, whatever is in it.
  if ('refused' in facts) {
    if (body.length <= limits.bodyCharacters)
      add('html-nesting', `the html body is ${facts.refused}, so nothing else is said about it`);
  } else if (facts.active.length > 0) {
    add(
      'html-script',
      `the html body has ${some(facts.active.map(short))}, which mail clients remove or distrust`,
    );
  }
  const bytes = Buffer.byteLength(body);
  if (bytes > clippedBytes) {
    const size = (bytes / 1024).toFixed(1);
    add('html-too-large', `the html body has ${size} KB, and mail clients clip what is longer than 102 KB`);
  }
  if ('refused' in facts) return found;
  const foreign = facts.charsets.filter((charset) => !['utf-8', 'utf8'].includes(charset));
  if (foreign.length > 0) {
    add('html-charset', `the html body says that it is ${some(foreign.map(short))}, and it is sent as UTF-8`);
  } else if (facts.charsets.length === 0) {
    add('html-charset', 'the html body declares no character set: <meta charset="utf-8"> is missing');
  }
  const images = facts.imagesWithoutAlt;
  if (images.length > 0) {
    const many =
      images.length === 1 ? '1 image without alt text' : `${images.length} images without alt text`;
    const sources = [...new Set(images)].filter((source) => source !== '').map(short);
    add('image-without-alt', `the html body has ${many}${sources.length > 0 ? `: ${some(sources)}` : ''}`);
  }
  return found;
}

function list(placeholders: readonly Placeholder[]): string {
  return some(placeholders.map((placeholder) => short(written(placeholder))));
}

function some(items: readonly string[]): string {
  const more = items.length - namedAtMost;
  return `${items.slice(0, namedAtMost).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function short(text: string): string {
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
