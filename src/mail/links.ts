import { parseUrl } from '../base/parse-url.js';
import type { Span } from '../base/problems.js';
import { shorten } from '../base/words.js';
import { embeddedPicture } from './allowed.js';
import { addressesIn } from './styles.js';
import { type Part, parseMustache, type TemplateBodies } from './template.js';
import { addressAttributes, parseBody, placeOf } from './tree.js';

/** A changed link of an email. */
export interface ChangedLink {
  readonly body: 'txt' | 'html';
  /** The former address for people; null if the link is new. */
  readonly from: string | null;
  /** The new address for people; null if the link is removed. */
  readonly to: string | null;
  /** Whether it leads to another host, or passes an address from the server to another address. */
  readonly isSuspicious: boolean;
  /** The place in the new body. */
  readonly at: Span | undefined;
}

/** An address in a body, with its placeholders between `OPEN` and `CLOSE`. */
interface Target {
  readonly text: string;
  readonly at: Span | undefined;
}

// Private-use characters replace a tag, as many as it has: so a placeholder doesn't end an address, and offsets stay the same.
const OPEN = '\ue001';
const CLOSE = '\ue002';
const FILL = '\ue000';
/** A tag before another address, such as that of the section's alternative. */
const tagBeforeAddress = /(?<!\ue000)\ue000+(?=(?:https?|ftp):\/\/)/gi;
const placeholder = /\ue001([^\ue001\ue002]*)\ue002/g;
const onePlaceholder = /^\ue001[^\ue001\ue002]*\ue002$/;

/**
 * The changed links of an email: addresses in attributes and styles of the HTML, and addresses in text, which mail clients turn into links.
 * If the former body is unknown or absent, only suspicious links. Links that both versions have equally often are unchanged; the others are
 * paired in order. `ownLink` is the placeholder of the mail's own link, if the server is known to fill in a whole address.
 */
export function changedLinks(before: TemplateBodies, after: TemplateBodies, ownLink?: string): ChangedLink[] {
  const old = { txt: targetsOf('txt', before.txt, ownLink), html: targetsOf('html', before.html, ownLink) };
  const serverAddresses = [...(old.txt ?? []), ...(old.html ?? [])].filter(({ text }) =>
    onePlaceholder.test(text),
  );
  return (['txt', 'html'] as const).flatMap((body) => {
    const targets = targetsOf(body, after[body], ownLink);
    if (targets === undefined || before[body] === after[body]) return [];
    const oldTargets = old[body];
    const hosts = new Set(oldTargets?.map(({ text }) => hostOf(text)));
    const removed = subtract(oldTargets ?? [], targets);
    const added = subtract(targets, oldTargets ?? []);
    const links = Array.from({ length: Math.max(removed.length, added.length) }, (_, index): ChangedLink => {
      const [from, to] = [removed[index], added[index]];
      const containsServerAddress = serverAddresses.some(
        ({ text }) => to !== undefined && to.text !== text && to.text.includes(text),
      );
      const host = to === undefined ? undefined : hostOf(to.text);
      const isOtherHost =
        oldTargets !== undefined &&
        host !== undefined &&
        (from === undefined ? !hosts.has(host) : host !== hostOf(from.text));
      return {
        body,
        from: from === undefined ? null : displayAddress(from.text),
        to: to === undefined ? null : displayAddress(to.text),
        isSuspicious: containsServerAddress || isOtherHost,
        at: to?.at,
      };
    });
    return oldTargets === undefined ? links.filter(({ isSuspicious }) => isSuspicious) : links;
  });
}

/** The targets that `one` has more often than `other`. */
function subtract(one: readonly Target[], other: readonly Target[]): Target[] {
  const counts = new Map<string, number>();
  for (const { text } of other) counts.set(text, (counts.get(text) ?? 0) + 1);
  return one.filter(({ text }) => {
    const count = counts.get(text) ?? 0;
    counts.set(text, count - 1);
    return count <= 0;
  });
}

/** The addresses in a body; undefined if there is no body, or if it can't be parsed. */
function targetsOf(
  name: ChangedLink['body'],
  body: string | null | undefined,
  ownLink?: string,
): Target[] | undefined {
  if (typeof body !== 'string') return undefined;
  const text = withPlaceholders(body);
  return name === 'txt' ? textTargets(text, ownLink) : htmlTargets(text, ownLink);
}

/** The body with each placeholder as one word of the same length, and other tags replaced by `FILL`. */
function withPlaceholders(body: string): string {
  const template = parseMustache(body);
  const pieces: string[] = [];
  let end = 0;
  const add = (at: Span, text: string): void => {
    pieces.push(FILL.repeat(at.start - end), text.padEnd(at.end - at.start, FILL));
    end = at.end;
  };
  const addAll = (parts: readonly Part[]): void => {
    for (const part of parts) {
      if (part.kind === 'section') addAll(part.parts);
      else if (part.kind === 'text') add(part.at, replacePrivateUse(body.slice(part.at.start, part.at.end)));
      else if (part.kind === 'variable')
        add(part.at, `${OPEN}${part.name.replace(/[^\p{L}\p{N}_.-]/gu, '_')}${CLOSE}`);
    }
  };
  if (!('parts' in template)) return replacePrivateUse(body);
  addAll(template.parts);
  return [...pieces, FILL.repeat(body.length - end)].join('');
}

