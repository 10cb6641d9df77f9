import { parseUrl } from '../base/parse-url.js';
import type { Span } from '../base/problems.js';
import { shorten } from '../base/words.js';
import { ownPicture } from './allowed.js';
import { addressesIn } from './styles.js';
import { type Part, parseMustache, type TemplateBodies } from './template.js';
import { addressAttributes, parseBody, spotOf } from './tree.js';

/** A link of an email that changes. */
export interface ChangedLink {
  readonly body: 'txt' | 'html';
  /** The address for people; null on the side that has no such link. */
  readonly from: string | null;
  readonly to: string | null;
  /** Whether it leads to another host, or passes an address of the server on. */
  readonly elsewhere: boolean;
  /** Its places in the new body. */
  readonly at: Span | undefined;
}

/** An address in a body, its placeholders between `OPEN` and `CLOSE`. */
interface Target {
  readonly text: string;
  readonly at: Span | undefined;
}

// Private characters, as many as the tag has: a placeholder doesn't end an address, and places stay the same.
const OPEN = '\ue001';
const CLOSE = '\ue002';
const FILL = '\ue000';
const placeholder = /\ue001([^\ue001\ue002]*)\ue002/g;
const onePlaceholder = /^\ue001[^\ue001\ue002]*\ue002$/;

/**
 * The links of an email that change, if both bodies are known: addresses in attributes and styles of the HTML, and addresses in text, which
 * mail clients turn into links. Of a body that is new or can't be compared, only those that lead elsewhere. Links that both versions have
 * equally often don't change; the others are paired in order.
 */
export function changedLinks(before: TemplateBodies, after: TemplateBodies): ChangedLink[] {
  const old = { txt: targetsOf('txt', before.txt), html: targetsOf('html', before.html) };
  const whole = [...(old.txt ?? []), ...(old.html ?? [])].filter(({ text }) => onePlaceholder.test(text));
  return (['txt', 'html'] as const).flatMap((body) => {
    const now = targetsOf(body, after[body]);
    if (now === undefined || before[body] === after[body]) return [];
    const had = old[body];
    const hosts = new Set(had?.map(({ text }) => hostOf(text)));
    const gone = without(had ?? [], now);
    const come = without(now, had ?? []);
    const all = Array.from({ length: Math.max(gone.length, come.length) }, (_, index): ChangedLink => {
      const [from, to] = [gone[index], come[index]];
      const holds = whole.some(({ text }) => to !== undefined && to.text !== text && to.text.includes(text));
      const host = to === undefined ? undefined : hostOf(to.text);
      const isOther =
        had !== undefined &&
        host !== undefined &&
        (from === undefined ? !hosts.has(host) : host !== hostOf(from.text));
      return {
        body,
        from: from === undefined ? null : shown(from.text),
        to: to === undefined ? null : shown(to.text),
        elsewhere: holds || isOther,
        at: to?.at,
      };
    });
    return had === undefined ? all.filter(({ elsewhere }) => elsewhere) : all;
  });
}

/** The targets that `one` has more often than `other`. */
function without(one: readonly Target[], other: readonly Target[]): Target[] {
  const left = new Map<string, number>();
  for (const { text } of other) left.set(text, (left.get(text) ?? 0) + 1);
  return one.filter(({ text }) => {
    const count = left.get(text) ?? 0;
    left.set(text, count - 1);
    return count <= 0;
  });
}

/** Undefined if there is no body, or if it can't be parsed. */
function targetsOf(name: ChangedLink['body'], body: string | null | undefined): Target[] | undefined {
  if (typeof body !== 'string') return undefined;
  const text = withPlaceholders(body);
  return name === 'txt' ? textTargets(text) : htmlTargets(text);
}

