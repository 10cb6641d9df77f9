import { nearest } from '../base/nearest.js';
import type { Span } from '../base/problems.js';
import { isMap } from '../base/values.js';
import { firstFew, shorten } from '../base/words.js';
import { formFindings, htmlFindings } from './html-checks.js';
import { limits } from './limits.js';
import { changedLinks } from './links.js';
import { type MustachexTemplate, parseMustachex } from './mustachex.js';
import { missingFrom, type Placeholder, placeholdersOf, placeholderText } from './placeholders.js';
import { isPage, type ServerMail, withMinimalUser, withUsedMetadata } from './servers.js';
import type { CheckCode } from './settings.js';
import { type MustacheTemplate, parseMustache, type SyntaxProblem, type TemplateBodies } from './template.js';
import { addressAttributes, parseBody } from './tree.js';

/** At most so many unknown names are reported one by one. */
const maxUnknownNames = 10;

const bodyNames = ['txt', 'html'] as const;

export type BodyName = (typeof bodyNames)[number];

/** A finding about an email that a reviewer should know. */
export interface TemplateFinding {
  readonly code: CheckCode;
  readonly message: string;
  /** The body; null for both. */
  readonly body: BodyName | null;
  /** The places, by body. */
  readonly at?: { readonly [body in BodyName]?: readonly Span[] };
  /** The finding is about the server's present body, so it is a warning at most. */
  readonly live?: true;
  /** The server would send no mail, or one without its link. */
  readonly fatal?: true;
}

export interface CheckedTemplate {
  readonly before?: TemplateBodies;
  readonly after: TemplateBodies;
  /** The values that the server fills in; undefined if unknown. */
  readonly mail?: ServerMail | undefined;
}

type ParsedBody = MustacheTemplate | MustachexTemplate | SyntaxProblem;
type ParsedBodies = { readonly [body in BodyName]: ParsedBody | undefined };

/** Checks the bodies of an email, and their change if `before` is given. Unknown and absent bodies aren't checked. */
export function checkTemplate({ before, after, mail }: CheckedTemplate): TemplateFinding[] {
  const parse = mail === undefined ? parseMustache : parseMustachex;
  const parseIfText = (body: string | null | undefined) => (hasText(body) ? parse(body) : undefined);
  const parsedAfter = { txt: parseIfText(after.txt), html: parseIfText(after.html) };
  const parsedBefore = { txt: parseIfText(before?.txt), html: parseIfText(before?.html) };
  return [
    ...bodyNames.flatMap((body) => lostPlaceholders(body, parsedBefore, parsedAfter, mail)),
    ...changedLinkFindings(before ?? {}, after, mail),
    ...bodyNames.flatMap((body) => liveBodyTooLarge(body, parsedBefore, parsedAfter, mail)),
    ...bodyNames.flatMap((body) => syntaxFindings(body, parsedAfter[body], mail)),
    ...mismatchFindings(parsedAfter),
    ...(mail === undefined ? [] : renderFindings(after, parsedAfter, mail)),
    ...(hasText(after.txt) && after.txt.length <= limits.bodyCharacters ? insecureText(after.txt) : []),
    ...(hasText(after.html) ? (isPage(mail) ? formFindings : htmlFindings)(after.html) : []).map(
      ({ at, ...finding }) => ({ ...finding, body: 'html' as const, ...placesIn('html', at) }),
    ),
  ];
}

/** What messages call a body. */
function bodyNoun(body: BodyName, mail: ServerMail | undefined): string {
  return isPage(mail) ? 'content' : `${body} body`;
}

function placesIn(body: BodyName, at: readonly Span[]): Pick<TemplateFinding, 'at'> {
  return at.length === 0 ? {} : { at: { [body]: at } };
}

function hasText(body: string | null | undefined): body is string {
  return typeof body === 'string' && body.trim() !== '';
}

function placeholdersIn(template: ParsedBody | undefined): Placeholder[] | undefined {
  return template === undefined || 'syntax' in template ? undefined : placeholdersOf(template.parts);
}

