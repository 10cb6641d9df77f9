import fc from 'fast-check';
import type { KindName } from '../../../src/base/kind-names.js';
import type { Json } from '../../../src/base/values.js';

/** A document of a manifest, as plain data. A `Layout` determines how it is written. */
export interface Doc {
  readonly kind: KindName;
  readonly [field: string]: Json;
}

const odd = 'null|true|~|1|0x1f|1e3|---|...|- a|a: b|# a| a |\ta\n|"|\''.split('|');
const marks = '$|${NAME}|$$|{{ a }}|\\|\u001b[31m|\u0085|\u2028|\ufeff|\r\n'.split('|');

/** Any text without NUL: empty, long, in other scripts, or difficult for YAML, templates or terminals. */
export const text: fc.Arbitrary<string> = fc
  .oneof(
    { weight: 4, arbitrary: fc.string({ maxLength: 12 }) },
    { weight: 3, arbitrary: fc.string({ unit: 'grapheme', maxLength: 8 }) },
    { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
    { weight: 3, arbitrary: fc.constantFrom('', ...odd, ...marks) },
    { weight: 1, arbitrary: fc.nat(3000).map((length) => 'long äöü '.repeat(length / 9)) },
  )
  .map((it) => it.replaceAll('\0', ''));

/** Text that can name an object. */
export const word: fc.Arbitrary<string> = text.map((it) =>
  it
    .replace(/\p{Cc}|\p{Cs}/gu, '')
    .slice(0, 60)
    .toWellFormed(),
);

/** Manifests refuse integers that JavaScript can't represent exactly. */
const number = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, min: -1e15, max: 1e15 }).map((it) => (it === 0 ? 0 : it)),
);

const key = fc.oneof(
  fc.constantFrom('value', 'status', 'file', 'constructor', 'a.b', '', ' '),
  text.filter((it) => !it.includes('$') && it !== '__proto__' && !/\p{Cc}/u.test(it)),
);

const json: fc.Arbitrary<Json> = fc.letrec<{ any: Json; leaf: Json }>((tie) => ({
  leaf: fc.oneof(text, number, fc.boolean(), fc.constant(null)),
  any: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    tie('leaf'),
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(key, tie('any'), { maxKeys: 3, noNullPrototype: true }),
  ),
})).any;

export const object = fc.dictionary(key, json, { maxKeys: 3, noNullPrototype: true });
export const objects = fc.array(object, { maxLength: 2 });
export const nullableText = fc.option(text, { freq: 5 });
/** A valid body of an email: not only white space, and without NUL. */
export const bodyText = fc.option(
  text.filter((it) => !it.includes('\0') && (it === '' || /[^\p{White_Space}]/u.test(it))),
  { freq: 5 },
);
export const flag = fc.option(fc.boolean(), { freq: 5 });
export const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
export const moment = fc
  .tuple(
    fc.date({ min: new Date('1980-01-01'), max: new Date('2080-01-01'), noInvalidDate: true }),
    fc.nat(2),
  )
  .map(([date, form]) => {
    const utc = date.toISOString();
    if (form === 0) return utc;
    if (form === 1) return `${utc.slice(0, 19)}Z`;
    return `${new Date(date.getTime() + 5_400_000).toISOString().slice(0, 19)}+01:30`;
  });

/** An object in which each member is optional. */
export function optionalMembers(members: {
  [name: string]: fc.Arbitrary<Json>;
}): fc.Arbitrary<{ [name: string]: Json }> {
  const maybe = Object.entries(members).map(([name, member]) =>
    fc.option(member, { nil: undefined, freq: 2 }).map((it) => [name, it] as const),
  );
  return fc
    .tuple(...maybe)
    .map((them) => Object.fromEntries(them.flatMap(([name, it]) => (it === undefined ? [] : [[name, it]]))));
}

export function upTo<T>(most: number, items: readonly T[]): fc.Arbitrary<T[]> {
  return fc.subarray([...items], { maxLength: Math.min(most, items.length) });
}
