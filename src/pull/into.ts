import { error, type Place, type Problem, refuse } from '../base/problems.js';
import { type Json, objectKey } from '../base/values.js';
import { isAsked } from '../kinds/discovery.js';
import { kindOf } from '../kinds/index.js';
import type { Declared, Finding, Kind, Live } from '../kinds/kind.js';
import type { LoadedManifests } from '../manifests/index.js';
import type { ManifestSource } from '../manifests/load.js';
import { observe } from '../plan/observe.js';
import { addresses, sameObjects } from '../plan/subjects.js';
import type { Project } from '../project/index.js';
import { withNew } from './assemble.js';
import { BodyFiles } from './bodies.js';
import type { LookOptions } from './discover.js';
import { type Edited, editFields, type FieldEdit } from './edit.js';
import { freshDocuments } from './fresh.js';
import { type PullWishes, withoutBuiltIn } from './fresh-files.js';
import { fitsManifest, tooLarge } from './layout.js';
import { VariableNames } from './names.js';
import type { PullResult } from './result.js';
import { type Survey, survey } from './survey.js';
import { type Update, updateOf } from './update.js';

/** What a pull into a project's files comes to. */
export interface ProjectPull extends PullResult {
  readonly survey: Survey;
}

/** A document of a manifest, and where it stands. */
interface Standing {
  readonly source: ManifestSource;
  readonly number: number;
  readonly declared: Declared;
  written(): Json;
}

/**
 * Works out how the manifests and bodies of a project come to say what the server has. Sends GETs alone, and writes nothing.
 * Throws an AggregateError of what the reader threw, and a ProblemsError where there is no place for a new document.
 */
export async function pullInto(
  project: Project,
  manifests: LoadedManifests,
  wishes: PullWishes,
  look: LookOptions & { readonly tokenFile?: string | undefined },
): Promise<ProjectPull> {
  const { kinds, asked, builtIn, holds } = wishes;
  const { profile } = look;
  const standing = manifests.sources.flatMap((source) =>
    source.documents.flatMap(({ declared, written }, number): Standing[] =>
      declared === undefined ? [] : [{ source, number, declared, written }],
    ),
  );
  const concerned = standing.filter(({ declared }) => {
    const kind = kindOf(declared.kind);
    const { discovery } = kind;
    if (!kinds.includes(kind) || discovery === undefined || !kind.readable(profile)) return false;
    return isAsked(discovery, declared.identity, asked);
  });
  // Before the server is read, so that what becomes a link meanwhile isn't taken for one that was there.
  const bodies = new BodyFiles(project, manifests, look.tokenFile);
  await bodies.look();
  const seen = await survey(
    wishes,
    concerned.map(({ declared }) => declared),
    look,
  );
  const { references } = seen;
  const byKey = new Map(seen.found.map((one) => [keyOf(one, references), one]));
  const { live, found } = await lookUp(concerned, byKey, seen, look);
  const names = new VariableNames();
  const options = { profile, names, holds, references, builtIn };
  const twice = declaredTwice(concerned, live, references);
  const wanted = concerned.map((one) => {
    if (twice.has(one.declared)) return { one, update: undefined };
    const now = live.get(one);
    const update: Update | undefined =
      now === undefined
        ? undefined
        : updateOf({ declared: one.declared, written: one.written() }, now, {
            ...options,
            bodyTrouble: (path, text) => bodies.trouble(one.source, path, text),
          });
    return { one, update };
  });
  const updates = withoutRefused(wanted, manifests.declared, look.profile);
  const left: Problem[] = [
    ...new Set(twice.values()),
    ...updates.flatMap(({ update }) => update?.left ?? []),
  ];
  for (const { one, update } of updates) {
    for (const body of update?.bodies ?? []) bodies.want(one.source, body);
  }
  left.push(...bodies.conflicts());
  const fresh = withoutBuiltIn(seen, builtIn).filter((one) => !found.has(one.finding));
  const { documents, left: leftOut } = freshDocuments(fresh, manifests.declared, options);
  const { texts: edited, refused } = editedSources(updates, left);
  const changed = await withNew(documents, edited, project, manifests, wishes, bodies);
  const toSet = [
    ...updates.flatMap(({ one, update }) =>
      (update?.toSet ?? []).filter(({ path }) => !refused.has(placeKey(one, /^\w*/.exec(path)?.[0] ?? ''))),
    ),
    ...documents.flatMap((document) => document.toSet),
  ];
  const files = [...changed, ...bodies.files()].sort((a, b) => (a.path < b.path ? -1 : 1));
  refuse(await bodies.guarded(files));
  const outcomes = updates.map(({ one, update }) => {
    if (update === undefined) return 'left';
    const isMade =
      Object.keys(update.fields).some((field) => !refused.has(placeKey(one, field))) ||
      update.bodies.some(({ path }) => bodies.isWanted(one.source, path));
    if (isMade) return 'updated';
    const isSaid = update.left.length + update.bodies.length + Object.keys(update.fields).length === 0;
    return isSaid ? 'unchanged' : 'left';
  });
  return {
    files: files.filter(({ path, action }) => action !== 'unchanged' || isConcerned(path, concerned)),
    added: documents.length,
    updated: outcomes.filter((outcome) => outcome === 'updated').length,
    unchanged: outcomes.filter((outcome) => outcome === 'unchanged').length,
    toSet,
    left,
    leftOut,
    notes: seen.notes,
    survey: seen,
  };
}