function lostPlaceholders(
  body: BodyName,
  parsedBefore: ParsedBodies,
  parsedAfter: ParsedBodies,
  mail?: ServerMail,
): TemplateFinding[] {
  const before = placeholdersIn(parsedBefore[body]);
  const after = placeholdersIn(parsedAfter[body]);
  if (after === undefined || before === undefined) return [];
  const missing = missingFrom(after, before);
  if (missing.length === 0) return [];
  const message = `the new ${bodyNoun(body, mail)} lost ${placeholderList(missing)}, which the present one has`;
  return [{ code: 'lost-placeholder', message, body }];
}

function changedLinkFindings(
  before: TemplateBodies,
  after: TemplateBodies,
  mail?: ServerMail,
): TemplateFinding[] {
  const links = changedLinks(before, after, mail?.link).filter(({ isSuspicious }) => isSuspicious);
  return bodyNames.flatMap((body): TemplateFinding[] => {
    const ownLinks = links.filter((link) => link.body === body);
    if (ownLinks.length === 0) return [];
    const texts = ownLinks.map(({ from, to }) => (from === null ? `a new link to ${to}` : `${from} → ${to}`));
    const message = `the new ${bodyNoun(body, mail)} leads elsewhere: ${firstFew([...new Set(texts)], 5)}`;
    const at = ownLinks.flatMap((link) => link.at ?? []);
    return [{ code: 'changed-link', message, body, ...placesIn(body, at) }];
  });
}

function syntaxFindings(
  body: BodyName,
  template: ParsedBody | undefined,
  mail?: ServerMail,
): TemplateFinding[] {
  if (template === undefined || !('syntax' in template)) return [];
  const at = template.at === undefined ? [] : [template.at];
  if (template.exceedsLimit) return [tooLarge(body, template.syntax, at, mail)];
  if (mail !== undefined) return [notRendered(body, template.syntax, at, mail)];
  const message = `the ${bodyNoun(body, mail)} is not a Mustache template: ${template.syntax}`;
  return [{ code: 'template-syntax', message, body, ...placesIn(body, at) }];
}

function tooLarge(body: BodyName, why: string, at: readonly Span[], mail?: ServerMail): TemplateFinding {
  const message = `the ${bodyNoun(body, mail)} can't be checked or rendered: ${why}; shorten it, or look at what is sent yourself`;
  return { code: 'body-too-large', message, body, ...placesIn(body, at) };
}

function notRendered(body: BodyName, why: string, at: readonly Span[], mail: ServerMail): TemplateFinding {
  const message = isPage(mail)
    ? `with this content the server answers 500 in place of the page: ${why}`
    : `with this ${body} body the server sends no mail: ${why}`;
  return { code: 'template-syntax', message, body, ...placesIn(body, at), fatal: true };
}

