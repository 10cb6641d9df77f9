import { identifierKey, objectKey } from '../base/identifiers.js';
import { error, type Place, type Problem, refuse } from '../base/problems.js';
import type { Safety } from '../base/safety.js';
import { assign, type Fields, groupBy, type Json } from '../base/values.js';
import { firstFew } from '../base/words.js';
import { isNamedByFilter, matchesFilters } from '../kinds/discovery.js';
import { addressOf, kindOf } from '../kinds/index.js';
import type { Declared, FoundObject, Kind, Live } from '../kinds/kind.js';
import { awaitLists, readListOnce } from '../kinds/references.js';
import type { LoadedManifests, ManifestSource } from '../manifests/load.js';
import { formerNames } from '../plan/decider.js';
import { expandSelectors, mergeAbout } from '../plan/expand.js';
import { listsOfNames, type ObjectRef, observe } from '../plan/observe.js';
import { addresses } from '../plan/subjects.js';
import { removeEndedAccess } from '../plan/until.js';
import type { Project } from '../project/index.js';
import { BodyFiles } from './bodies.js';
import { type DiscoveredAll, type DiscoverOptions, discoverAll, type PullOptions } from './discover.js';
import { editFields } from './edit.js';
import { createDocuments, type ServerLists, seenOf, seenOfNew, whyPlanDiffers } from './new-documents.js';
import { placeDocuments } from './placement.js';
import { type PullFindings, withoutBuiltIn } from './pull-new.js';
import { createUpdate, type Update } from './update.js';
import type { PulledFile } from './write.js';
import { VariableNames } from './write-value.js';

interface DocumentAt {
  readonly source: ManifestSource;
  readonly number: number;
  readonly declared: Declared;
  written(): Json;
}

export interface PullIntoOptions extends DiscoverOptions {
  readonly tokenFile?: string | undefined;
  /** Undefined if the state can't be used. */
  readonly state: Parameters<typeof removeEndedAccess>[2]['state'] | undefined;
  /** The instant that decides which access has ended. */
  readonly now: Date;
}

/**
 * Creates the edits that make a project's manifests and bodies match the server, with GETs only. Throws an AggregateError of what
 * the reader threw, and a ProblemsError if no manifest can contain a new document.
 */
