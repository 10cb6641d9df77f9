import type { PastChange, PastRun } from '../apply/history.js';
import type { Result } from '../apply/result.js';
import type { Place, Problem } from '../base/problems.js';
import { type Redactor, redactAddress } from '../base/redact.js';
import {
  type Fields,
  holdsSensitive,
  isMap,
  type Json,
  mapValues,
  Sensitive,
  same,
  type Value,
} from '../base/values.js';
import { kindOf } from '../kinds/index.js';
import type { NamedSample } from '../mail/samples.js';
import type { Change, FieldChange, Plan, PlanWarning, WarningPlace } from '../plan/plan.js';
import type { Gallery } from './gallery.js';
import type { History } from './history.js';
import type { Named } from './names.js';
import type { ShownListing, ShownPull } from './pull.js';
import type { ShownState } from './recorded.js';

/*
 * Everything that is shown, without credentials in its values, before it is laid out. What idops itself says of it
 * stays, and so does what the configuration says: actions, kinds, codes, digests, times, server and environment. Of
 * addresses and paths the names in them are values.
 */

/** A plan to be shown, not to be sealed or applied. */
export function redactPlan(plan: Plan, redactor: Redactor): Plan {
  return {
    ...plan,
    changes: plan.changes.map((change) => redactChange(change, redactor)),
    warnings: plan.warnings.map((warning) => redactWarning(warning, redactor)),
    ...(plan.again === undefined ? {} : { again: plan.again.map(redactor.redactName) }),
  };
}

function redactChange(change: Change, redactor: Redactor): Change {
  const { reason, declaredAt } = change;
  const address = redactAddress(change.address, redactor);
  return {
    ...change,
    address,
    ...redactLabel(change, redactor),
    destructions: each(change.destructions, redactor.redactSentence),
    requests: each(change.requests, ({ operation, params }) => ({
      operation,
      params: mapValues(params, redactor.redactName),
    })),
    fields: each(change.fields, (field) => redactField(field, redactor)),
    warnings: each(change.warnings, (warning) => redactWarning(warning, redactor)),
    reason: reason === null ? null : redactor.redactSentence(reason),
    declaredAt: declaredAt === null ? null : redactNames(declaredAt, redactor.redactFile),
    apply: redactApply(change, address, redactor),
  };
}

/** Most changes of a large plan have nothing of most things. */
function each<T>(items: readonly T[], redact: (item: T) => T): readonly T[] {
  return items.length === 0 ? items : items.map((item) => redact(item));
}

/** What apply needs: of whole values the emails alone are shown, and those are searched when they are. */
function redactApply({ kind, address, apply }: Change, shown: string, redactor: Redactor): Change['apply'] {
  const { expected, before } = apply;
  const redacted = {
    ...apply,
    key: apply.key === address ? shown : redactAddress(apply.key, redactor),
    identity: mapValues(apply.identity, redactor.redactName),
    expected: unshown,
    before: unshown,
  };
  if (kindOf(kind).email === undefined) return redacted;
  let shownExpected: Fields | undefined;
  let shownBefore: Fields | undefined;
  return {
    ...redacted,
    get expected() {
      shownExpected ??= redactFields(expected, redactor);
      return shownExpected;
    },
    get before() {
      shownBefore ??= redactFields(before, redactor);
      return shownBefore;
    },
  };
}

const unshown: Fields = Object.freeze({});

function redactLabel({ label }: Named, { redact }: Redactor): { label?: string } {
  return label === undefined ? {} : { label: redact(label) };
}

function redactWarning({ message, place, places, ...rest }: PlanWarning, redactor: Redactor): PlanWarning {
  const redacted = (one: WarningPlace) => redactNames(one, redactor.redactFile);
  return {
    ...rest,
    message: redactor.redactSentence(message),
    ...(place === undefined ? {} : { place: redacted(place) }),
    ...(places === undefined ? {} : { places: places.map(redacted) }),
  };
}

/** A difference; where it is in what is masked alone, it is a secret one, since both sides would look alike. */
function redactField<T extends FieldChange>(field: T, redactor: Redactor): T {
  const before = field.before === undefined ? undefined : redactValue(field.before, redactor);
  const after = redactValue(field.after, redactor);
  // The API's own name of the field stays, what stands behind it may be a key of a map.
  const [name = ''] = /^\w*/.exec(field.path) ?? [];
  const rest = field.path.slice(name.length);
  const path = name + (field.type === 'map' ? redactor.redactKey(rest) : redactor.redactName(rest));
  const hidden = before !== undefined && same(before, after) && !same(field.before ?? null, field.after);
  const drift = redactDrift(field, before, redactor);
  return { ...field, path, before, after, sensitive: field.sensitive || hidden, ...drift };
}

