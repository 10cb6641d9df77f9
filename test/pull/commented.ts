import fc from 'fast-check';
import type { Json } from '../../src/base/values.js';

/** An element of a list, or a member of a map, whose comments contain its id. */
export interface Member {
  readonly id: string;
  /** Whether it has a comment directly above, a comment at the end of its line, and a detached comment above. */
  readonly hasOwnComment: boolean;
  readonly hasTrailing: boolean;
  readonly hasFree: boolean;
  readonly inner: Members | undefined;
  /** Whether the edit removes it. */
  readonly isRemoved: boolean;
}

export interface Members {
  readonly sort: 'list' | 'map';
  readonly members: readonly Member[];
  /** Members that the edit adds, each behind the given number of present ones. */
  readonly added: readonly { readonly id: string; readonly behind: number }[];
}

/** The formatting of a text. */
export interface TextStyle {
  readonly style: 'block' | 'line';
  readonly step: number;
  readonly isFlat: boolean;
  readonly quotes: '' | "'" | '"';
  readonly crlf: boolean;
}

export const textStyle: fc.Arbitrary<TextStyle> = fc.record({
  style: fc.constantFrom('block', 'block', 'block', 'line'),
  step: fc.constantFrom(2, 4),
  isFlat: fc.boolean(),
  quotes: fc.constantFrom('', "'", '"'),
  crlf: fc.boolean(),
});

interface Shape {
  readonly sort: 'list' | 'map';
  readonly members: readonly (Omit<Member, 'id' | 'inner'> & { readonly inner: Shape | null })[];
  readonly added: readonly number[];
}

const { shape } = fc.letrec<{ shape: Shape }>((tie) => ({
  shape: fc.record({
    sort: fc.constantFrom('list', 'map'),
    members: fc.array(
      fc.record({
        hasOwnComment: fc.boolean(),
        hasTrailing: fc.boolean(),
        hasFree: fc.boolean(),
        isRemoved: fc.boolean(),
        inner: fc.option(tie('shape'), { maxDepth: 2, depthIdentifier: 'members' }),
      }),
      { minLength: 1, maxLength: 4 },
    ),
    added: fc.array(fc.nat({ max: 4 }), { maxLength: 2 }),
  }),
}));

/** Nested maps and lists, in which every member has a unique name. */
export const members: fc.Arbitrary<Members> = shape.map((made) => {
  let count = 0;
  const name = (): string => {
    count += 1;
    return `m${count}`;
  };
  const named = ({ sort, members: list, added }: Shape): Members => ({
    sort,
    members: list.map(({ inner, ...rest }) => ({
      ...rest,
      id: name(),
      inner: inner === null ? undefined : named(inner),
    })),
    added: added.map((behind) => ({ id: name(), behind })),
  });
  return named(made);
});

/** The value before or after the edit. */
export function valueAt({ sort, members: list, added }: Members, when: 'before' | 'after'): Json {
  const all: [string, Json][] = [];
  const add = (isHere: (behind: number) => boolean): void => {
    if (when === 'before') return;
    for (const { id, behind } of added) if (isHere(behind)) all.push([id, sort === 'list' ? { id } : id]);
  };
  for (const [index, { id, inner, isRemoved }] of list.entries()) {
    add((behind) => behind === index);
    if (when === 'after' && isRemoved) continue;
    const value = inner === undefined ? null : valueAt(inner, when);
    if (sort === 'map') all.push([id, value ?? id]);
    else all.push([id, { id, ...(value === null ? {} : { inner: value }) }]);
  }
  add((behind) => behind >= list.length);
  return sort === 'map' ? Object.fromEntries(all) : all.map(([, value]) => value);
}

/** A document whose field `a` has the value before the edit. */
export function documentOf(all: Members, { style, step, isFlat, quotes, crlf }: TextStyle): string {
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
    for (const { id, hasOwnComment, hasTrailing, hasFree, inner } of list) {
      if (hasFree) lines.push(`${indent}# free-${id}`, '');
      if (hasOwnComment) lines.push(`${indent}# own-${id}`);
      const behind = hasTrailing ? ` # trail-${id}` : '';
      const below = (from: number): number => (inner?.sort === 'list' && isFlat ? from : from + step);
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
    block(all, all.sort === 'list' && isFlat ? 0 : step);
  } else {
    lines.push(`a: ${flow(all)} # of a`);
  }
  lines.push('# own-b', 'b: 1', '');
  const text = lines.join('\n');
  return crlf ? text.replaceAll('\n', '\r\n') : text;
}

/** The comments that the edit must keep, and those that it must remove. */
export function comments(all: Members, isGone = false): { kept: string[]; removed: string[] } {
  const kept: string[] = [];
  const removed: string[] = [];
  for (const { id, hasOwnComment, hasTrailing, hasFree, inner, isRemoved } of all.members) {
    const mine = [...(hasOwnComment ? [`own-${id}`] : []), ...(hasTrailing ? [`trail-${id}`] : [])];
    (isGone || isRemoved ? removed : kept).push(...mine);
    if (hasFree) (isGone ? removed : kept).push(`free-${id}`);
    if (inner === undefined) continue;
    const within = comments(inner, isGone || isRemoved);
    kept.push(...within.kept);
    removed.push(...within.removed);
  }
  return { kept, removed };
}

/** The members that the edit keeps, at any depth. */
export function keptMembers(all: Members): readonly Member[] {
  return all.members
    .filter(({ isRemoved }) => !isRemoved)
    .flatMap((one) => [one, ...(one.inner ? keptMembers(one.inner) : [])]);
}