export async function pullInto(
  project: Project,
  manifests: LoadedManifests,
  pullOptions: PullOptions,
  look: PullIntoOptions,
): Promise<PullResult> {
  const { kinds, asked, builtIn, hasCredential, by, declaredOnly } = pullOptions;
  const { profile } = look;
  const isSelected = ({ kind: name, identity }: Declared, live?: Live): boolean => {
    const kind = kindOf(name);
    const { discovery } = kind;
    if (!kinds.includes(kind) || discovery === undefined || !kind.readable(profile)) return false;
    return matchesFilters(
      discovery,
      live === undefined ? identity : assign(identity, live.identity),
      asked,
      live,
    );
  };
  // Before the server is read, so that a link created in the meantime is noticed.
  const bodies = new BodyFiles(project, manifests, look.tokenFile);
  await bodies.findReferences();
  const {
    documents,
    many: coveredByKey,
    problems,
  } = await documentsById(manifests, kinds, project.safety(), look);
  const candidates = documents.filter(({ declared }) => isSelected(declared));
  const covered = [...coveredByKey.values()].filter(({ declared }) => isSelected(declared));
  const discovered = await discoverAll(
    pullOptions,
    [...candidates, ...covered].map((one) => one.declared),
    look,
  );
  const { references } = discovered;
  const { live, found } = await lookUp([...candidates, ...covered], discovered, look);
  const liveOf = (one: Subject): Live =>
    live.get(one) ?? { exists: false, identity: {}, fields: {}, reason: one.declared.reason ?? '' };
  const isSelectedLive = (one: Subject): boolean => isSelected(one.declared, liveOf(one));
  const selected = candidates.filter(isSelectedLive);
  const names = new VariableNames();
  const options = { profile, names, hasCredential, references, builtIn, declaredOnly, by };
  const recordedFields = (key: string) => look.state?.resources[key]?.left?.fields as Fields | undefined;
  const coveringDocuments = ({ kind, identity }: ObjectRef) =>
    coveredByKey.get(addressOf(kind, identity))?.documents ?? [];
  const updates = selected.map((one): DocumentUpdate => {
    const now = liveOf(one);
    const whyBodyNotWritable = (path: string, text: string) => bodies.whyNotWritable(one.source, path, text);
    return {
      one,
      update: createUpdate(one.declared, one.written(), now, {
        ...options,
        whyBodyNotWritable,
        covering: coveringDocuments(one.declared),
        recorded: recordedFields(addresses(one.declared, now, references).key),
      }),
    };
  });
  for (const { one, update } of updates) for (const body of update.bodies) bodies.addEdit(one.source, body);
  const edited = editedSources(updates);
  const selectedCovered = covered.filter(isSelectedLive);
  const coveredProblems = differingCovered(selectedCovered, live, { profile, references });
  const ofUpdates = updates.flatMap(({ update }) => update.notPulled);
  const notPulled = [...problems, ...ofUpdates, ...bodies.conflicts(), ...coveredProblems];
  // An object that only documents about several objects cover gets its own document if an option names it.
  const isNew = ({ kind: { discovery }, finding }: DiscoveredAll['found'][number]): boolean => {
    const one = found.get(finding);
    if (one === undefined) return true;
    return (
      'documents' in one && discovery !== undefined && isNamedByFilter(discovery, finding.identity, asked)
    );
  };
  const newObjects = declaredOnly ? [] : withoutBuiltIn(discovered, builtIn).filter(isNew);
  const { documents: created, leftOut } = createDocuments(newObjects, options, coveringDocuments);
  const changed = await placeDocuments(created, edited, project, manifests, pullOptions, bodies);
  const toSet = [...updates.map(({ update }) => update), ...created].flatMap((one) => one.toSet);
  const files = [...changed, ...bodies.files()].sort((a, b) => (a.path < b.path ? -1 : 1));
  refuse(await bodies.refusals(files));
  const selectedPaths = new Set(selected.map(({ source }) => source.path));
  const isUpdated = ({ one, update }: DocumentUpdate): boolean =>
    Object.keys(update.fields).length > 0 ||
    update.bodies.some(({ path }) => bodies.hasEdit(one.source, path));
  const matching = updates.filter(
    ({ one, update }) =>
      update.notPulled.length === 0 && update.bodies.every(({ path }) => bodies.hasEdit(one.source, path)),
  );
  const seen = matching.flatMap(({ one, update }) => {
    const now = liveOf(one);
    const about = [update.declared, ...coveringDocuments(one.declared)];
    return now.exists ? [seenOf(mergeAbout(one.declared.identity, about), now, options)] : [];
  });
  const settled = new Set(matching.map(({ one: { source, number } }) => source.documents[number]));
  // Pull doesn't edit documents about several objects.
  const unsettled = new Set(
    manifests.sources
      .filter(({ documents: all }) =>
        all.some((one) => one.declared?.selector === undefined && !settled.has(one)),
      )
      .map(({ path }) => path),
  );
  const shown = files.filter(({ path, action }) => action !== 'unchanged' || selectedPaths.has(path));
  return {
    files: shown,
    settled: shown.filter(({ path }) => !unsettled.has(path)),
    added: created.length,
    updated: updates.filter(isUpdated).length,
    unchanged: matching.filter((one) => !isUpdated(one)).length,
    covered: selectedCovered.length,
    toSet,
    notPulled,
    leftOut,
    seen: [...seen, ...created.map((one) => seenOfNew(one, options))],
    notes: discovered.notes,
    missing: discovered.missing,
  };
}

/** An object that documents about several objects cover. */
interface Covered {
  /** What these documents declare together. */
  readonly declared: Declared;
  readonly documents: readonly Declared[];
}

/** The documents with ids instead of names, and by address, the objects that documents about several objects cover. */
async function documentsById(
  manifests: LoadedManifests,
  kinds: readonly Kind[],
  safety: Pick<Safety, 'protect'>,
  look: PullIntoOptions,
) {
  const all = manifests.sources.flatMap((source) =>
    source.documents.flatMap(({ declared, written }, number): DocumentAt[] =>
      declared === undefined || !kinds.includes(kindOf(declared.kind))
        ? []
        : [{ source, number, declared, written }],
    ),
  );
  const declared = all.map((one) => one.declared);
  for (const name of listsOfNames(declared, [], look.profile)) readListOnce(look.lists, name, look);
  const { plain, covering, problems } = expandSelectors(declared, await awaitLists(look.lists), { safety });
  const each = [...covering.values()].flatMap(({ documents }) => documents);
  const { state = { resources: {} }, now } = look;
  const current = removeEndedAccess(each, [], { state, now, endedOnly: false }).declared;
  let at = 0;
  const many = [...covering].map(([address, { identity, documents }]): [string, Covered] => {
    const own = current.slice(at, at + documents.length);
    at += documents.length;
    return [address, { declared: mergeAbout(identity, own), documents: own }];
  });
  const single = all.filter((one) => one.declared.selector === undefined);
  return {
    documents: single.map((one, index) => ({ ...one, declared: plain[index] ?? one.declared })),
    many: new Map(many),
    problems,
  };
}