type Wanted = { readonly one: Standing; readonly update: Update | undefined };

/** Takes out what `validate` would have something to say about that it doesn't say now, be it about one document or several. */
function withoutRefused(
  updates: readonly Wanted[],
  declared: readonly Declared[],
  profile: LookOptions['profile'],
): readonly Wanted[] {
  const changed = new Map(
    updates.flatMap(({ one, update }) =>
      update === undefined ? [] : [[one.declared, update.declared] as const],
    ),
  );
  const refused = new Map<string, string>();
  const at = ({ file, line, column }: Place): string => `${file}\0${line}\0${column}`;
  for (const kind of new Set(updates.map(({ one }) => kindOf(one.declared.kind)))) {
    const own = declared.filter((document) => document.kind === kind.name);
    const before = new Set(kind.check(own, profile).map(({ message }) => message));
    const after = kind.check(
      own.map((document) => changed.get(document) ?? document),
      profile,
    );
    for (const { message, places } of after.filter((problem) => !before.has(problem.message))) {
      for (const place of places) refused.set(at(place), message);
    }
  }
  if (refused.size === 0) return updates;
  return updates.map(({ one, update }) => {
    const now: { readonly [field: string]: unknown } = update?.declared.fields ?? {};
    const fields = Object.keys(now).filter((field) => now[field] !== one.declared.fields[field]);
    const wrong = fields.flatMap((field) => {
      const place = one.declared.placeOf(field);
      const message = refused.get(at(place));
      return message === undefined ? [] : [{ field, place, message }];
    });
    if (update === undefined || wrong.length === 0) return { one, update };
    const kept = Object.entries(update.fields).filter(
      ([field]) => !wrong.some((other) => other.field === field),
    );
    const left = wrong.map(({ field, message, place }) =>
      error('not-pulled', `${field} stays as it is: with what the server has, ${message}`, [place]),
    );
    const bodies = update.bodies.filter(({ field }) => !wrong.some((other) => other.field === field));
    return {
      one,
      update: { ...update, fields: Object.fromEntries(kept), bodies, left: [...update.left, ...left] },
    };
  });
}

function isConcerned(path: string, concerned: readonly Standing[]): boolean {
  return concerned.some(({ source }) => source.path === path);
}

function keyOf(
  { kind, finding }: { kind: Kind; finding: Finding },
  references: Survey['references'],
): string {
  const { identity, live } = finding;
  return objectKey(addresses({ kind: kind.name, identity, declared: undefined }, live, references).key);
}

