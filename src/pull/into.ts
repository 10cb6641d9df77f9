import { error, type Problem, refuse } from '../base/problems.js';
import { type Json, objectKey } from '../base/values.js';
import { isAsked } from '../kinds/discovery.js';
import { kindOf } from '../kinds/index.js';
import type { Declared, Finding, Live } from '../kinds/kind.js';
import type { LoadedManifests } from '../manifests/index.js';
import type { ManifestSource } from '../manifests/load.js';
import { observe } from '../plan/observe.js';
import { addresses, sameObjects } from '../plan/subjects.js';
import type { Project } from '../project/index.js';
import { withNew } from './assemble.js';
import { BodyFiles } from './bodies.js';
import type { LookOptions } from './discover.js';
import { editFields, type FieldEdit } from './edit.js';
import { freshDocuments } from './fresh.js';
import { type PullWishes, withoutBuiltIn } from './fresh-files.js';
import { VariableNames } from './names.js';
import type { PullResult } from './result.js';
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
  look: LookOptions & { readonly tokenFile?: string | undefined },
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
  const seen = await survey(
    wishes,
    concerned.map(({ declared }) => declared),
    look,
  );
  const { references } = seen;
  const { live, found } = await lookUp(concerned, seen, look);
  const names = new VariableNames();
  const options = { profile, names, holds, references, builtIn };
  const twice = declaredTwice(concerned, live, references);
  const updates = concerned.map((one): Wanted => {
    const now = twice.has(one.declared) ? undefined : live.get(one);
    if (now === undefined) return { one, update: undefined };
    const bodyTrouble = (path: string, text: string) => bodies.trouble(one.source, path, text);
    return { one, update: updateOf(one.declared, one.written(), now, { ...options, bodyTrouble }) };
  });
  const left: Problem[] = [
    ...new Set(twice.values()),
    ...updates.flatMap(({ update }) => update?.left ?? []),
  ];
  for (const { one, update } of updates) {
    for (const body of update?.bodies ?? []) bodies.want(one.source, body);
  }
  left.push(...bodies.conflicts());
  const fresh = withoutBuiltIn(seen, builtIn).filter((one) => !found.has(one.finding));
  const { documents, left: leftOut } = freshDocuments(fresh, options);
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
  const own = new Set(concerned.map(({ source }) => source.path));
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
    files: files.filter(({ path, action }) => action !== 'unchanged' || own.has(path)),
    added: documents.length,
    updated: outcomes.filter((outcome) => outcome === 'updated').length,
    unchanged: outcomes.filter((outcome) => outcome === 'unchanged').length,
    toSet,
    left,
    leftOut,
    notes: seen.notes,
    missing: seen.missing,
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

/** The manifests with their documents brought up to what the server has, and the fields that could not be changed. */
function editedSources(
  updates: readonly Wanted[],
  left: Problem[],
): { readonly texts: ReadonlyMap<ManifestSource, string>; readonly refused: ReadonlySet<string> } {
  const bySource = new Map<ManifestSource, (FieldEdit & { one: Standing; address: string })[]>();
  for (const { one, update } of updates) {
    const { fields = {}, address = '' } = update ?? {};
    for (const [field, next] of Object.entries(fields)) {
      const edits = bySource.get(one.source) ?? [];
      edits.push({ document: one.number, field, next, one, address });
      bySource.set(one.source, edits);
    }
  }
  const texts = new Map<ManifestSource, string>();
  const refusedFields = new Set<string>();
  for (const [source, edits] of bySource) {
    const reason = 'its file is a link, which is not written through';
    const { text, refused } =
      source.path === source.target
        ? editFields(source.text, edits)
        : { text: source.text, refused: edits.map((edit) => ({ edit, reason })) };
    texts.set(source, text);
    for (const { edit, reason: why } of refused) {
      const { one, field, address } = edit;
      refusedFields.add(placeKey(one, field));
      const message = `${address}: ${field} differs from what the server has, and ${why}`;
      const hint = 'change it by hand; idops plan shows both values';
      left.push(error('not-pulled', message, [one.declared.placeOf(field)], hint));
    }
  }
  return { texts, refused: refusedFields };
}

/** Names a field of a document. */
function placeKey({ source, number }: Standing, field: string): string {
  return JSON.stringify([source.path, number, field]);
}
