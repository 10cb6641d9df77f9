import { kindOf } from '../kinds/index.js';
import type { Declared, KindName } from '../kinds/kind.js';
import { listScope } from '../kinds/references.js';
import type { Scope } from '../server/operations.js';
import type { Profile } from '../server/profiles.js';
import { listsFor } from './observe.js';

/** The scopes that observing and changing objects of some kinds takes, sorted. */
export function scopesOfKinds(kinds: Iterable<KindName>, profile: Profile): Scope[] {
  const scopes = [...kinds].flatMap((name) => {
    const kind = kindOf(name);
    return kind.readable(profile) ? [kind.scopes.read, kind.scopes.write] : [kind.scopes.write];
  });
  return [...new Set(scopes)].sort();
}

/** The scopes that documents need: those of their kinds, and those of the lists that they refer to. */
export function scopesOf(declared: readonly Declared[], profile: Profile): Scope[] {
  const kinds = new Set(declared.map(({ kind }) => kind));
  const listing = listsFor(declared, profile).flatMap((list) => listScope(list, profile) ?? []);
  return [...new Set([...scopesOfKinds(kinds, profile), ...listing])].sort();
}