/** Replaces the private-use characters that a body contains itself. */
function replacePrivateUse(text: string): string {
  return text.replace(/[\ue000-\ue002]/g, '?');
}

/** Conditional comments; Outlook shows their content. */
const conditionalComments = /<!--\[if[^\]]*\]>|(?:<!--)?<!\[endif\]-->/gi;

function htmlTargets(body: string, ownLink?: string): Target[] | undefined {
  const tree = parseBody(
    body.replace(conditionalComments, (mark) => ' '.repeat(mark.length)),
    { located: true },
  );
  if ('rejection' in tree) return undefined;
  return tree.elements.flatMap((element): Target[] => {
    const { attrs, tagName } = element;
    const refreshes = attrs.some(
      ({ name, value }) => name === 'http-equiv' && /^refresh$/i.test(value.trim()),
    );
    const inAttributes = attrs.flatMap(({ name, value }) =>
      addressesOf(refreshes && name === 'content' ? 'refresh' : name.replaceAll(FILL, ''), value)
        .flatMap((text) => text.split(tagBeforeAddress))
        .map((text) => ({ text, at: placeOf(element, name) })),
    );
    const words = element.childNodes.flatMap((node) => ('value' in node ? node.value : [])).join('\n');
    const inStyles =
      tagName === 'style'
        ? addressesIn(words.replaceAll(FILL, '')).map((text) => ({ text, at: undefined }))
        : [];
    // Mail clients turn addresses in text into links.
    const inText = skippedElements.has(tagName)
      ? []
      : textTargets(words, ownLink).map(({ text }) => ({ text, at: undefined }));
    return [...inAttributes, ...inStyles, ...inText].flatMap(({ text, at }) => {
      // Browsers ignore white space and control characters.
      const address = text.replace(/[\u0000-\u0020\ue000]/g, '');
      return address === '' || embeddedPicture.test(address) ? [] : [{ text: address, at }];
    });
  });
}

/** Elements with text that is invisible or already a link. */
const skippedElements = new Set(['a', 'style', 'script', 'title']);

/** The addresses in the value of an attribute. */
function addressesOf(name: string, value: string): string[] {
  if (addressAttributes.has(name)) return [value];
  switch (name) {
    case 'srcset':
      return value.split(',').map((one) => one.trim().split(/\s/)[0] ?? '');
    case 'ping':
      return value.trim().split(/\s+/);
    case 'refresh':
      return [/url\s*=\s*(.*)/is.exec(value)?.[1] ?? ''];
    case 'style':
      return addressesIn(value.replaceAll(FILL, ''));
    default:
      return [];
  }
}

function textTargets(body: string, ownLink?: string): Target[] {
  const apart = body.replace(tagBeforeAddress, (tags) => ' '.repeat(tags.length));
  return [...apart.matchAll(/[^\s<>"]+/g)].flatMap(({ 0: filled, index }) => {
    const word = filled.replaceAll(FILL, '');
    const first = /(?:https?|ftp):\/\/|(?<![\p{L}\p{N}.@/-])www\./iu.exec(word)?.index;
    const isLink =
      first !== undefined || [...word.matchAll(placeholder)].some(([, name = '']) => suggestsAddress(name));
    if (!isLink) return [];
    // Words and brackets before a placeholder aren't a part of the address, nor is a word directly before a whole address.
    const [before = '', last = '', name] =
      /^(?:[\p{L}\p{N}_-]*[:([{'])*([\p{L}\p{N}_-]*)(?=\ue001([^\ue002]*))/u.exec(word) ?? [];
    const start = first ?? before.length - (name === ownLink ? 0 : last.length);
    const text = word.slice(start).replace(/[.,;:!?)\]}']+$/, '');
    return [{ text, at: { start: index, end: index + filled.length } }];
  });
}

/** Whether the name of a placeholder suggests an address. */
function suggestsAddress(name: string): boolean {
  return /(?:^|[._])(?:url|uri|link|href)$/i.test(name.replace(/([a-z])([A-Z])/g, '$1_$2'));
}

/** The host of an address; if the address starts with a placeholder, all of it up to the path. */
function hostOf(address: string): string {
  if (address.startsWith(OPEN)) return /^[^/\\?#]*/.exec(address)?.[0] ?? '';
  const placeholders: string[] = [];
  const whole = /^www\./i.test(address) ? `https://${address}` : address;
  const known = whole.replace(placeholder, (tag) => `idops${placeholders.push(tag) - 1}placeholder`);
  const nowhere = 'https://nowhere.invalid';
  const url = parseUrl(known, nowhere);
  if (url === undefined) return address;
  const { host, origin, protocol, pathname } = url;
  if (origin === nowhere) return '';
  const other = protocol === 'mailto:' ? pathname.slice(pathname.lastIndexOf('@') + 1) : protocol;
  return (host || other).replace(/idops(\d+)placeholder/g, (_, index) => placeholders[Number(index)] ?? '');
}

/** An address for people, followed by its host if the address doesn't contain it. */
function displayAddress(address: string): string {
  const written = (text: string): string => text.replace(placeholder, '{{ $1 }}');
  const start = shorten(written(address));
  const host = hostOf(address);
  return start.toLowerCase().includes(written(host)) ? start : `${start} (at ${shorten(written(host))})`;
}
