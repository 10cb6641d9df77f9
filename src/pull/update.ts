import { error, type Place, type Problem } from '../base/problems.js';
import { type Fields, isMap, type Json, mapValues, same, type Value } from '../base/values.js';
import { membersOf, value as plain } from '../kinds/fields.js';
import { kindOf } from '../kinds/index.js';
import type { Declared, Kind, Live } from '../kinds/kind.js';
import { mergeDocuments } from '../kinds/merge-documents.js';
import { ignoredFields } from '../kinds/rules.js';
import { mergeField } from './merge.js';
import {
  createWriteContext,
  displayAddress,
  elementId,
  type NewDocumentOptions,
  whyPlanDiffers,
} from './new-documents.js';
import type { VariableToSet } from './write-value.js';

/** A new text for a body file. */
export interface BodyEdit {
  readonly field: string;
  /** As the document has it, relative to the manifest. */
  readonly path: string;
  readonly text: string;
  /** The text that was read. */
  readonly before: string;
  readonly place: Place;
}

/** The edits that make a document match the server. */
export interface Update {
  readonly address: string;
  /** The new values of fields, as the document writes them. */
  readonly fields: { [field: string]: Json };
  readonly bodies: readonly BodyEdit[];
  /** The document after the edits. */
  readonly declared: Declared;
  toSet: readonly VariableToSet[];
  /** Problems of fields that differ and can't be edited. */
  readonly notPulled: Problem[];
}

export interface UpdateOptions extends NewDocumentOptions {
  readonly builtIn: boolean;
  /** Whether to add no keys to maps. */
  readonly declaredOnly: boolean;
  /** Documents about several objects that cover this one. */
  readonly covering: readonly Declared[];
  /** The fields of the object that the state records. */
  readonly recorded: Fields | undefined;
  /** Why a text can't be written to the file that a document names; undefined if it can be. */
  readonly whyBodyNotWritable: (path: string, text: string) => string | undefined;
}

