import { identifierKey } from '../base/identifiers.js';
import { error, type Problem, ProblemsError } from '../base/problems.js';
import type { Safety } from '../base/safety.js';
import { groupBy, withoutUndefined } from '../base/values.js';
import { firstFew } from '../base/words.js';
import { isOwnerGone } from '../kinds/by-name.js';
import { addressOf, kindOf } from '../kinds/index.js';
import type { Declared, Identity } from '../kinds/kind.js';
import { documentFor, mergeDocuments } from '../kinds/merge-documents.js';
import type { References } from '../kinds/references.js';
import type { PlanWarning } from './plan.js';
import { protectingPattern } from './select.js';
import { addresses } from './subjects.js';

/** One document for each object. It has the id unless the name wasn't found. */
export interface Expanded {
  readonly declared: readonly Declared[];
  readonly warnings: readonly PlanWarning[];
}

/** Which objects are left out although they match. */
export interface Exclusions {
  readonly safety: Pick<Safety, 'protect'>;
  /** The id of the user whose token is used, if it is known: servers let nobody change themselves. */
  readonly ownUser?: string | undefined;
}

/**
 * Finds the ids for names, expands bulk documents to one document for each object, and merges those about the same object. Throws a
 * ProblemsError if the objects of a bulk document can't be determined, or if they are too few.
 */
export function expand(
  documents: readonly Declared[],
  references: References,
  guarded: Exclusions,
): Expanded {
  if (documents.every(isPlain)) return { declared: documents, warnings: [] };
  const { plain, covering, problems, warnings } = expandSelectors(documents, references, guarded);
  if (problems.length > 0) throw new ProblemsError([...problems]);
  const found = plain.filter(({ reason }) => reason === undefined);
  const namesakes = groupBy(found, ({ kind, identity }) => addressOf(kind, identity));
  const own = plain.map((document) => {
    if (document.reason !== undefined) return document;
    const { kind, identity } = document;
    const address = addressOf(kind, identity);
    const { key } = addresses(document, undefined, references);
    // Documents that create users may have the same username in different backends.
    const isOnly = namesakes.get(address)?.length === 1;
    const others = [...new Set(isOnly ? [key, address] : [key])].flatMap((one) => {
      const { documents = [] } = covering.get(one) ?? {};
      covering.delete(one);
      return documents;
    });
    return mergeAbout(identity, [document, ...others], references);
  });
  const rest = [...covering.values()].map(({ identity, documents }) =>
    mergeAbout(identity, documents, references),
  );
  return { declared: [...own, ...rest], warnings };
}

/**
 * Finds the ids for names. `plain` has the documents about single objects, in order; `covering` has the expanded bulk documents by the
 * key of their object. `problems` say why the objects of a document can't be determined, or that they are too few.
 */
export function expandSelectors(documents: readonly Declared[], references: References, guarded: Exclusions) {
  const { safety, ownUser } = guarded;
  const problems: Problem[] = [];
  const warnings: PlanWarning[] = [];
  const plain: Declared[] = [];
  const covering = new Map<string, { identity: Identity; documents: Declared[] }>();
  const cover = (document: Declared): void => {
    const { key } = addresses(document, undefined, references);
    const before = covering.get(key);
    if (before === undefined) covering.set(key, { identity: document.identity, documents: [document] });
    else before.documents.push(document);
  };
  for (const document of documents) {
    const { bulk, noun } = kindOf(document.kind);
    if (document.selector === undefined) plain.push(withId(document, references));
    else if (bulk !== undefined) {
      const { found, notFound, reasons } = bulk.find(document.selector, references);
      problems.push(...reasons.map((trouble) => error('no-such-name', trouble, [document.places.of()])));
      const { atLeast = 0 } = document.selector;
      const count = `this document covers ${found.size} ${noun}${found.size === 1 ? '' : 's'}`;
      if (reasons.length === 0 && found.size < atLeast) {
        const message = `${count}, and at_least is ${atLeast}`;
        const hint = 'correct "match" or "users", or lower "at_least"';
        problems.push(error('too-few-objects', message, [document.places.of()], hint));
      } else if (reasons.length === 0 && found.size === 0 && notFound.length === 0) {
        warnings.push({ code: 'too-few-objects', message: count, place: startOf(document) });
      }
      const left: string[] = [];
      for (const [id, condition] of found) {
        const { all } = addresses({ kind: document.kind, identity: { id } }, undefined, references);
        const address = all.at(-1) ?? id;
        if (condition === undefined) cover(documentFor(document, { id }, condition));
        else if (protectingPattern(safety.protect, all) !== undefined) left.push(address);
        else if (ownUser !== undefined && identifierKey(id) === identifierKey(ownUser))
          warnings.push(leftOut(document, [address], OWN_USER));
        else cover(documentFor(document, { id }, condition));
      }
      if (left.length > 0)
        warnings.push(leftOut(document, left, `safety.protect names ${left.length === 1 ? 'it' : 'them'}`));
      for (const { identity, why } of notFound) {
        const missing = kindOf(document.kind).byName?.missing?.(identity, references);
        cover({ ...documentFor(document, missing ?? identity, undefined), reason: why });
      }
    }
  }
  return { plain, covering, problems, warnings };
}

const OWN_USER = 'the token that is used is theirs, and the server lets nobody change themselves';

/** The warning about matched objects that are left out. */
function leftOut(document: Declared, left: readonly string[], why: string): PlanWarning {
  const message = `"match" leaves out ${firstFew(left)}: ${why}`;
  return { code: 'left-out', message, place: startOf(document) };
}

/** The place of a document, with its column, so that reports show it beside the message. */
function startOf({ places }: Declared): NonNullable<PlanWarning['place']> {
  const { file, inProject, line, column } = places.of();
  return { file, line, column, ...withoutUndefined({ inProject }) };
}

function isPlain({ kind, identity, selector }: Declared): boolean {
  const { byName } = kindOf(kind);
  return selector === undefined && (byName === undefined || identity[byName.id] !== undefined);
}

function withId(document: Declared, references: References): Declared {
  const { byName } = kindOf(document.kind);
  if (byName === undefined || isPlain(document)) return document;
  if (document.absent && isOwnerGone(document.identity, references)) return document;
  const isExpected = document.creates === true || document.absent;
  const missing = isExpected ? byName.missing?.(document.identity, references) : undefined;
  if (missing !== undefined) return { ...document, identity: missing };
  const found = byName.find(document.identity, references);
  return { ...document, ...(typeof found === 'string' ? { reason: found } : { identity: found }) };
}

/** Merges several documents about an object into one, with a reason if they contradict each other. */
export function mergeAbout(
  identity: Identity,
  documents: readonly Declared[],
  references?: References,
): Declared {
  const [only, ...others] = documents;
  if (only !== undefined && others.length === 0) return only;
  const { document, contradictions } = mergeDocuments(identity, documents, references);
  if (contradictions.length === 0) return document;
  const sentences = contradictions.map(({ path, places: [one, other], removed }) =>
    removed === undefined
      ? `"${path}" is declared differently at ${one.file}:${one.line} and ${other.file}:${other.line}`
      : `"${removed}" of ${path} is declared at ${one.file}:${one.line} and removed at ${other.file}:${other.line}`,
  );
  return { ...document, reason: `${sentences.join('; ')}: declare one value` };
}
