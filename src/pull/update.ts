import { error, type Place, type Problem } from '../base/problems.js';
import { type Fields, isMap, type Json, mapValues, same, type Value } from '../base/values.js';
import { membersOf, value as plain } from '../kinds/fields.js';
import { kindOf } from '../kinds/index.js';
import type { Declared, Kind, Live } from '../kinds/kind.js';
import { mergeDocuments } from '../kinds/merge-documents.js';
import { ignoredFields } from '../kinds/rules.js';
import { displayAddress, type FreshOptions, idOf, troubleOf, writingOf } from './fresh.js';
import type { VariableToSet } from './literal.js';
import { mergeField } from './merge.js';

/** A new text for a body file. */
export interface BodyEdit {
  readonly field: string;
  /** As in the document, relative to its manifest. */
  readonly path: string;
  readonly text: string;
  /** The text when the file was read. */
  readonly before: string;
  readonly place: Place;
}

/** The edits that make a document declare what the server has. */
export interface Update {
  readonly address: string;
  /** New values of its fields, as written. */
  readonly fields: { [field: string]: Json };
  readonly bodies: readonly BodyEdit[];
  /** The document after the edits. */
  readonly declared: Declared;
  toSet: readonly VariableToSet[];
  /** What can't be edited. */
  readonly left: Problem[];
}

export interface UpdateOptions extends FreshOptions {
  readonly builtIn: boolean;
  /** Add no key to a map. */
  readonly declaredOnly: boolean;
  /** Documents about many objects that cover this one. */
  readonly others: readonly Declared[];
  /** The recorded fields of the object. */
  readonly known: Fields | undefined;
  /** Why a text can't be written to the file that a document names; undefined if it can. */
  readonly bodyTrouble: (path: string, text: string) => string | undefined;
}