/** Findings of rendering the bodies with all values that the server fills in: errors, empty names, and a missing link. */
function renderFindings(bodies: TemplateBodies, parsed: ParsedBodies, mail: ServerMail): TemplateFinding[] {
  const findings: TemplateFinding[] = [];
  const texts: string[] = [];
  const minimalTexts: string[] = [];
  const unmatchedEnds: TemplateFinding[] = [];
  const empty = new Map<string, { readonly hint: string; readonly at: { [body in BodyName]?: Span[] } }>();
  for (const body of bodyNames) {
    const template = parsed[body];
    if (template === undefined || !('examine' in template)) continue;
    const examined = template.examine(withUsedMetadata(mail.data, template.parts), mail.partials);
    if ('tooLong' in examined) {
      findings.push(tooLarge(body, examined.tooLong, [], mail));
      continue;
    }
    for (const { name, section, at, error, prints } of examined.findings) {
      const tag = shorten(bodies[body]?.slice(at.start, at.end) ?? '');
      if (error !== undefined) findings.push(notRendered(body, error, [at], mail));
      else if (prints !== undefined) {
        const message = `the ${bodyNoun(body, mail)} has ${tag}, which ends no section: the server prints ${prints}`;
        unmatchedEnds.push({ code: 'template-syntax', message, body, ...placesIn(body, [at]) });
      } else if (!isPage(mail) || !Object.hasOwn(mail.data, name.trim())) {
        // A name that a page knows may be empty because of what the user did.
        const entry = empty.get(tag) ?? { hint: nameHint(name, section, mail), at: {} };
        entry.at[body] = [...(entry.at[body] ?? []), at];
        empty.set(tag, entry);
      }
    }
    const toVisible = body === 'html' ? visibleText : (text: string) => text;
    texts.push(toVisible(examined.text));
    const minimal = template.examine(withMinimalUser(mail.data), mail.partials);
    if ('text' in minimal) minimalTexts.push(toVisible(minimal.text));
  }
  const { link } = mail;
  const areKnown = bodies.txt !== undefined && bodies.html !== undefined && texts.length > 0;
  const lackLink = (rendered: readonly string[]): boolean =>
    !rendered.some((text) => text.includes(String(mail.data[link ?? ''])));
  if (
    link !== undefined &&
    areKnown &&
    findings.length === 0 &&
    (lackLink(texts) || lackLink(minimalTexts))
  ) {
    const who = lackLink(texts) ? '' : ' to a user without a group or metadata';
    const message = `no body shows {{ ${link} }}${who}, so the mail is of no use`;
    findings.push({ code: 'missing-link', message, body: null, fatal: true });
  }
  const isShown = (part: string): boolean => texts.some((text) => text.includes(part));
  const unused = Object.entries(mail.partials ?? {}).filter(([, part]) => !isShown(part));
  if (texts.length > 0 && findings.length === 0)
    for (const [name] of unused) {
      const message = `the content doesn't show {{> ${name} }}, so there is nothing on any page`;
      findings.push({ code: 'missing-link', message, body: 'html', fatal: true });
    }
  const emptyNames = [...empty].map(([tag, { hint, at }]) =>
    unknownName(at, mail, `${tag}, which is empty on this server${hint}`),
  );
  return [...findings, ...unmatchedEnds, ...limitFindings(emptyNames)];
}

/** The visible text of HTML, and its addresses. */
function visibleText(html: string): string {
  const tree = parseBody(html, { located: false });
  if ('rejection' in tree) return html;
  const hidden = new Set(['style', 'script', 'title', 'template']);
  return tree.elements
    .filter(({ tagName }) => !hidden.has(tagName))
    .flatMap(({ attrs, childNodes }) => [
      ...attrs.filter(({ name }) => addressAttributes.has(name)).map(({ value }) => value),
      ...childNodes.flatMap((node) => ('value' in node ? node.value : [])),
    ])
    .join('\n');
}

/** A finding about a name that the server doesn't fill in; `what` is the object of the sentence. */
function unknownName(at: { readonly [body in BodyName]?: readonly Span[] }, mail: ServerMail, what: string) {
  const body: BodyName | null = at.txt === undefined ? 'html' : at.html === undefined ? 'txt' : null;
  const subject = body === null ? 'the bodies have' : `the ${bodyNoun(body, mail)} has`;
  return { code: 'unknown-placeholder' as const, message: `${subject} ${what}`, body, at };
}

/** A hint about a name that the server leaves empty, for the end of a sentence. */
function nameHint(name: string, section: boolean, { data, link }: ServerMail): string {
  const known = namesOf(data);
  const compact = name.replace(/\s/g, '');
  if (!section && compact === link) return '; an inverted section has nothing to fill in';
  if (compact !== name && known.includes(compact)) return '; write the name without spaces';
  const longer = known.find(
    (candidate) => /[._]/.test(candidate.at(-compact.length - 1) ?? '') && candidate.endsWith(compact),
  );
  const similar =
    /(?:^|[._])(?:url|uri|link|href|code)$/.test(compact) && link !== undefined
      ? link
      : (longer ?? nearest(compact, known));
  return similar === undefined
    ? ''
    : `; did you mean ${shorten(placeholderText({ section, name: similar }))}?`;
}

