import { nearest } from '../base/nearest.js';
import type { Span } from '../base/problems.js';
import { isMap } from '../base/values.js';
import { firstFew, shorten } from '../base/words.js';
import { formFindings, htmlFindings } from './html-checks.js';
import { limits } from './limits.js';
import { changedLinks } from './links.js';
import { type MustachexTemplate, parseMustachex } from './mustachex.js';
import { missingFrom, type Placeholder, placeholdersOf, written } from './placeholders.js';
import { isPage, type MailOf, ofBareUser, withMetadata } from './servers.js';
import type { CheckCode } from './settings.js';
import { type MustacheTemplate, parseMustache, type SyntaxProblem, type TemplateBodies } from './template.js';
import { addressAttributes, parseBody } from './tree.js';

/** The number of unknown names that are reported one by one. */
const unknownAtMost = 10;

const bodyNames = ['txt', 'html'] as const;

export type BodyName = (typeof bodyNames)[number];

/** Something about an email that a reviewer should know. */
export interface TemplateFinding {
  readonly code: CheckCode;
  readonly message: string;
  /** The body; null for both. */
  readonly body: BodyName | null;
  /** The places in each body. */
  readonly at?: { readonly [body in BodyName]?: readonly Span[] };
  /** It is about the server's present body, so it is never more than a warning. */
  readonly live?: true;
  /** Whether the server would send no mail, or one without its link. */
  readonly fatal?: true;
}

export interface CheckedTemplate {
  readonly before?: TemplateBodies;
  readonly after: TemplateBodies;
  /** The values that the server fills in; undefined if unknown. */
  readonly mail?: MailOf | undefined;
}

type ParsedBody = MustacheTemplate | MustachexTemplate | SyntaxProblem;
type ParsedBodies = { readonly [body in BodyName]: ParsedBody | undefined };

/**
 * Checks an email's bodies, and their change if `before` is given. Unknown and absent bodies aren't checked.
 */
export function checkTemplate({ before, after, mail }: CheckedTemplate): TemplateFinding[] {
  const parse = mail === undefined ? parseMustache : parseMustachex;
  const parsed = (body: string | null | undefined) => (present(body) ? parse(body) : undefined);
  const now = { txt: parsed(after.txt), html: parsed(after.html) };
  const had = { txt: parsed(before?.txt), html: parsed(before?.html) };
  return [
    ...bodyNames.flatMap((body) => lost(body, had, now, mail)),
    ...changed(before ?? {}, after, mail),
    ...bodyNames.flatMap((body) => unreadLive(body, had, now, mail)),
    ...bodyNames.flatMap((body) => syntax(body, now[body], mail)),
    ...mismatch(now),
    ...(mail === undefined ? [] : examined(after, now, mail)),
    ...(present(after.txt) && after.txt.length <= limits.bodyCharacters ? insecureText(after.txt) : []),
    ...(present(after.html) ? (isPage(mail) ? formFindings : htmlFindings)(after.html) : []).map(
      ({ at, ...finding }) => ({ ...finding, body: 'html' as const, ...within('html', at) }),
    ),
  ];
}

/** A body in words. */
function called(body: BodyName, mail: MailOf | undefined): string {
  return isPage(mail) ? 'content' : `${body} body`;
}

function within(body: BodyName, at: readonly Span[]): Pick<TemplateFinding, 'at'> {
  return at.length === 0 ? {} : { at: { [body]: at } };
}

function present(body: string | null | undefined): body is string {
  return typeof body === 'string' && body.trim() !== '';
}

function names(template: ParsedBody | undefined): Placeholder[] | undefined {
  return template === undefined || 'syntax' in template ? undefined : placeholdersOf(template.parts);
}

function lost(body: BodyName, had: ParsedBodies, now: ParsedBodies, mail?: MailOf): TemplateFinding[] {
  const before = names(had[body]);
  const after = names(now[body]);
  if (after === undefined || before === undefined) return [];
  const gone = missingFrom(after, before);
  if (gone.length === 0) return [];
  const message = `the new ${called(body, mail)} lost ${list(gone)}, which the present one has`;
  return [{ code: 'lost-placeholder', message, body }];
}

function changed(before: TemplateBodies, after: TemplateBodies, mail?: MailOf): TemplateFinding[] {
  const links = changedLinks(before, after).filter(({ elsewhere }) => elsewhere);
  return bodyNames.flatMap((body): TemplateFinding[] => {
    const ones = links.filter((link) => link.body === body);
    if (ones.length === 0) return [];
    const told = ones.map(({ from, to }) => (from === null ? `a new link to ${to}` : `${from} → ${to}`));
    const message = `the new ${called(body, mail)} leads elsewhere: ${firstFew([...new Set(told)], 5)}`;
    const at = ones.flatMap((one) => one.at ?? []);
    return [{ code: 'changed-link', message, body, ...within(body, at) }];
  });
}

