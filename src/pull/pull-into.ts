import { objectKey } from '../base/identifiers.js';
import { error, type Problem, refuse } from '../base/problems.js';
import type { Fields, Json } from '../base/values.js';
import { isAsked } from '../kinds/discovery.js';
import { kindOf } from '../kinds/index.js';
import type { Declared, Finding, Live } from '../kinds/kind.js';
import type { LoadedManifests, ManifestSource } from '../manifests/load.js';
import { observe } from '../plan/observe.js';
import type { Seen } from '../plan/plan.js';
import { addresses } from '../plan/subjects.js';
import type { Project } from '../project/index.js';
import { BodyFiles } from './bodies.js';
import { type DiscoveredAll, discoverAll, type LookOptions } from './discover.js';
import { editFields, type FieldEdit } from './edit.js';
import { freshDocuments, type LeftOut, seenOf, seenOfNew } from './fresh.js';
import { VariableNames, type VariableToSet } from './literal.js';
import { placeDocuments } from './placement.js';
import { type PullWishes, withoutBuiltIn } from './pull-fresh.js';
import { type Update, updateOf } from './update.js';
import type { PulledFile } from './write.js';

/** A document of a manifest. */
interface DocumentAt {
  readonly source: ManifestSource;
  readonly number: number;
  readonly declared: Declared;
  written(): Json;
}

/**
 * Works out the edits that make a project's manifests and bodies declare what the server has, with GETs only. Throws an
 * AggregateError of what the reader threw, and a ProblemsError if a new document has no place.
 */
export async function pullInto(
  project: Project,
  manifests: LoadedManifests,
  wishes: PullWishes,
  look: LookOptions & {
    readonly tokenFile?: string | undefined;
    /** The recorded fields of an object, by its key in the state. */
    readonly knownOf?: (key: string) => Fields | undefined;
  },
): Promise<PullResult> {
  const { kinds, asked, builtIn, holds } = wishes;
  const { profile } = look;
  const all = manifests.sources.flatMap((source) =>
    source.documents.flatMap(({ declared, written }, number): DocumentAt[] =>
      declared === undefined ? [] : [{ source, number, declared, written }],
    ),
  );
  const concerned = all.filter(({ declared }) => {
    const kind = kindOf(declared.kind);
    const { discovery } = kind;
    if (!kinds.includes(kind) || discovery === undefined || !kind.readable(profile)) return false;
    return isAsked(discovery, declared.identity, asked);
  });
  // Before the server is read, so that a link made meanwhile is noticed.
  const bodies = new BodyFiles(project, manifests, look.tokenFile);
  await bodies.look();
  const declared = concerned.map((one) => one.declared);
  const discovered = await discoverAll(wishes, declared, look);
  const { references } = discovered;
  const { live, found } = await lookUp(concerned, discovered, look);
  const names = new VariableNames();
  const options = { profile, names, holds, references, builtIn };
  const updates = concerned.map((one): Wanted => {
    const now = live.get(one);
    if (now === undefined) return { one, update: undefined };
    const bodyTrouble = (path: string, text: string) => bodies.trouble(one.source, path, text);
    return {
      one,
      update: updateOf(one.declared, one.written(), now, {
        ...options,
        bodyTrouble,
        known: look.knownOf?.(addresses({ ...one.declared, declared: one.declared }, now, references).key),
      }),
    };
  });
  for (const { one, update } of updates) {
    for (const body of update?.bodies ?? []) bodies.want(one.source, body);
  }
  const edited = editedSources(updates);
  const left = [...updates.flatMap(({ update }) => update?.left ?? []), ...bodies.conflicts()];
  const fresh = withoutBuiltIn(discovered, builtIn).filter((one) => !found.has(one.finding));
  const { documents, left: leftOut } = freshDocuments(fresh, options);
  const changed = await placeDocuments(documents, edited, project, manifests, wishes, bodies);
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
    seen: [...seen, ...documents.map((one) => seenOfNew(one, options))],
    notes: discovered.notes,
    missing: discovered.missing,
  };
}

type Wanted = { readonly one: DocumentAt; readonly update: Update | undefined };

/** The live object of each document: one that was found, otherwise read now. */
async function lookUp(
  concerned: readonly DocumentAt[],
  { found: all, references, lists }: DiscoveredAll,
  look: LookOptions,
): Promise<{ live: ReadonlyMap<DocumentAt, Live>; found: ReadonlySet<Finding> }> {
  const keyOf = (subject: Parameters<typeof addresses>[0], now: Live | undefined): string =>
    objectKey(addresses(subject, now, references).key);
  const byKey = new Map(
    all.map(({ kind, finding }) => [
      keyOf({ kind: kind.name, identity: finding.identity, declared: undefined }, finding.live),
      finding,
    ]),
  );
  const live = new Map<DocumentAt, Live>();
  const found = new Set<Finding>();
  const take = (one: DocumentAt, now: Live | undefined): boolean => {
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

/** The manifests after their edits; a field that can't be edited moves from `fields` to `left`. */
function editedSources(updates: readonly Wanted[]): ReadonlyMap<ManifestSource, string> {
  const bySource = new Map<ManifestSource, (FieldEdit & { one: DocumentAt; update: Update })[]>();
  for (const { one, update } of updates) {
    for (const [field, next] of Object.entries(update?.fields ?? {})) {
      const edits = bySource.get(one.source) ?? [];
      if (update !== undefined) edits.push({ document: one.number, field, next, one, update });
      bySource.set(one.source, edits);
    }
  }
  const texts = new Map<ManifestSource, string>();
  for (const [source, edits] of bySource) {
    const reason = 'its file is a link; idops writes through no link';
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

/** The outcome of a pull; nothing is written yet. */
export interface PullResult {
  readonly files: readonly PulledFile[];
  /** New documents. */
  readonly added: number;
  /** Changed documents. */
  readonly updated: number;
  /** Documents that match the server already. */
  readonly unchanged: number;
  /** Variables in place of secrets, to be set before the next plan. */
  readonly toSet: readonly VariableToSet[];
  /** Parts of new objects that no document can declare. */
  readonly leftOut: readonly LeftOut[];
  /** Declarations that differ from the server and weren't changed. */
  readonly left: readonly Problem[];
  /** What was asked for by id and doesn't exist. */
  readonly missing: readonly Problem[];
  /** The live objects of documents that now match the server. */
  readonly seen: readonly Seen[];
  /** A sentence for each thing that can't be looked for. */
  readonly notes: readonly string[];
}
