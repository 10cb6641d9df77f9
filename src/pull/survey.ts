import { error, type Problem } from '../base/problems.js';
import { altered } from '../kinds/declared.js';
import { isAsked } from '../kinds/discovery.js';
import { kinds as everyKind } from '../kinds/index.js';
import type { Asked, Declared, Discovered, Finding, Kind } from '../kinds/kind.js';
import { idTrouble } from '../kinds/limits.js';
import {
  type HeldLists,
  heldLists,
  holdList,
  listNames,
  listScope,
  type References,
} from '../kinds/references.js';
import { identifier } from '../kinds/schema.js';
import { undocumented } from '../plan/subjects.js';
import type { Profile } from '../server/profiles.js';
import { discover, type Found, type LookOptions, unreadable, type Wanted } from './discover.js';

/** What a server has of what was looked for, and the lists that its objects refer to. */
export interface Survey {
  readonly found: readonly { readonly kind: Kind; readonly finding: Finding }[];
  readonly references: References;
  /** The same while they are held, for what is read after them. */
  readonly lists: HeldLists;
  /** Reads a list that the document doesn't have, unless it was read already. */
  readonly rows: Found['rows'];
  /** What could not be looked for, and what to do, a sentence each. */
  readonly notes: readonly string[];
  /** What was asked for by its id and isn't there. */
  readonly missing: readonly Problem[];
}

/** Looks at the server, with GETs alone. `declared` are documents whose references are looked up besides. */
export async function survey(
  wanted: Wanted,
  declared: readonly Declared[],
  look: LookOptions,
): Promise<Survey> {
  const { kinds, asked } = wanted;
  const { reader, profile } = look;
  const { byKind, lists, rows } = await discover(wanted, look);
  const found = kinds.flatMap((kind) =>
    (byKind.get(kind)?.found ?? [])
      .filter(({ identity }) => kind.discovery !== undefined && isAsked(kind.discovery, identity, asked))
      .map((finding) => ({ kind, finding })),
  );
  const referring = [
    ...declared,
    ...found.map(({ kind, finding: { identity, live } }) =>
      altered(undocumented(kind.name, identity), { fields: live.fields }),
    ),
  ];
  const needed = new Set(
    referring.flatMap((one) => kinds.find(({ name }) => name === one.kind)?.refersTo?.(one, profile) ?? []),
  );
  await Promise.all(
    listNames
      .filter((name) => needed.has(name) && listScope(name, profile) !== undefined)
      .map((name) => holdList(lists, name, { reader, profile }, () => {})),
  );
  return {
    found,
    references: await heldLists(lists),
    lists,
    rows,
    notes: [
      ...unreadable(
        kinds.filter((kind) => !byKind.has(kind)),
        profile,
      ),
      ...kinds.flatMap((kind) => byKind.get(kind)?.notes ?? []),
    ],
    missing: kinds.flatMap((kind) => missing(kind, found, asked, byKind.get(kind), profile)),
  };
}

/** What was asked for and isn't there; `own` is undefined where the profile has no read for the kind. */
function missing(
  kind: Kind,
  found: Survey['found'],
  asked: Asked,
  own: Discovered | undefined,
  { name }: Profile,
): Problem[] {
  const hint = 'idops list shows what there is, and idops doctor which profile fits';
  return Object.entries(kind.discovery?.options ?? {}).flatMap(([option, part]) =>
    (asked[option] ?? [])
      .filter((id) => !found.some((one) => one.kind === kind && one.finding.identity[part] === id))
      .map((id) => {
        const why =
          own === undefined
            ? `no ${kind.noun} can be read with the profile ${name}`
            : (own.unasked ?? `the server shows no ${kind.noun} with this ${part}`);
        return error('not-found', `--${option} ${id}: ${why}`, [], hint);
      }),
  );
}

/** What is wrong with what was asked for: ids that no path can carry, and options of kinds that were left out. */
export function askedProblems(asked: Asked, kinds: readonly Kind[], profile: Profile): Problem[] {
  return everyKind.flatMap((kind) =>
    Object.entries(kind.discovery?.options ?? {}).flatMap(([option, part]) =>
      (asked[option] ?? []).flatMap((id) => {
        if (!kinds.includes(kind)) {
          return [
            error('wrong-option', `--${option} goes with the kind ${kind.name}, which isn't asked for`),
          ];
        }
        const usable = identifier().safeParse(id).success;
        const why = usable ? idTrouble({ [part]: id }, profile) : `the ${part} can't name an object`;
        return why === undefined ? [] : [error('wrong-option', `--${option}: ${why}`)];
      }),
    ),
  );
}
