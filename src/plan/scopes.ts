import { kindOf } from '../kinds/index.js';
import type { Declared } from '../kinds/kind.js';
import { listScope } from '../kinds/references.js';
import type { Scope } from '../server/operations.js';
import type { Profile } from '../server/profiles.js';
import { listsFor } from './observe.js';

/** The scopes that documents need: those of their kinds, and those of the lists that they refer to; sorted. */
export function scopesOf(declared: readonly Declared[], profile: Profile): Scope[] {
  const own = declared.flatMap(({ kind }) => {
    const { readable, scopes } = kindOf(kind);
    return readable(profile) ? [scopes.read, scopes.write] : [scopes.write];
  });
  const listing = listsFor(declared, profile).flatMap((list) => listScope(list, profile) ?? []);
  return [...new Set([...own, ...listing])].sort();
}
