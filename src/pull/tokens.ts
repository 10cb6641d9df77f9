import type { CST, YAMLMap, YAMLSeq } from 'yaml';

/** What of a text becomes another text. */
export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** A part of a text, from `start` up to and without `end`. */
export interface Extent {
  readonly start: number;
  readonly end: number;
}

/** A text after its splices, what is put in at one place in the order given; undefined where two of them overlap. */
export function spliced(text: string, splices: readonly Splice[]): string | undefined {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end, text: part } of splices.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    if (start < at) return undefined;
    parts.push(text.slice(at, start), part);
    at = end;
  }
  return parts.join('') + text.slice(at);
}

/** Where the members of a map or a list stand, without what is around them; undefined where the parser doesn't tell. */
export function membersIn(node: YAMLMap | YAMLSeq): readonly Extent[] | undefined {
  const token = node.srcToken;
  if (token === undefined || !('items' in token)) return undefined;
  const items = (token.items as readonly CST.CollectionItem[]).filter(isFilled);
  if (items.length !== node.items.length) return undefined;
  return items.map((item) => ({ start: startOf(item), end: endOfItem(item) }));
}

/** Where the commas between the members of a flow collection stand, by the member before them. */
export function commasIn(node: YAMLMap | YAMLSeq): ReadonlyMap<number, number> {
  const commas = new Map<number, number>();
  const token = node.srcToken;
  if (token === undefined || !('items' in token)) return commas;
  (token.items as readonly CST.CollectionItem[]).forEach(({ start }, index) => {
    const comma = start.find(({ type }) => type === 'comma');
    if (comma !== undefined) commas.set(index - 1, comma.offset);
  });
  return commas;
}

/** The offset behind the colon of a pair, with nothing but layout between it and the value; undefined where there is more. */
export function colonOf(item: CST.CollectionItem | undefined): number | undefined {
  const told = (item?.sep ?? []).filter((token) => !isLayout(token));
  const [colon] = told;
  const isExplicit = item?.start.some(({ type }) => type === 'explicit-key-ind') === true;
  return told.length === 1 && colon?.type === 'map-value-ind' && !isExplicit
    ? colon.offset + colon.source.length
    : undefined;
}

const layout: ReadonlySet<string> = new Set(['space', 'newline', 'comment', 'comma']);

function isLayout({ type }: CST.SourceToken): boolean {
  return layout.has(type);
}

function isFilled({ start, key, sep, value }: CST.CollectionItem): boolean {
  if (key !== undefined && key !== null) return true;
  if (value !== undefined) return true;
  return [...start, ...(sep ?? [])].some((token) => !isLayout(token));
}

function startOf({ start, key, sep, value }: CST.CollectionItem): number {
  const first = start.find((token) => !isLayout(token)) ?? key ?? sep?.[0] ?? value;
  return first?.offset ?? 0;
}

function endOfItem({ start, key, sep, value }: CST.CollectionItem): number {
  if (value !== undefined) return endOf(value);
  const last = sep?.findLast((token) => !isLayout(token));
  if (last !== undefined) return last.offset + last.source.length;
  if (key !== undefined && key !== null) return endOf(key);
  const prop = start.findLast((token) => !isLayout(token));
  return prop === undefined ? 0 : prop.offset + prop.source.length;
}

/** Where what a token says ends; a comment behind it, and blank lines, aren't part of it. */
function endOf(token: CST.Token): number {
  switch (token.type) {
    case 'block-scalar': {
      const header = token.props.map((prop) => ('source' in prop ? prop.source : '')).join('');
      const end = token.offset + header.length + token.source.length;
      // Kept line ends are content.
      return header.startsWith('|+') || header.startsWith('>+') || /^[|>]\d\+/.test(header)
        ? end
        : end - (/(?:\r?\n)+$/.exec(token.source)?.[0].length ?? 0);
    }
    case 'block-map':
    case 'block-seq': {
      const last = (token.items as readonly CST.CollectionItem[]).findLast(isFilled);
      return last === undefined ? token.offset : endOfItem(last);
    }
    case 'flow-collection': {
      const [bracket] = token.end;
      return bracket === undefined ? token.offset : bracket.offset + bracket.source.length;
    }
    default:
      return token.offset + ('source' in token ? token.source.length : 0);
  }
}

/** What is between the brackets of a flow collection. */
export function insideOf(node: YAMLMap | YAMLSeq): Extent | undefined {
  const token = node.srcToken;
  if (token?.type !== 'flow-collection') return undefined;
  const [closing] = token.end;
  return closing === undefined ? undefined : { start: token.start.offset + 1, end: closing.offset };
}

/** Whether a comment stands in the value of a pair. */
export function holdsComments(value: CST.Token | undefined): boolean {
  let found = false;
  const look = (token: CST.Token | null | undefined): void => {
    if (token === undefined || token === null || found) return;
    if (token.type === 'comment') found = true;
    if ('props' in token) token.props.forEach(look);
    if (!('items' in token)) return;
    for (const { start, key, sep, value: inner } of token.items as readonly CST.CollectionItem[]) {
      [...start, key, ...(sep ?? []), inner].forEach(look);
      if (inner !== undefined && 'end' in inner && inner.type !== 'flow-collection') inner.end?.forEach(look);
    }
  };
  look(value);
  return found;
}