/** What a run left; a secret where it differs from what is there now in what is masked alone. */
function redactDrift(
  field: FieldChange,
  before: Value | undefined,
  redactor: Redactor,
): Pick<FieldChange, 'drift'> {
  const { drift } = field;
  if (drift === undefined || holdsSensitive(drift.recorded)) return { ...(drift && { drift }) };
  const shown = redactValue(drift.recorded, redactor);
  // Where the two differ in what is masked alone, what is shown of them would look alike.
  const hidden =
    before !== undefined &&
    !holdsSensitive(before) &&
    same(shown, before) &&
    !same(drift.recorded, field.before ?? null);
  return { drift: { ...drift, recorded: hidden ? new Sensitive(null) : shown } };
}

/** Fields without credentials in their values; the same ones where there is none, since a large plan has many. */
function redactFields(fields: Fields, redactor: Redactor): Fields {
  const redacted = mapValues(fields, (field) => redactValue(field, redactor));
  return Object.entries(redacted).every(([name, field]) => field === fields[name]) ? fields : redacted;
}

/**
 * A value of whatever shape, without credentials in its texts and in the keys of its maps; the same one where there is
 * none.
 */
export function redactValue(value: Value, redactor: Redactor): Value {
  if (typeof value === 'string') return redactor.redact(value);
  if (Array.isArray(value)) {
    const items = value.map((item) => redactValue(item, redactor));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (!isMap(value)) return value;
  let isSame = true;
  const members: [string, Value][] = [];
  const taken = new Set<string>();
  for (const [key, member] of Object.entries(value)) {
    const shown = redactor.redactKey(key);
    let unique = shown;
    for (let number = 2; taken.has(unique); number += 1) unique = `${shown} ${number}`;
    taken.add(unique);
    const redacted = redactValue(member, redactor);
    isSame &&= unique === key && redacted === member;
    members.push([unique, redacted]);
  }
  return isSame ? value : Object.fromEntries(members);
}

/** What emails are rendered with, by the template's address. */
export function redactSamples(
  samples: ReadonlyMap<string, readonly NamedSample[]>,
  redactor: Redactor,
): ReadonlyMap<string, readonly NamedSample[]> {
  return new Map(
    [...samples].map(([address, named]) => [
      redactAddress(address, redactor),
      named.map((sample) => redactSample(sample, redactor)),
    ]),
  );
}

function redactSample({ name, file, data }: NamedSample, redactor: Redactor): NamedSample {
  return {
    name: redactor.redactFile(name),
    file: redactor.redactFile(file),
    // There is no secret among JSON's own types, so none comes in.
    data: mapValues({ ...data }, (value) => redactValue(value, redactor) as Json),
  };
}

/** What a run did. */
export function redactResult(result: Result, redactor: Redactor): Result {
  return {
    ...result,
    results: result.results.map((one) => ({
      ...one,
      address: redactAddress(one.address, redactor),
      ...redactLabel(one, redactor),
      unverified: one.unverified.map(redactor.redactName),
      error: one.error === null ? null : redactor.redactSentence(one.error),
      ...(one.gist === undefined ? {} : { gist: redactor.redactSentence(one.gist) }),
      ...(one.notes === undefined ? {} : { notes: one.notes.map(redactor.redactSentence) }),
    })),
  };
}

/** A run of the past, as its journal tells it. */
export function redactRun(past: PastRun, redactor: Redactor): PastRun {
  const { parts } = past;
  return {
    ...redactPart(past, redactor),
    ...(parts === undefined ? {} : { parts: parts.map((part) => redactPart(part, redactor)) }),
  };
}

function redactPart<T extends Pick<PastRun, 'run' | 'changes'>>(part: T, redactor: Redactor): T {
  const { run, changes } = part;
  return {
    ...part,
    run: redactRunLine(run, redactor),
    changes: changes.map((past) => redactPast(past, run.run, redactor)),
  };
}

/** What a run did to one object. */
function redactPast(
  { change, key, called, at, result }: PastChange,
  run: string,
  redactor: Redactor,
): PastChange {
  return {
    change: {
      ...change,
      address: redactAddress(change.address, redactor),
      ...redactLabel(change, redactor),
      fields: change.fields.map((field) => redactField(field, redactor)),
    },
    key: redactAddress(key, redactor),
    ...(called === undefined ? {} : { called: redactor.redact(called) }),
    at,
    result:
      result === null
        ? null
        : (redactResult({ run, results: [result], interrupted: false }, redactor).results[0] ?? null),
  };
}

/** What a state records. */
export function redactState(state: ShownState, redactor: Redactor): ShownState {
  return {
    ...state,
    place: redactor.redactFile(state.place),
    records: state.records.map((record) => ({
      ...record,
      address: redactAddress(record.address, redactor),
      ...redactLabel(record, redactor),
      fields: redactFields(record.fields, redactor),
      left: record.left && { ...record.left, fields: redactFields(record.left.fields, redactor) },
    })),
  };
}

/** What runs did to one object. */
export function redactHistory({ address, past }: History, redactor: Redactor): History {
  return {
    address: redactAddress(address, redactor),
    past: past.map(({ run, change }) => ({
      run: redactRunLine(run, redactor),
      change: redactPast(change, run.run, redactor),
    })),
  };
}

function redactRunLine(run: PastRun['run'], { redactName }: Redactor): PastRun['run'] {
  return { ...run, user: redactName(run.user), host: redactName(run.host) };
}

/** Both names of a file. */
function redactNames<T extends Pick<Place, 'file' | 'inProject'>>(
  place: T,
  redact: (file: string) => string,
): T {
  const { file, inProject } = place;
  return {
    ...place,
    file: redact(file),
    ...(inProject === undefined ? {} : { inProject: redact(inProject) }),
  };
}

/** Problems: what they say, and the lines that they are about. */
export function redactProblems(
  problems: readonly Problem[],
  { redact, redactFile, redactSentence }: Redactor,
): Problem[] {
  return problems.map(({ hint, ...problem }) => ({
    ...problem,
    message: redactSentence(problem.message),
    ...(hint === undefined ? {} : { hint: redactSentence(hint) }),
    places: problem.places.map(({ text, ...place }) => ({
      ...redactNames(place, redactFile),
      // A caret under a line that is shorter or longer than it was would point at something else.
      ...(text === undefined || redact(text) !== text ? {} : { text }),
    })),
  }));
}

/** Declared emails. */
export function redactGallery({ templates, problems, ...gallery }: Gallery, redactor: Redactor): Gallery {
  const body = (text: string | null | undefined) => (typeof text === 'string' ? redactor.redact(text) : null);
  return {
    ...gallery,
    templates: templates.map((template) => ({
      ...template,
      address: redactAddress(template.address, redactor),
      type: redactor.redactName(template.type),
      ...(template.label === undefined ? {} : { label: redactor.redactName(template.label) }),
      declaredAt: { ...template.declaredAt, file: redactor.redactFile(template.declaredAt.file) },
      bodies: { txt: body(template.bodies.txt), html: body(template.bodies.html) },
      samples: template.samples.map((sample) => redactSample(sample, redactor)),
      warnings: template.warnings.map((warning) => redactWarning(warning, redactor)),
    })),
    problems: redactProblems(problems, redactor),
  };
}

/** What a pull came to, to be shown. */
export function redactPull(pull: ShownPull, redactor: Redactor): ShownPull {
  const { redactName, redactSentence, redactFile } = redactor;
  return {
    ...pull,
    files: pull.files.map(({ shown, path, action }) => ({
      shown: redactFile(shown),
      path: redactFile(path),
      action,
    })),
    toSet: pull.toSet.map(({ name, address, path }) => ({
      name,
      address: redactAddress(address, redactor),
      path: redactName(path),
    })),
    leftOut: pull.leftOut.map(({ address, reason }) => ({
      address: redactAddress(address, redactor),
      reason: redactSentence(reason),
    })),
    left: redactProblems(pull.left, redactor),
  };
}

/** What a server has, to be shown. */
export function redactListing(listing: ShownListing, redactor: Redactor): ShownListing {
  return {
    ...listing,
    objects: listing.objects.map((object) => ({
      ...object,
      address: redactAddress(object.address, redactor),
      identity: mapValues({ ...object.identity }, redactor.redactName),
      name: object.name === null ? null : redactor.redact(object.name),
    })),
    others: listing.others.map((other) => ({
      ...other,
      id: redactor.redactName(other.id),
      name: other.name === null ? null : redactor.redact(other.name),
      label: other.label === null ? null : redactor.redact(other.label),
    })),
  };
}
