import type { OtherName } from '../base/kind-names.js';
import { type Fields, isMap } from '../base/values.js';
import { type Page, type Parser, pages } from '../server/answers.js';
import type { ExtraRead } from '../server/operations.js';
import type { Profile } from '../server/profiles.js';
import { listRead } from './references.js';

/** Something that objects refer to or belong to, and its list. */
export interface Other {
  readonly name: OtherName;
  readonly nouns: string;
  read(profile: Profile): ExtraRead | undefined;
  readonly parse: Parser<Page<Fields>>;
}

export const others: readonly Other[] = [
  {
    name: 'Backend',
    nouns: 'backends',
    read: (profile) => listRead('backends', profile),
    parse: pages.backend,
  },
  { name: 'Scope', nouns: 'scopes', read: (profile) => listRead('scopes', profile), parse: pages.scope },
  { name: 'Role', nouns: 'roles', read: (profile) => listRead('roles', profile), parse: pages.role },
];

/** A row for people; undefined if it has no id. */
export function otherOf(row: Fields): { id: string; name: string | null; label: string | null } | undefined {
  if (!isMap(row) || typeof row.id !== 'string') return undefined;
  const text = (field: string): string | null => (typeof row[field] === 'string' ? row[field] : null);
  return { id: row.id, name: text('name'), label: text('label') };
}