/** The edits after which a plan has nothing to do for a document. Pure. */
export function updateOf(declared: Declared, written: Json, live: Live, options: UpdateOptions): Update {
  const kind = kindOf(declared.kind);
  const address = displayAddress(kind, { ...declared.identity, ...live.identity }, options);
  const nothing: Update = { address, fields: {}, bodies: [], declared, toSet: [], left: [] };
  const left = (message: string, place: Place = declared.places.of(), hint?: string): Problem =>
    error('not-pulled', `${address}: ${message}`, [place], hint);
  if (declared.absent && declared.reason === undefined) {
    if (kind.deletion?.exists(live) !== true) return nothing;
    const message = `the document says "state: absent", and the server has the ${kind.noun}`;
    const hint = 'remove the document and pull again to keep what the server has, or apply to delete it';
    return { ...nothing, left: [left(message, undefined, hint)] };
  }
  if (!live.exists) {
    return {
      ...nothing,
      left: [left(`${live.reason ?? `the server has no such ${kind.noun}`}${live.suggestion?.() ?? ''}`)],
    };
  }
  const othersIn = (field: string): Fields[] => namedByOthers(kind, field, live, options);
  /** Why a plan would change these fields, beside what other documents declare. */
  const troubleWith = (some: Fields): string | undefined => {
    const joined = mapValues(some, (said, field) => besideOthers(said, othersIn(field)));
    return troubleOf({ ...declared, fields: joined }, live, options);
  };
  const whole = troubleWith({ ...declared.fields });
  const added = mapValues({ ...declared.fields }, (said, field) =>
    options.declaredOnly ? [] : addedKeys(said, live.fields[field], options.known?.[field]),
  );
  if (whole === undefined && Object.values(added).every((keys) => keys.length === 0)) return nothing;
  if (!options.builtIn && kind.deletion?.isBuiltIn(live.fields) === true) {
    const message = `the server has its built-in text of this ${kind.noun}, which nobody customised`;
    const hint =
      'apply to customise it; declare "state: absent", or pull with --all-templates, to have what the server has';
    return { ...nothing, left: [left(message, undefined, hint)] };
  }
  const fields: { [field: string]: Json } = {};
  const values: { [field: string]: Value } = { ...declared.fields };
  const bodies: BodyEdit[] = [];
  const toSet: VariableToSet[] = [];
  const problems: Problem[] = [];
  /** An error of `validate` that the new value would add. */
  const refusalOf = (field: string, value: Value): string | undefined => {
    const errorsOf = (one: Declared): string[] =>
      kind
        .check([one], options.profile)
        .flatMap(({ severity, message }) => (severity === 'error' ? [message] : []));
    const before = errorsOf(declared);
    const next = { ...declared, fields: { ...declared.fields, [field]: value } };
    const message = errorsOf(next).find((one) => !before.includes(one)) ?? contradicted(next, field);
    return message && `${field} stays as it is: with what the server has, ${message}`;
  };
  /** A document about many that declares another value. */
  const contradicted = (next: Declared, field: string): string | undefined => {
    const one = { ...next, fields: { [field]: next.fields[field] ?? null } };
    const [other] = mergeDocuments(declared.identity, [one, ...options.others]).contradictions;
    const place = other?.places[1];
    return place && `the document at ${place.file}:${place.line} declares another value`;
  };
  const ignored = ignoredFields(declared.fields, kind.traits[options.profile.name]);
  for (const [field, value] of Object.entries(declared.fields)) {
    const wrong = troubleWith({ [field]: value });
    const news = kind.fields[field]?.type === 'map' ? (added[field] ?? []) : [];
    if (wrong === undefined && news.length === 0) continue;
    const place = declared.places.of(field);
    if (ignored.includes(field)) {
      if (wrong !== undefined) problems.push(left(wrong, place));
      continue;
    }
    const now = live.fields[field];
    if (now === undefined) {
      problems.push(left(`the server doesn't show ${field}`, place));
      continue;
    }
    const raw = ((isMap(written) ? written[field] : undefined) ?? null) as Json;
    const writing = writingOf(kind, address, options);
    const own: BodyEdit[] = [];
    const merged = mergeField(kind.fields[field] ?? plain, { raw, value }, now, {
      path: [field],
      whole: declared.whole.includes(field),
      added: news,
      writing,
      others: othersIn(field),
      idOf: (element) => idOf(kind, field, element, live.fields, options),
      body: (path, text, before) => {
        const trouble = options.bodyTrouble(path, text);
        if (trouble === undefined) own.push({ path, text, before, field, place });
        return trouble;
      },
    });
    const trouble =
      writing.left.length > 0
        ? undefined
        : (troubleWith({ [field]: merged.value }) ?? refusalOf(field, merged.value));
    problems.push(...(trouble === undefined ? writing.left : [trouble]).map((reason) => left(reason, place)));
    if (trouble !== undefined) continue;
    if (!same(merged.raw, raw)) fields[field] = merged.raw;
    values[field] = merged.value;
    bodies.push(...own);
    toSet.push(...writing.toSet);
  }
  if (whole !== undefined && Object.keys(fields).length + bodies.length + problems.length === 0)
    problems.push(left(whole));
  return { address, fields, bodies, declared: { ...declared, fields: values }, toSet, left: problems };
}

/** Keys of a live map that are neither declared nor recorded. */
function addedKeys(said: Value, now: Value | undefined, known: Value | undefined): readonly string[] {
  if (!isMap(said) || !isMap(now ?? null) || !isMap(known ?? null)) return [];
  return Object.keys(now as Fields).filter(
    (key) => !Object.hasOwn(said, key) && !Object.hasOwn(known as Fields, key),
  );
}

/** The members of a set that documents about many name. */
function namedByOthers(kind: Kind, field: string, live: Live, options: UpdateOptions): Fields[] {
  return options.others
    .flatMap(({ fields }) => membersOf(fields[field]))
    .flatMap((element) => {
      const id = idOf(kind, field, element, live.fields, options);
      return id === undefined ? [] : [{ id }];
    });
}

/** A whole set that leaves alone the members that other documents name. */
function besideOthers(said: Value, others: readonly Fields[]): Value {
  return Array.isArray(said) && others.length > 0 ? { whole: said, stay: [...others] } : said;
}
