import { kindOf } from '../kinds/index.js';
import type { Declared, KindName } from '../kinds/kind.js';
import { operations, type Scope } from '../server/operations.js';
import type { Profile } from '../server/profiles.js';
import { needOrganizations } from './observe.js';

/** The scopes that observing and changing objects of some kinds takes, sorted. */
export function scopesOfKinds(kinds: Iterable<KindName>, profile: Profile): Scope[] {
  const scopes = [...kinds].flatMap((name) => {
    const kind = kindOf(name);
    return kind.readable(profile) ? [kind.scopes.read, kind.scopes.write] : [kind.scopes.write];
  });
  return [...new Set(scopes)].sort();
}

/** The scopes that documents need: those of their kinds, and that of the list of organizations where they refer to some. */
export function scopesOf(declared: readonly Declared[], profile: Profile): Scope[] {
  const kinds = new Set(declared.map(({ kind }) => kind));
  const listing = needOrganizations(declared, profile) ? [operations.listOrganizations.scope] : [];
  return [...new Set([...scopesOfKinds(kinds, profile), ...listing])].sort();
}