function syntax(body: BodyName, template: ParsedBody | undefined, mail?: MailOf): TemplateFinding[] {
  if (template === undefined || !('syntax' in template)) return [];
  const at = template.at === undefined ? [] : [template.at];
  if (template.limit) return [tooLarge(body, template.syntax, at, mail)];
  if (mail !== undefined) return [unsent(body, template.syntax, at, mail)];
  const message = `the ${called(body, mail)} is not a Mustache template: ${template.syntax}`;
  return [{ code: 'template-syntax', message, body, ...within(body, at) }];
}

function tooLarge(body: BodyName, why: string, at: readonly Span[], mail?: MailOf): TemplateFinding {
  const message = `the ${called(body, mail)} can't be checked or rendered: ${why}; shorten it, or look at what is sent yourself`;
  return { code: 'body-too-large', message, body, ...within(body, at) };
}

function unsent(body: BodyName, why: string, at: readonly Span[], mail: MailOf): TemplateFinding {
  const message = isPage(mail)
    ? `with this content the server answers 500 in place of the page: ${why}`
    : `with this ${body} body the server sends no mail: ${why}`;
  return { code: 'template-syntax', message, body, ...within(body, at), fatal: true };
}

/** Renders the bodies with every value that the server fills in: finds what raises, what is empty, and a missing link. */
function examined(bodies: TemplateBodies, parsed: ParsedBodies, mail: MailOf): TemplateFinding[] {
  const findings: TemplateFinding[] = [];
  const texts: string[] = [];
  const bare: string[] = [];
  const strays: TemplateFinding[] = [];
  const empty = new Map<string, { readonly hint: string; readonly at: { [body in BodyName]?: Span[] } }>();
  for (const body of bodyNames) {
    const template = parsed[body];
    if (template === undefined || !('examine' in template)) continue;
    const made = template.examine(withMetadata(mail.data, template.parts), mail.partials);
    if ('tooLong' in made) {
      findings.push(tooLarge(body, made.tooLong, [], mail));
      continue;
    }
    for (const { name, section, at, raises, prints } of made.findings) {
      const tag = shorten(bodies[body]?.slice(at.start, at.end) ?? '');
      if (raises !== undefined) findings.push(unsent(body, raises, [at], mail));
      else if (prints !== undefined) {
        const message = `the ${called(body, mail)} has ${tag}, which ends no section: the server prints ${prints}`;
        strays.push({ code: 'template-syntax', message, body, ...within(body, [at]) });
      } else if (!isPage(mail) || !Object.hasOwn(mail.data, name.trim())) {
        // What a page shows may depend on what the user did.
        const found = empty.get(tag) ?? { hint: identify(name, section, mail), at: {} };
        found.at[body] = [...(found.at[body] ?? []), at];
        empty.set(tag, found);
      }
    }
    const seen = body === 'html' ? seenIn : (text: string) => text;
    texts.push(seen(made.text));
    const least = template.examine(ofBareUser(mail.data), mail.partials);
    if ('text' in least) bare.push(seen(least.text));
  }
  const { link } = mail;
  const isWhole = bodies.txt !== undefined && bodies.html !== undefined && texts.length > 0;
  const lacks = (all: readonly string[]): boolean =>
    !all.some((text) => text.includes(String(mail.data[link ?? ''])));
  if (link !== undefined && isWhole && findings.length === 0 && (lacks(texts) || lacks(bare))) {
    const who = lacks(texts) ? '' : ' to a user without a group or metadata';
    const message = `no body shows {{ ${link} }}${who}, so the mail comes without what it is for`;
    findings.push({ code: 'missing-link', message, body: null, fatal: true });
  }
  const isShown = (part: string): boolean => texts.some((text) => text.includes(part));
  const unused = Object.entries(mail.partials ?? {}).filter(([, part]) => !isShown(part));
  if (texts.length > 0 && findings.length === 0)
    for (const [name] of unused) {
      const message = `the content doesn't show {{> ${name} }}, so there is nothing on any page`;
      findings.push({ code: 'missing-link', message, body: 'html', fatal: true });
    }
  const emptyOnes = [...empty].map(([tag, { hint, at }]) =>
    unknownName(at, mail, `${tag}, which is empty on this server${hint}`),
  );
  return [...findings, ...strays, ...firstOf(emptyOnes)];
}

