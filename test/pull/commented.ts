import fc from 'fast-check';
import type { Json } from '../../src/base/values.js';

/** An element of a list, or a member of a map, as it stands in a text, with comments that say what they belong to. */
export interface Member {
  readonly id: string;
  /** Whether it has a comment of its own above it, one behind it, and one above it that is about nothing. */
  readonly own: boolean;
  readonly trail: boolean;
  readonly free: boolean;
  readonly inner: Members | undefined;
  /** What becomes of it. */
  readonly goes: boolean;
}

export interface Members {
  readonly sort: 'list' | 'map';
  readonly members: readonly Member[];
  /** Those that come, behind how many of the others. */
  readonly come: readonly { readonly id: string; readonly behind: number }[];
}

/** How a text is laid out. */
export interface Look {
  readonly style: 'block' | 'line';
  readonly step: number;
  readonly flat: boolean;
  readonly quotes: '' | "'" | '"';
  readonly crlf: boolean;
}

export const look: fc.Arbitrary<Look> = fc.record({
  style: fc.constantFrom('block', 'block', 'block', 'line'),
  step: fc.constantFrom(2, 4),
  flat: fc.boolean(),
  quotes: fc.constantFrom('', "'", '"'),
  crlf: fc.boolean(),
});

interface Shape {
  readonly sort: 'list' | 'map';
  readonly members: readonly (Omit<Member, 'id' | 'inner'> & { readonly inner: Shape | null })[];
  readonly come: readonly number[];
}

const { shape } = fc.letrec<{ shape: Shape }>((tie) => ({
  shape: fc.record({
    sort: fc.constantFrom('list', 'map'),
    members: fc.array(
      fc.record({
        own: fc.boolean(),
        trail: fc.boolean(),
        free: fc.boolean(),
        goes: fc.boolean(),
        inner: fc.option(tie('shape'), { maxDepth: 2, depthIdentifier: 'members' }),
      }),
      { minLength: 1, maxLength: 4 },
    ),
    come: fc.array(fc.nat({ max: 4 }), { maxLength: 2 }),
  }),
}));

/** Maps and lists in each other, in which every member has a name of its own. */
export const members: fc.Arbitrary<Members> = shape.map((made) => {
  let count = 0;
  const name = (): string => {
    count += 1;
    return `m${count}`;
  };
  const named = ({ sort, members: list, come }: Shape): Members => ({
    sort,
    members: list.map(({ inner, ...rest }) => ({
      ...rest,
      id: name(),
      inner: inner === null ? undefined : named(inner),
    })),
    come: come.map((behind) => ({ id: name(), behind })),
  });
  return named(made);
});

/** What is said, before or after the changes. */
export function said({ sort, members: list, come }: Members, when: 'before' | 'after'): Json {
  const all: [string, Json][] = [];
  const add = (isHere: (behind: number) => boolean): void => {
    if (when === 'before') return;
    for (const { id, behind } of come) if (isHere(behind)) all.push([id, sort === 'list' ? { id } : id]);
  };
  for (const [index, { id, inner, goes }] of list.entries()) {
    add((behind) => behind === index);
    if (when === 'after' && goes) continue;
    const value = inner === undefined ? null : said(inner, when);
    if (sort === 'map') all.push([id, value ?? id]);
    else all.push([id, { id, ...(value === null ? {} : { inner: value }) }]);
  }
  add((behind) => behind >= list.length);
  return sort === 'map' ? Object.fromEntries(all) : all.map(([, value]) => value);
}

/** A document whose field `a` says what members are before the changes. */
export function written(all: Members, { style, step, flat, quotes, crlf }: Look): string {
  const quoted = (text: string): string => quotes + text + quotes;
  const lines: string[] = [];
  const flow = ({ sort, members: list }: Members): string => {
    const parts = list.map(({ id, inner }) => {
      const value = inner === undefined ? undefined : flow(inner);
      return sort === 'map'
        ? `${quoted(id)}: ${value ?? quoted(id)}`
        : `{${quoted('id')}: ${quoted(id)}${value === undefined ? '' : `, ${quoted('inner')}: ${value}`}}`;
    });
    const [open, close] = sort === 'map' ? '{}' : '[]';
    return `${open}${parts.join(', ')}${close}`;
  };
  const block = ({ sort, members: list }: Members, column: number): void => {
    const indent = ' '.repeat(column);
    for (const { id, own, trail, free, inner } of list) {
      if (free) lines.push(`${indent}# free-${id}`, '');
      if (own) lines.push(`${indent}# own-${id}`);
      const behind = trail ? ` # trail-${id}` : '';
      const below = (from: number): number => (inner?.sort === 'list' && flat ? from : from + step);
      if (sort === 'map') {
        lines.push(`${indent}${quoted(id)}:${inner === undefined ? ` ${quoted(id)}` : ''}${behind}`);
        if (inner !== undefined) block(inner, below(column));
      } else {
        lines.push(`${indent}- ${quoted('id')}: ${quoted(id)}${behind}`);
        if (inner !== undefined) lines.push(`${indent}  ${quoted('inner')}:`);
        if (inner !== undefined) block(inner, below(column + 2));
      }
    }
  };
  if (style === 'block') {
    lines.push('a: # of a');
    block(all, all.sort === 'list' && flat ? 0 : step);
  } else {
    lines.push(`a: ${flow(all)} # of a`);
  }
  lines.push('# own-b', 'b: 1', '');
  const text = lines.join('\n');
  return crlf ? text.replaceAll('\n', '\r\n') : text;
}

/** The comments that have to be there after the changes, and those that must not. */
export function comments(all: Members, isGone = false): { stay: string[]; go: string[] } {
  const stay: string[] = [];
  const go: string[] = [];
  for (const { id, own, trail, free, inner, goes } of all.members) {
    const mine = [...(own ? [`own-${id}`] : []), ...(trail ? [`trail-${id}`] : [])];
    (isGone || goes ? go : stay).push(...mine);
    if (free) (isGone ? go : stay).push(`free-${id}`);
    if (inner === undefined) continue;
    const within = comments(inner, isGone || goes);
    stay.push(...within.stay);
    go.push(...within.go);
  }
  return { stay, go };
}

/** The members that stay, wherever they are. */
export function staying(all: Members): readonly Member[] {
  return all.members
    .filter(({ goes }) => !goes)
    .flatMap((one) => [one, ...(one.inner ? staying(one.inner) : [])]);
}
