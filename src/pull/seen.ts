import { extended } from '../base/extended.js';
import { isMap, type Value } from '../base/values.js';
import { kindOf } from '../kinds/index.js';
import type { Declared, Live } from '../kinds/kind.js';
import { takenFields } from '../kinds/rules.js';
import type { Seen } from '../plan/plan.js';
import { addresses } from '../plan/subjects.js';
import { declaredOf, type FreshDocument, type FreshOptions } from './fresh.js';

/** What the server has of an object, of the fields that its document declares. */
export function seenOf(
  declared: Declared,
  live: Live,
  { references, profile }: Pick<FreshOptions, 'references' | 'profile'>,
): Seen {
  const { kind, identity } = declared;
  const expected = takenFields(declared.fields, kindOf(kind).traits[profile.name]);
  return {
    key: addresses({ kind, identity, declared }, live, references).key,
    kind,
    identity: extended(identity, live.identity),
    expected,
    managed: Object.keys(expected),
    fields: live.fields,
  };
}

/** The same of a new document; a map of which it could not say all has something in it that is for no file. */
export function seenAnew(one: FreshDocument, options: Pick<FreshOptions, 'references' | 'profile'>): Seen {
  const seen = seenOf(declaredOf(one), one.live, options);
  const isWhole = (field: string, value: Value): boolean => {
    const said = seen.expected[field];
    return (
      !isMap(value) ||
      said === undefined ||
      !isMap(said) ||
      Object.keys(value).every((key) => Object.hasOwn(said, key))
    );
  };
  const whole = Object.entries(seen.fields).filter(([field, value]) => isWhole(field, value));
  return { ...seen, fields: Object.fromEntries(whole) };
}
