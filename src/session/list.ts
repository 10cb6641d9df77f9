import type { Problem } from '../base/problems.js';
import { objectKey } from '../base/values.js';
import { isAsked } from '../kinds/discovery.js';
import { addressOf } from '../kinds/index.js';
import type { Declared, Kind } from '../kinds/kind.js';
import { idTrouble } from '../kinds/limits.js';
import type { OtherName } from '../kinds/other-names.js';
import { others } from '../kinds/others.js';
import { observe } from '../plan/observe.js';
import type { Project } from '../project/index.js';
import type { LookOptions } from '../pull/discover.js';
import { findOthers } from '../pull/others.js';
import { type Survey, survey } from '../pull/survey.js';
import type { LackingObject, ShownListing } from '../report/pull.js';
import type { ProfileName } from '../server/profiles.js';
import { looking, type PullRequest, wishesOf } from './pull.js';
import type { SessionOptions } from './session.js';

/** What a server has. */
export interface Listing extends ShownListing {
  /** The profile that it was read with. */
  readonly profile: ProfileName;
  /** What could not be looked for, a sentence each. */
  readonly notes: readonly string[];
  /** Ids that were asked for and that the server doesn't show (`not-found`). */
  readonly missing: readonly Problem[];
  /** Whether an error of a manifest keeps it from being known which objects are declared. */
  readonly unsure: boolean;
}

/** Lists what the server has, as far as its profile can read it, with GETs alone. */
export async function list(
  project: Project,
  options: SessionOptions,
  request: Pick<PullRequest, 'kinds' | 'asked'> & { readonly other?: OtherName },
): Promise<Listing> {
  const { kinds: wanted = [], asked = {}, other } = request;
  const isAll = wanted.length === 0 && Object.values(asked).every((ids = []) => ids.length === 0);
  return await looking(project, options, request, async ({ server, manifests, look, known, notes }) => {
    const wishes = wishesOf(request);
    const seen = await survey({ ...wishes, ...(other === undefined ? {} : { kinds: [] }), known }, [], look);
    const { profile } = server;
    const named = others.filter(({ name, read }) =>
      other === undefined ? isAll && read(profile) !== undefined : name === other,
    );
    const beside = await findOthers(named, profile, seen.rows);
    const places = new Map(manifests.declared.map((document) => [keyOf(document), placeOf(document)]));
    const met = new Set<string>();
    const objects = seen.found.map(({ kind, finding: { identity, called, remark = null } }) => {
      const naming = kind.naming?.(identity, seen.references);
      const names = [identity, ...(naming?.all ?? [])].map((one) => objectKey(addressOf(kind.name, one)));
      for (const name of names) met.add(name);
      const declaredAt = names.map((name) => places.get(name)).find((place) => place !== undefined);
      return {
        kind: kind.name,
        address: addressOf(kind.name, naming?.address ?? identity),
        identity,
        name: called,
        remark,
        ...(declaredAt === undefined ? {} : { declaredAt }),
      };
    });
    const wanted = other === undefined ? wishes.kinds : [];
    const open = manifests.declared.filter(
      (document) =>
        !document.absent && !met.has(keyOf(document)) && isWanted(document, wanted, asked, server.profile),
    );
    // A list of something else says nothing of what is declared.
    const problems =
      other === undefined ? manifests.problems.filter(({ severity }) => severity === 'error') : [];
    return {
      server: server.baseUrl,
      profile: server.profile.name,
      objects,
      lacking: await lackingOf(open, seen, look),
      others: beside.found,
      notes: [...notes, ...seen.notes, ...beside.notes],
      missing: seen.missing,
      problems,
      unsure: problems.length > 0,
    };
  });
}

/** Whether a document's object is among what is listed; one that no path can name is none that could be asked for. */
function isWanted(
  { kind, identity }: Declared,
  kinds: readonly Kind[],
  asked: NonNullable<PullRequest['asked']>,
  profile: LookOptions['profile'],
): boolean {
  const { discovery } = kinds.find(({ name }) => name === kind) ?? {};
  return (
    discovery !== undefined &&
    isAsked(discovery, identity, asked) &&
    idTrouble(identity, profile) === undefined
  );
}

/** Those of some documents whose objects the server doesn't have, where it can be asked. */
async function lackingOf(
  open: readonly Declared[],
  { lists }: Survey,
  look: LookOptions,
): Promise<LackingObject[]> {
  if (open.length === 0) return [];
  const { live } = await observe(open, [], { ...look, lists });
  return open.flatMap((document) => {
    if (live.get(document)?.exists !== false) return [];
    const { kind, identity } = document;
    return [{ kind, address: addressOf(kind, identity), identity, declaredAt: placeOf(document) }];
  });
}

/** The address of what a document is about: by its id where it says it. */
function keyOf({ kind, identity }: Pick<Declared, 'kind' | 'identity'>): string {
  return objectKey(addressOf(kind, identity.id === undefined ? identity : { id: identity.id }));
}

function placeOf({ place: { file, inProject, line } }: Pick<Declared, 'place'>): LackingObject['declaredAt'] {
  return { file, line, ...(inProject === undefined ? {} : { inProject }) };
}