/** What the server has of each document's object: as it was found, or read now where it wasn't. */
async function lookUp(
  concerned: readonly Standing[],
  byKey: ReadonlyMap<string, { readonly kind: Kind; readonly finding: Finding }>,
  { references, lists }: Survey,
  look: LookOptions,
): Promise<{ live: ReadonlyMap<Standing, Live>; found: ReadonlySet<Finding> }> {
  const live = new Map<Standing, Live>();
  const found = new Set<Finding>();
  const take = (one: Standing, now: Live | undefined): boolean => {
    const { kind, identity } = one.declared;
    const key = addresses({ kind, identity, declared: one.declared }, now, references).key;
    const known = byKey.get(objectKey(key));
    if (known === undefined) return false;
    found.add(known.finding);
    live.set(one, known.finding.live);
    return true;
  };
  const others = concerned.filter((one) => !take(one, undefined));
  const wanted = others.map(({ declared: { kind, identity } }) => ({ kind, identity }));
  const observed = await observe(wanted, [], { ...look, lists });
  for (const [index, one] of others.entries()) {
    const object = wanted[index];
    const now = object === undefined ? undefined : observed.live.get(object);
    if (now !== undefined && !take(one, now)) live.set(one, now);
  }
  return { live, found };
}

/** The edits of a manifest, or none where it would be larger than one may be. */
function withinSize(text: string, edits: readonly FieldEdit[]): Edited {
  const edited = editFields(text, edits);
  if (fitsManifest(edited.text)) return edited;
  return {
    text,
    refused: edits.map((edit) => ({ edit, reason: `with it the manifest ${tooLarge}` })),
  };
}

/** Documents of which several are about one object, each with what is said of all of them: a plan takes none. */
function declaredTwice(
  concerned: readonly Standing[],
  live: ReadonlyMap<Standing, Live>,
  references: Survey['references'],
): ReadonlyMap<Declared, Problem> {
  const groups = sameObjects(
    concerned.map((one) => {
      const { kind, identity } = one.declared;
      const subject = { kind, identity, declared: one.declared };
      return { subject, key: objectKey(addresses(subject, live.get(one), references).key) };
    }),
  );
  const told = new Map<Declared, Problem>();
  for (const [one, others] of groups) {
    if (told.has(one)) continue;
    const all = [one, ...others];
    const message = `${all.length} documents are about one ${kindOf(one.kind).noun} of the server, so that none of them is changed`;
    const problem = error(
      'not-pulled',
      message,
      all.map(({ place }) => place),
      'keep one of them, and pull again',
    );
    for (const document of all) told.set(document, problem);
  }
  return told;
}

/** The manifests with their documents brought up to what the server has. */
function editedSources(
  updates: readonly Wanted[],
  left: Problem[],
): {
  readonly texts: ReadonlyMap<ManifestSource, string>;
  readonly refused: ReadonlySet<string>;
} {
  const kept = new Set<string>();
  const bySource = new Map<
    ManifestSource,
    { edit: FieldEdit; place: Place; key: string; address: string }[]
  >();
  for (const { one, update } of updates) {
    for (const [field, next] of Object.entries(update?.fields ?? {})) {
      const edits = bySource.get(one.source) ?? [];
      const place = one.declared.placeOf(field);
      const address = update?.address ?? '';
      edits.push({ edit: { document: one.number, field, next }, place, key: placeKey(one, field), address });
      bySource.set(one.source, edits);
    }
  }
  const texts = new Map(
    [...bySource].map(([source, edits]) => {
      const isLink = source.path !== source.target;
      const { text, refused } = isLink
        ? {
            text: source.text,
            refused: edits.map(({ edit }) => ({
              edit,
              reason: 'its file is a link, which is not written through',
            })),
          }
        : withinSize(
            source.text,
            edits.map(({ edit }) => edit),
          );
      for (const { edit, reason } of refused) {
        const { place, key = '', address } = edits.find((one) => one.edit === edit) ?? {};
        kept.add(key);
        left.push(
          error(
            'not-pulled',
            `${address === undefined ? '' : `${address}: `}${edit.field} differs from what the server has, and ${reason}`,
            place === undefined ? [] : [place],
            'change it by hand; idops plan shows both values',
          ),
        );
      }
      return [source, text] as const;
    }),
  );
  return { texts, refused: kept };
}

/** Names a field of a document. */
function placeKey({ source, number }: Standing, field: string): string {
  return JSON.stringify([source.path, number, field]);
}