/** Creates the edits after which a plan of the document is empty. Pure. */
export function createUpdate(declared: Declared, written: Json, live: Live, options: UpdateOptions): Update {
  const kind = kindOf(declared.kind);
  const address = displayAddress(kind, { ...declared.identity, ...live.identity }, options);
  const noUpdate: Update = { address, fields: {}, bodies: [], declared, toSet: [], notPulled: [] };
  const notPulled = (message: string, place: Place = declared.places.of(), hint?: string): Problem =>
    error('not-pulled', `${address}: ${message}`, [place], hint);
  if (declared.absent && declared.reason === undefined) {
    if (kind.deletion?.exists(live) !== true) return noUpdate;
    const message = `the document says "state: absent", and the server has the ${kind.noun}`;
    const hint = 'remove the document and pull again to keep it, or apply to delete it';
    return { ...noUpdate, notPulled: [notPulled(message, undefined, hint)] };
  }
  if (!live.exists) {
    return {
      ...noUpdate,
      notPulled: [
        notPulled(`${live.reason ?? `the server has no such ${kind.noun}`}${live.suggestion?.() ?? ''}`),
      ],
    };
  }
  const membersElsewhere = (field: string): Fields[] => membersOfCovering(kind, field, live, options);
  /** Why a plan would change these fields, apart from what other documents declare. */
  const differenceIn = (fields: Fields): string | undefined => {
    const declaredByAll = mapValues(fields, (declaredValue, field) =>
      withoutOthers(declaredValue, membersElsewhere(field)),
    );
    return whyPlanDiffers({ ...declared, fields: declaredByAll }, live, options);
  };
  const whole = differenceIn({ ...declared.fields });
  const added = mapValues({ ...declared.fields }, (declaredValue, field) =>
    options.declaredOnly ? [] : addedKeys(declaredValue, live.fields[field], options.recorded?.[field]),
  );
  if (whole === undefined && Object.values(added).every((keys) => keys.length === 0)) return noUpdate;
  if (!options.builtIn && kind.deletion?.isBuiltIn(live.fields) === true) {
    const message = `the server has only its built-in text of this ${kind.noun}`;
    const hint =
      'apply to customise it; declare "state: absent", or pull with --all-templates, to match the server';
    return { ...noUpdate, notPulled: [notPulled(message, undefined, hint)] };
  }
  const fields: { [field: string]: Json } = {};
  const values: { [field: string]: Value } = { ...declared.fields };
  const bodies: BodyEdit[] = [];
  const toSet: VariableToSet[] = [];
  const problems: Problem[] = [];
  /** The error of `validate` that a new value would cause. */
  const newValidationError = (field: string, value: Value): string | undefined => {
    const errorsOf = (one: Declared): string[] =>
      kind
        .check([one], options.profile)
        .flatMap(({ severity, message }) => (severity === 'error' ? [message] : []));
    const before = errorsOf(declared);
    const next = { ...declared, fields: { ...declared.fields, [field]: value } };
    const message = errorsOf(next).find((one) => !before.includes(one)) ?? contradiction(next, field);
    return message && `${field} is unchanged, since with the server's value ${message}`;
  };
  /** A message if a document about several objects declares another value. */
  const contradiction = (next: Declared, field: string): string | undefined => {
    const one = { ...next, fields: { [field]: next.fields[field] ?? null } };
    const [other] = mergeDocuments(
      declared.identity,
      [one, ...options.covering],
      options.references,
    ).contradictions;
    const place = other?.places[1];
    return place && `the document at ${place.file}:${place.line} declares another value`;
  };
  const ignored = ignoredFields(declared.fields, kind.traits[options.profile.name]);
  for (const [field, value] of Object.entries(declared.fields)) {
    const difference = differenceIn({ [field]: value });
    const newKeys = kind.fields[field]?.type === 'map' ? (added[field] ?? []) : [];
    if (difference === undefined && newKeys.length === 0) continue;
    const place = declared.places.of(field);
    if (ignored.includes(field)) {
      if (difference !== undefined) problems.push(notPulled(difference, place));
      continue;
    }
    const now = live.fields[field];
    if (now === undefined) {
      problems.push(notPulled(`the server doesn't show ${field}`, place));
      continue;
    }
    const raw = ((isMap(written) ? written[field] : undefined) ?? null) as Json;
    const writing = createWriteContext(kind, address, options);
    const newBodies: BodyEdit[] = [];
    const merged = mergeField(kind.fields[field] ?? plain, { raw, value }, now, {
      path: [field],
      whole: declared.whole.includes(field),
      added: newKeys,
      writing,
      membersElsewhere: membersElsewhere(field),
      idOf: (element) => elementId(kind, field, element, live.fields, options),
      body: (path, text, before) => {
        const trouble = options.whyBodyNotWritable(path, text);
        if (trouble === undefined) newBodies.push({ path, text, before, field, place });
        return trouble;
      },
    });
    const trouble =
      writing.unwritable.length > 0
        ? undefined
        : (differenceIn({ [field]: merged.value }) ?? newValidationError(field, merged.value));
    problems.push(
      ...(trouble === undefined ? writing.unwritable : [trouble]).map((reason) => notPulled(reason, place)),
    );
    if (trouble !== undefined) continue;
    if (!same(merged.raw, raw)) fields[field] = merged.raw;
    values[field] = merged.value;
    bodies.push(...newBodies);
    toSet.push(...writing.toSet);
  }
  if (whole !== undefined && Object.keys(fields).length + bodies.length + problems.length === 0)
    problems.push(notPulled(whole));
  return { address, fields, bodies, declared: { ...declared, fields: values }, toSet, notPulled: problems };
}

/** Keys of a live map that are neither declared nor recorded. */
function addedKeys(
  declaredValue: Value,
  now: Value | undefined,
  known: Value | undefined,
): readonly string[] {
  if (!isMap(declaredValue) || !isMap(now ?? null) || !isMap(known ?? null)) return [];
  return Object.keys(now as Fields).filter(
    (key) => !Object.hasOwn(declaredValue, key) && !Object.hasOwn(known as Fields, key),
  );
}

/** The members of a set that documents about several objects name. */
function membersOfCovering(kind: Kind, field: string, live: Live, options: UpdateOptions): Fields[] {
  return options.covering
    .flatMap(({ fields }) => membersOf(fields[field]))
    .flatMap((element) => {
      const id = elementId(kind, field, element, live.fields, options);
      return id === undefined ? [] : [{ id }];
    });
}

/** A whole set that ignores the members that other documents name. */
function withoutOthers(declaredValue: Value, others: readonly Fields[]): Value {
  return Array.isArray(declaredValue) && others.length > 0
    ? { whole: declaredValue, stay: [...others] }
    : declaredValue;
}
