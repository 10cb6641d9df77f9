import { client } from './client.js';
import { emailTemplate } from './email-template.js';
import { keyPair } from './key-pair.js';
import type { Kind, KindName, Regeneration } from './kind.js';
import { organization } from './organization.js';
import { user } from './user.js';

/** Every kind, in the order in which changes are applied. */
export const kinds: readonly Kind[] = [organization, user, keyPair, emailTemplate, client];

const byName = new Map(kinds.map((kind) => [kind.name, kind]));

export function kindOf(name: KindName): Kind {
  const kind = byName.get(name);
  if (kind === undefined) throw new Error(`unknown kind ${name}`);
  return kind;
}

/** The kind of which something is made anew on demand, and how. */
export const regenerated: { readonly kind: Kind; readonly regeneration: Regeneration } = only(
  kinds.flatMap((kind) =>
    kind.regeneration === undefined ? [] : [{ kind, regeneration: kind.regeneration }],
  ),
);

/** Commands that regenerate name no kind, so that there can be but one. */
function only<T>(found: readonly T[]): T {
  const [one, ...others] = found;
  if (one === undefined || others.length > 0) throw new Error('one kind has a regeneration, and no other');
  return one;
}

/** Whether a text is the name of a kind. */
export function isKindName(name: string): name is KindName {
  return byName.has(name as KindName);
}