/** All names in the data: `user`, `user.username`. */
function namesOf(data: ServerMail['data']): string[] {
  return Object.entries(data).flatMap(([name, value]) =>
    isMap(value)
      ? [name, ...namesOf(value as ServerMail['data']).map((inner) => `${name}.${inner}`)]
      : [name],
  );
}

/** The first findings; the last of them counts the others and has their places. */
function limitFindings(findings: readonly TemplateFinding[]): TemplateFinding[] {
  const more = findings.length - maxUnknownNames;
  if (more <= 0) return [...findings];
  return findings.slice(0, maxUnknownNames).map((finding, index) => {
    if (index < maxUnknownNames - 1) return finding;
    const at = mergePlaces(findings.slice(index).map((one) => one.at ?? {}));
    return { ...finding, message: `${finding.message} (and ${more} more such names)`, at };
  });
}

/** A finding if the live body is too large to be compared with the new one. */
function liveBodyTooLarge(
  body: BodyName,
  parsedBefore: ParsedBodies,
  parsedAfter: ParsedBodies,
  mail?: ServerMail,
): TemplateFinding[] {
  const live = parsedBefore[body];
  if (
    placeholdersIn(parsedAfter[body]) === undefined ||
    live === undefined ||
    !('syntax' in live) ||
    !live.exceedsLimit
  )
    return [];
  const message = `the present ${bodyNoun(body, mail)} can't be checked or rendered: ${live.syntax}; check by hand whether the new one lost a placeholder`;
  return [{ code: 'body-too-large', message, body, live: true }];
}

function mismatchFindings({ txt, html }: ParsedBodies): TemplateFinding[] {
  const inTxt = placeholdersIn(txt);
  const inHtml = placeholdersIn(html);
  if (inTxt === undefined || inHtml === undefined) return [];
  const onlyTxt = missingFrom(inHtml, inTxt);
  const onlyHtml = missingFrom(inTxt, inHtml);
  const parts = [
    ...(onlyTxt.length > 0 ? [`only the txt body has ${placeholderList(onlyTxt)}`] : []),
    ...(onlyHtml.length > 0 ? [`only the html body has ${placeholderList(onlyHtml)}`] : []),
  ];
  if (parts.length === 0) return [];
  const at = mergePlaces([{ txt: placesOf(onlyTxt), html: placesOf(onlyHtml) }]);
  return [{ code: 'placeholder-mismatch', message: parts.join(', '), body: null, at }];
}

/** A finding about addresses without https: mail clients turn them into links. */
function insecureText(body: string): TemplateFinding[] {
  const found = [...body.matchAll(/\bhttp:\/\/[^\s<>"]+/gi)];
  if (found.length === 0) return [];
  const addresses = new Set(found.map(([address]) => address));
  const message = `the txt body leads to ${firstFew([...addresses].map(shorten), 5)} without https`;
  const at = found.map(({ 0: address, index }) => ({ start: index, end: index + address.length }));
  return [{ code: 'insecure-link', message, body: 'txt', at: { txt: at } }];
}

function placesOf(placeholders: readonly Placeholder[]): Span[] {
  return placeholders.flatMap(({ at }) => at);
}

/** The places of several findings together. */
function mergePlaces(all: readonly NonNullable<TemplateFinding['at']>[]): NonNullable<TemplateFinding['at']> {
  const txt = all.flatMap(({ txt = [] }) => txt);
  const html = all.flatMap(({ html = [] }) => html);
  return { ...placesIn('txt', txt).at, ...placesIn('html', html).at };
}

function placeholderList(placeholders: readonly Placeholder[]): string {
  const names = placeholders.map((placeholder) => shorten(placeholderText(placeholder)));
  return firstFew(names, 5);
}
