import type { Fields } from '../base/values.js';
import { elementKey } from '../kinds/fields.js';
import type { Grant } from '../kinds/holdings.js';
import { addressOf, kindOf } from '../kinds/index.js';
import { mergedJournal, type RunJournals } from './find-runs.js';
import { entriesOf } from './journal-entries.js';

/** When access was granted, and by which run. */
export interface GrantOrigin {
  readonly at: string;
  readonly run: string;
}

/** Identifies a grant of an object by the elements that contain it. */
export function grantKey(key: string, { path }: Pick<Grant, 'path'>): string {
  return [key, ...path.map(({ field, element }) => `${field}/${elementKey(element)}`)].join('/');
}

/** The origins of all current grants, by `grantKey`; `runs` are oldest first. If a list was unknown before, the first run that wrote it counts. */
export function grantOriginsIn(runs: readonly RunJournals[]): ReadonlyMap<string, GrantOrigin> {
  const origins = new Map<string, GrantOrigin>();
  for (const found of runs) {
    for (const { sending, answered } of entriesOf(mergedJournal(found))) {
      const { access } = kindOf(sending.kind);
      const hasEffect =
        answered !== undefined && answered.status !== 'failed' && answered.status !== 'skipped';
      if (access === undefined || !hasEffect) continue;
      const { before, expected, kind, action } = sending;
      // Servers choose the ids of new objects.
      const id = action === 'create' ? answered.after?.fields.id : undefined;
      const own = typeof id === 'string' ? addressOf(kind, { id }) : sending.key;
      const keysIn = (fields: Fields): string[] =>
        access.grants(fields, {}).map((grant) => grantKey(own, grant));
      for (const [field, after] of Object.entries(expected.fields)) {
        const granted = new Set(keysIn({ [field]: after }));
        const { [field]: former } = before.fields;
        const grantedBefore = keysIn({ [field]: former ?? null });
        for (const key of grantedBefore) if (!granted.has(key)) origins.delete(key);
        for (const key of grantedBefore) granted.delete(key);
        for (const key of granted) {
          // If the list was unknown, an earlier run may have granted it.
          if (former !== undefined || !origins.has(key))
            origins.set(key, { at: answered.at, run: found.name });
        }
      }
    }
  }
  return origins;
}