/** A body of the same length in which each placeholder is one word. */
function withPlaceholders(body: string): string {
  const template = parseMustache(body);
  const pieces: string[] = [];
  let end = 0;
  const add = (parts: readonly Part[]): void => {
    for (const part of parts) {
      if (part.kind === 'section') add(part.parts);
      if (part.kind !== 'variable') continue;
      const name = part.name.replace(/[^\p{L}\p{N}_.-]/gu, '_');
      const tag = `${OPEN}${name}${CLOSE}`;
      pieces.push(plain(body.slice(end, part.at.start)), tag.padEnd(part.at.end - part.at.start, FILL));
      end = part.at.end;
    }
  };
  if ('parts' in template) add(template.parts);
  return [...pieces, plain(body.slice(end))].join('');
}

/** Replaces private characters of the body itself. */
function plain(text: string): string {
  return text.replace(/[\ue000-\ue002]/g, '?');
}

/** Conditional comments, whose content Outlook shows. */
const forOutlook = /<!--\[if[^\]]*\]>|(?:<!--)?<!\[endif\]-->/gi;

function htmlTargets(body: string): Target[] | undefined {
  const tree = parseBody(
    body.replace(forOutlook, (mark) => ' '.repeat(mark.length)),
    { located: true },
  );
  if ('refused' in tree) return undefined;
  return tree.elements.flatMap((element): Target[] => {
    const { attrs, tagName } = element;
    const refreshes = attrs.some(
      ({ name, value }) => name === 'http-equiv' && /^refresh$/i.test(value.trim()),
    );
    const led = attrs.flatMap(({ name, value }) =>
      addressesOf(refreshes && name === 'content' ? 'refresh' : name, value).map((text) => ({
        text,
        at: spotOf(element, name),
      })),
    );
    const words = element.childNodes.flatMap((node) => ('value' in node ? node.value : [])).join('\n');
    const styled = tagName === 'style' ? addressesIn(words).map((text) => ({ text, at: undefined })) : [];
    // Mail clients turn addresses outside of links into links.
    const bare = notRead.has(tagName) ? [] : textTargets(words).map(({ text }) => ({ text, at: undefined }));
    return [...led, ...styled, ...bare].flatMap(({ text, at }) => {
      // As browsers read it, without white space and control characters.
      const address = text.replace(/[\u0000-\u0020\ue000]/g, '');
      return address === '' || ownPicture.test(address) ? [] : [{ text: address, at }];
    });
  });
}

/** Elements whose text is invisible, or a link already. */
const notRead = new Set(['a', 'style', 'script', 'title']);

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
      return addressesIn(value);
    default:
      return [];
  }
}

function textTargets(body: string): Target[] {
  return [...body.matchAll(/[^\s<>"]+/g)].flatMap(({ 0: word, index }) => {
    const first = /(?:https?|ftp):\/\/|(?<![\p{L}\p{N}.@/-])www\./iu.exec(word)?.index;
    const isLink =
      first !== undefined || [...word.matchAll(placeholder)].some(([, name = '']) => isAddress(name));
    if (!isLink) return [];
    // Words and brackets before an address don't belong to it.
    const start = first ?? /^(?:[\p{L}\p{N}_-]*[:([{'])*(?=\ue001)/u.exec(word)?.[0].length ?? 0;
    const text = word
      .slice(start)
      .replaceAll(FILL, '')
      .replace(/[.,;:!?)\]}']+$/, '');
    return [{ text, at: { start: index + start, end: index + word.length } }];
  });
}

/** Whether the name of a placeholder suggests an address. */
function isAddress(name: string): boolean {
  return /(?:^|[._])(?:url|uri|link|href)$/i.test(name.replace(/([a-z])([A-Z])/g, '$1_$2'));
}

/** The host of an address. If it begins with a placeholder, everything up to the path. */
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

/** An address for people, followed by its host if the address doesn't show it. */
function shown(address: string): string {
  const written = (text: string): string => text.replace(placeholder, '{{ $1 }}');
  const start = shorten(written(address));
  const host = hostOf(address);
  return start.toLowerCase().includes(written(host)) ? start : `${start} (at ${shorten(written(host))})`;
}
