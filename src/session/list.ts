import type { OtherName } from '../base/kind-names.js';
import type { Problem } from '../base/problems.js';
import { compareText } from '../base/values.js';
import { addressOf } from '../kinds/index.js';
import { type Other, otherOf, others } from '../kinds/others.js';
import { holdList, listScope } from '../kinds/references.js';
import type { Project } from '../project/index.js';
import { discoverAll, type LookOptions } from '../pull/discover.js';
import type { ListedOther, ShownListing } from '../report/pull.js';
import type { ProfileName } from '../server/profiles.js';
import { type PullRequest, withPullContext } from './pull.js';
import type { SessionOptions } from './session.js';

export interface Listing extends ShownListing {
  readonly profile: ProfileName;
  /** What could not be looked for, one sentence each. */
  readonly notes: readonly string[];
  /** Ids that were asked for and that the server doesn't have (`not-found`). */
  readonly missing: readonly Problem[];
}

/** Lists what the server has, as far as its profile can read it. Sends only GETs. */
export async function list(
  project: Project,
  options: SessionOptions,
  request: Pick<PullRequest, 'kinds' | 'asked'> & { readonly others?: readonly OtherName[] },
): Promise<Listing> {
  const { kinds: wanted = [], asked = {}, others: besides = [] } = request;
  const isAll = wanted.length === 0 && Object.values(asked).every((ids = []) => ids.length === 0);
  return await withPullContext(project, options, request, async (context) => {
    const { server, look, wishes, notes } = context;
    const besidesAlone = besides.length > 0 && wanted.length === 0;
    const seen = await discoverAll(besidesAlone ? { ...wishes, kinds: [] } : wishes, [], look);
    const { profile } = server;
    const named = others.filter(({ name, list: own }) =>
      besides.length === 0 ? isAll && listScope(own, profile) !== undefined : besides.includes(name),
    );
    const beside = await discoverOthers(named, look);
    return {
      server: server.baseUrl,
      profile: profile.name,
      objects: seen.found.map(({ kind, finding: { identity, called, remark = null } }) => ({
        kind: kind.name,
        address: addressOf(kind.name, kind.naming?.(identity, seen.references)?.address ?? identity),
        identity,
        name: called,
        remark,
      })),
      others: beside.found,
      notes: [...notes, ...seen.notes, ...beside.notes],
      missing: seen.missing,
    };
  });
}

/** Lists what objects refer to or belong to, with a note for each list that can't be read. */
async function discoverOthers(
  wanted: readonly Other[],
  look: LookOptions,
): Promise<{ readonly found: readonly ListedOther[]; readonly notes: readonly string[] }> {
  const found: ListedOther[] = [];
  const notes: string[] = [];
  for (const { name: kind, nouns, list } of wanted) {
    if (listScope(list, look.profile) === undefined) {
      notes.push(`${nouns} can't be read with the profile ${look.profile.name}`);
      continue;
    }
    const listed = await holdList(look.lists, list, look);
    if (listed === null) notes.push(`the server offers no list of ${nouns}`);
    const own = [...(listed?.all() ?? [])].flatMap((row) => otherOf(row) ?? []);
    found.push(...own.map((one) => ({ kind, ...one })).sort((a, b) => compareText(a.id, b.id)));
  }
  return { found, notes };
}
