import { error, refuse } from '../base/problems.js';
import { type Fields, type Json, objectKey } from '../base/values.js';
import { isAsked } from '../kinds/discovery.js';
import { kindOf } from '../kinds/index.js';
import type { Declared, Finding, Live } from '../kinds/kind.js';
import type { LoadedManifests } from '../manifests/index.js';
import type { ManifestSource } from '../manifests/load.js';
import { observe } from '../plan/observe.js';
import { addresses } from '../plan/subjects.js';
import type { Project } from '../project/index.js';
import { withNew } from './assemble.js';
import { BodyFiles } from './bodies.js';
import type { LookOptions } from './discover.js';
import { editFields, type FieldEdit } from './edit.js';
import { freshDocuments } from './fresh.js';
import { type PullWishes, withoutBuiltIn } from './fresh-files.js';
import { VariableNames } from './names.js';
import type { PullResult } from './result.js';
import { seenAnew, seenOf } from './seen.js';
import { type Survey, survey } from './survey.js';
import { type Update, updateOf } from './update.js';

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
  look: LookOptions & {
    readonly tokenFile?: string | undefined;
    /** What idops knew last of an object, by its key in the state. */
    readonly knownOf?: (key: string) => Fields | undefined;
  },
): Promise<PullResult> {
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
  const surveyed = await survey(
    wishes,
    concerned.map(({ declared }) => declared),
    look,
  );
  const { references } = surveyed;
  const { live, found } = await lookUp(concerned, surveyed, look);
  const names = new VariableNames();
  const options = { profile, names, holds, references, builtIn };
  const knownOf = ({ declared }: Standing, now: Live) => {
    const { key } = addresses(
      { kind: declared.kind, identity: declared.identity, declared },
      now,
      references,
    );
    return look.knownOf?.(key);
  };
  const updates = concerned.map((one): Wanted => {
    const now = live.get(one);
    if (now === undefined) return { one, update: undefined };
    const bodyTrouble = (path: string, text: string) => bodies.trouble(one.source, path, text);
    return {
      one,
      update: updateOf(one.declared, one.written(), now, {
        ...options,
        bodyTrouble,
        known: knownOf(one, now),
      }),
    };
  });
  for (const { one, update } of updates) {
    for (const body of update?.bodies ?? []) bodies.want(one.source, body);
  }
  const edited = editedSources(updates);
  const left = [...updates.flatMap(({ update }) => update?.left ?? []), ...bodies.conflicts()];
  const fresh = withoutBuiltIn(surveyed, builtIn).filter((one) => !found.has(one.finding));
  const { documents, left: leftOut } = freshDocuments(fresh, options);
  const changed = await withNew(documents, edited, project, manifests, wishes, bodies);
  const toSet = [
    ...updates.flatMap(({ update }) => update?.toSet ?? []),
    ...documents.flatMap((document) => document.toSet),
  ];
  const files = [...changed, ...bodies.files()].sort((a, b) => (a.path < b.path ? -1 : 1));
  refuse(await bodies.guarded(files));
  const own = new Set(concerned.map(({ source }) => source.path));
  const outcomes = updates.map(({ one, update }) => {
    if (update === undefined) return 'left';
    const isMade =
      Object.keys(update.fields).length > 0 ||
      update.bodies.some(({ path }) => bodies.isWanted(one.source, path));
    if (isMade) return 'updated';
    return update.left.length + update.bodies.length === 0 ? 'unchanged' : 'left';
  });
  const seen = updates.flatMap(({ one, update }, index) => {
    const now = live.get(one);
    const isWhole = update !== undefined && update.left.length === 0 && outcomes[index] !== 'left';
    return isWhole && now?.exists === true ? [seenOf(update.declared, now, options)] : [];
  });
  return {
    files: files.filter(({ path, action }) => action !== 'unchanged' || own.has(path)),
    added: documents.length,
    updated: outcomes.filter((outcome) => outcome === 'updated').length,
    unchanged: outcomes.filter((outcome) => outcome === 'unchanged').length,
    toSet,
    left,
    leftOut,
    seen: [...seen, ...documents.map((one) => seenAnew(one, options))],
    notes: surveyed.notes,
    missing: surveyed.missing,
  };
}

type Wanted = { readonly one: Standing; readonly update: Update | undefined };

/** What the server has of each document's object: as it was found, or read now where it wasn't. */
async function lookUp(
  concerned: readonly Standing[],
  { found: all, references, lists }: Survey,
  look: LookOptions,
): Promise<{ live: ReadonlyMap<Standing, Live>; found: ReadonlySet<Finding> }> {
  const keyOf = (subject: Parameters<typeof addresses>[0], now: Live | undefined): string =>
    objectKey(addresses(subject, now, references).key);
  const byKey = new Map(
    all.map(({ kind, finding }) => [
      keyOf({ kind: kind.name, identity: finding.identity, declared: undefined }, finding.live),
      finding,
    ]),
  );
  const live = new Map<Standing, Live>();
  const found = new Set<Finding>();
  const take = (one: Standing, now: Live | undefined): boolean => {
    const { kind, identity } = one.declared;
    const finding = byKey.get(keyOf({ kind, identity, declared: one.declared }, now));
    if (finding === undefined) return false;
    found.add(finding);
    live.set(one, finding.live);
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

/** The manifests with their documents brought up to what the server has; a field that can't be changed becomes one that is left. */
function editedSources(updates: readonly Wanted[]): ReadonlyMap<ManifestSource, string> {
  const bySource = new Map<ManifestSource, (FieldEdit & { one: Standing; update: Update })[]>();
  for (const { one, update } of updates) {
    for (const [field, next] of Object.entries(update?.fields ?? {})) {
      const edits = bySource.get(one.source) ?? [];
      if (update !== undefined) edits.push({ document: one.number, field, next, one, update });
      bySource.set(one.source, edits);
    }
  }
  const texts = new Map<ManifestSource, string>();
  for (const [source, edits] of bySource) {
    const reason = 'its file is a link, which is not written through';
    const { text, refused } =
      source.path === source.target
        ? editFields(source.text, edits)
        : { text: source.text, refused: edits.map((edit) => ({ edit, reason })) };
    texts.set(source, text);
    for (const { edit, reason: why } of refused) {
      const { one, field, update } = edit;
      const message = `${update.address}: ${field} differs from what the server has, and ${why}`;
      const hint = 'change it by hand; idops plan shows both values';
      update.left.push(error('not-pulled', message, [one.declared.placeOf(field)], hint));
      delete update.fields[field];
      update.toSet = update.toSet.filter(({ path }) => /^\w*/.exec(path)?.[0] !== field);
    }
  }
  return texts;
}