/** Problems of documents about several objects that differ from the server: one for each document and field. */
function differingCovered(
  covered: readonly Covered[],
  live: ReadonlyMap<Subject, Live>,
  server: ServerLists,
) {
  const differing = new Map<string, { place: Place; field: string; addresses: string[] }>();
  for (const one of covered) {
    const now = live.get(one);
    if (now === undefined || (whyPlanDiffers(one.declared, now, server) === undefined && now.exists))
      continue;
    for (const document of one.documents) {
      for (const [field, value] of Object.entries(document.fields)) {
        if (whyPlanDiffers({ ...document, fields: { [field]: value } }, now, server) === undefined) continue;
        const place = document.places.of(field);
        const key = JSON.stringify([place, field]);
        const before = differing.get(key) ?? { place, field, addresses: [] };
        before.addresses.push(addressOf(document.kind, assign(document.identity, now.identity)));
        differing.set(key, before);
      }
    }
  }
  return [...differing.values()].map(({ place, field, addresses: those }) => {
    const message = `${field} of ${firstFew(those)} differs from what this document declares; pull doesn't edit documents about several objects`;
    const hint = 'edit it, or apply it; idops plan shows both values';
    return error('not-pulled', message, [place], hint);
  });
}

/** A document, or an object that documents about several objects cover. */
type Subject = DocumentAt | Covered;

type DocumentUpdate = { readonly one: DocumentAt; readonly update: Update };

/** The live object of each subject: a discovered one, otherwise one that is read now. */
async function lookUp(subjects: readonly Subject[], discovered: DiscoveredAll, look: PullIntoOptions) {
  const { found: all, references } = discovered;
  const keyOf = (subject: Parameters<typeof addresses>[0], now: Live | undefined): string =>
    objectKey(addresses(subject, now, references).key);
  const byKey = new Map(
    all.map(({ kind, finding }) => [
      keyOf({ kind: kind.name, identity: finding.identity }, finding.live),
      finding,
    ]),
  );
  const live = new Map<Subject, Live>();
  const found = new Map<FoundObject, Subject>();
  const assignFinding = (one: Subject, now: Live | undefined): boolean => {
    const { kind, identity } = one.declared;
    const finding = byKey.get(keyOf({ kind, identity }, now));
    if (finding === undefined) return false;
    // A document about only this object has priority.
    if (!found.has(finding)) found.set(finding, one);
    live.set(one, finding.live);
    return true;
  };
  const former = formerNames(look.state ?? { resources: {} });
  /** The only object that had the name of a document when it was recorded, and that no document identifies. */
  const renamed = ({ kind: of, identity: { id, name = '' } }: Declared): FoundObject | undefined => {
    const [only, ...more] = all.filter(
      ({ kind, finding }) =>
        kind.name === of &&
        !found.has(finding) &&
        former.get(identifierKey(finding.identity.id ?? ''))?.includes(name) === true,
    );
    return id === undefined && more.length === 0 ? only?.finding : undefined;
  };
  const notDiscovered = subjects.filter(
    (one) => one.declared.reason === undefined && !assignFinding(one, undefined),
  );
  const unmatched = notDiscovered.map((one) => ({
    one,
    kind: one.declared.kind,
    identity: one.declared.identity,
  }));
  const observed = await observe(unmatched, [], look);
  for (const object of unmatched) {
    const now = observed.live.get(object);
    if (now !== undefined && !assignFinding(object.one, now)) live.set(object.one, now);
  }
  for (const one of notDiscovered) {
    const finding = live.get(one)?.exists === false ? renamed(one.declared) : undefined;
    if (finding === undefined) continue;
    live.set(one, finding.live);
    found.set(finding, one);
  }
  return { live, found };
}

/** The manifests after their edits; a field that can't be edited moves from `fields` to `notPulled`. */
function editedSources(updates: readonly DocumentUpdate[]): ReadonlyMap<ManifestSource, string> {
  const all = updates.flatMap((owner) =>
    Object.entries(owner.update.fields).map(([field, next]) => {
      return { document: owner.one.number, field, next, owner };
    }),
  );
  const texts = new Map<ManifestSource, string>();
  for (const [source, edits] of groupBy(all, ({ owner }) => owner.one.source)) {
    const reason = 'its file is a link; idops writes through no link';
    const { text, refused } =
      source.path === source.target
        ? editFields(source.text, edits)
        : { text: source.text, refused: edits.map((edit) => ({ edit, reason })) };
    texts.set(source, text);
    for (const { edit, reason: why } of refused) {
      const { field, owner } = edit;
      const { one, update } = owner;
      const message = `${update.address}: ${field} differs from the server, and ${why}`;
      const hint = 'edit it; idops plan shows both values';
      update.notPulled.push(error('not-pulled', message, [one.declared.places.of(field)], hint));
      delete update.fields[field];
      update.toSet = update.toSet.filter(({ path }) => /^\w*/.exec(path)?.[0] !== field);
    }
  }
  return texts;
}

export interface PullResult extends PullFindings {
  readonly files: readonly PulledFile[];
  /** The files without local edits afterwards: all of their documents match the server. */
  readonly settled: readonly PulledFile[];
  /** New documents. */
  readonly added: number;
  /** Changed documents. */
  readonly updated: number;
  /** Documents that already matched the server. */
  readonly unchanged: number;
  /** Objects that documents about several objects cover. */
  readonly covered: number;
  /** Problems of declarations that differ from the server and weren't edited. */
  readonly notPulled: readonly Problem[];
}
