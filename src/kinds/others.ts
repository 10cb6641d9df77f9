import type { OtherName } from '../base/kind-names.js';
import { type Fields, isMap } from '../base/values.js';
import type { ListName } from './references.js';

/** Something that objects refer to or belong to, and its list. */
export interface Other {
  readonly name: OtherName;
  readonly nouns: string;
  readonly list: ListName;
}

export const others: readonly Other[] = [{ name: 'Backend', nouns: 'backends', list: 'backends' }];

/** A row for people; undefined if it has no id. */
export function otherOf(row: Fields): { id: string; name: string | null; label: string | null } | undefined {
  if (!isMap(row) || typeof row.id !== 'string') return undefined;
  const text = (field: string): string | null => (typeof row[field] === 'string' ? row[field] : null);
  return { id: row.id, name: text('name'), label: text('label') };
}
