import { compareText } from '../base/values.js';
import type { DiscoverContext } from '../kinds/kind.js';
import type { OtherName } from '../kinds/other-names.js';
import { type Other, otherOf } from '../kinds/others.js';
import type { Profile } from '../server/profiles.js';

/** Something of a server that objects refer to or belong to. */
export interface FoundOther {
  readonly kind: OtherName;
  readonly id: string;
  readonly name: string | null;
  readonly label: string | null;
}

/** Lists what objects refer to or belong to, as far as the profile's server shows it, and says what it doesn't show. */
export async function findOthers(
  wanted: readonly Other[],
  profile: Profile,
  rows: DiscoverContext['rows'],
): Promise<{ readonly found: readonly FoundOther[]; readonly notes: readonly string[] }> {
  const found: FoundOther[] = [];
  const notes: string[] = [];
  for (const { name: kind, nouns, read, parse } of wanted) {
    const list = read(profile);
    if (list === undefined) {
      notes.push(`${nouns} can't be read with the profile ${profile.name}`);
      continue;
    }
    const listed = await rows(nouns, list, parse);
    if (listed === null) notes.push(`the server offers no list of ${nouns}`);
    const own = (listed ?? []).flatMap((row) => otherOf(row) ?? []);
    found.push(...own.map((one) => ({ kind, ...one })).sort((a, b) => compareText(a.id, b.id)));
  }
  return { found, notes };
}