/** What a reader sees or can follow in HTML: its text and addresses. */
function seenIn(html: string): string {
  const tree = parseBody(html, { located: false });
  if ('refused' in tree) return html;
  const hidden = new Set(['style', 'script', 'title', 'template']);
  return tree.elements
    .filter(({ tagName }) => !hidden.has(tagName))
    .flatMap(({ attrs, childNodes }) => [
      ...attrs.filter(({ name }) => addressAttributes.has(name)).map(({ value }) => value),
      ...childNodes.flatMap((node) => ('value' in node ? node.value : [])),
    ])
    .join('\n');
}

/** A finding about a name that isn't filled in; `what` is the object of the sentence. */
function unknownName(at: { readonly [body in BodyName]?: readonly Span[] }, mail: MailOf, what: string) {
  const body: BodyName | null = at.txt === undefined ? 'html' : at.html === undefined ? 'txt' : null;
  const where = body === null ? 'the bodies have' : `the ${called(body, mail)} has`;
  return { code: 'unknown-placeholder' as const, message: `${where} ${what}`, body, at };
}

/** A hint about a name that the server leaves empty, for the end of a sentence. */
function identify(name: string, section: boolean, { data, link }: MailOf): string {
  const known = namesOf(data);
  const bare = name.replace(/\s/g, '');
  if (!section && bare === link) return '; an inverted section has nothing to fill in';
  if (bare !== name && known.includes(bare)) return '; write the name without spaces';
  const longer = known.find((one) => /[._]/.test(one.at(-bare.length - 1) ?? '') && one.endsWith(bare));
  const similar =
    /(?:^|[._])(?:url|uri|link|href|code)$/.test(bare) && link !== undefined
      ? link
      : (longer ?? nearest(bare, known));
  return similar === undefined ? '' : `; did you mean ${shorten(written({ section, name: similar }))}?`;
}

/** All names in the data: `user`, `user.username`. */
function namesOf(data: MailOf['data']): string[] {
  return Object.entries(data).flatMap(([name, value]) =>
    isMap(value) ? [name, ...namesOf(value as MailOf['data']).map((inner) => `${name}.${inner}`)] : [name],
  );
}

/** The first findings; the last one counts the others, and has their places. */
function firstOf(findings: readonly TemplateFinding[]): TemplateFinding[] {
  const more = findings.length - unknownAtMost;
  if (more <= 0) return [...findings];
  return findings.slice(0, unknownAtMost).map((finding, index) => {
    if (index < unknownAtMost - 1) return finding;
    const at = together(findings.slice(index).map((one) => one.at ?? {}));
    return { ...finding, message: `${finding.message} (and ${more} more such names)`, at };
  });
}

/** A finding about a live body that is too large to be compared with the new one. */
function unreadLive(body: BodyName, had: ParsedBodies, now: ParsedBodies, mail?: MailOf): TemplateFinding[] {
  const live = had[body];
  if (names(now[body]) === undefined || live === undefined || !('syntax' in live) || !live.limit) return [];
  const message = `the present ${called(body, mail)} can't be checked or rendered: ${live.syntax}; check by hand whether the new one lost a placeholder`;
  return [{ code: 'body-too-large', message, body, live: true }];
}

function mismatch({ txt, html }: ParsedBodies): TemplateFinding[] {
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
  const at = together([{ txt: spotsOf(onlyTxt), html: spotsOf(onlyHtml) }]);
  return [{ code: 'placeholder-mismatch', message: parts.join(', '), body: null, at }];
}

/** Mail clients turn addresses in plain text into links. */
function insecureText(body: string): TemplateFinding[] {
  const found = [...body.matchAll(/\bhttp:\/\/[^\s<>"]+/gi)];
  if (found.length === 0) return [];
  const addresses = new Set(found.map(([address]) => address));
  const message = `the txt body leads to ${firstFew([...addresses].map(shorten), 5)} without https`;
  const at = found.map(({ 0: address, index }) => ({ start: index, end: index + address.length }));
  return [{ code: 'insecure-link', message, body: 'txt', at: { txt: at } }];
}

function spotsOf(placeholders: readonly Placeholder[]): Span[] {
  return placeholders.flatMap(({ at }) => at);
}

/** The places of several findings, without a body that has none. */
function together(all: readonly NonNullable<TemplateFinding['at']>[]): NonNullable<TemplateFinding['at']> {
  const txt = all.flatMap(({ txt = [] }) => txt);
  const html = all.flatMap(({ html = [] }) => html);
  return { ...within('txt', txt).at, ...within('html', html).at };
}

function list(placeholders: readonly Placeholder[]): string {
  const names = placeholders.map((placeholder) => shorten(written(placeholder)));
  return firstFew(names, 5);
}
