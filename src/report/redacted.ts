import type { Result } from '../apply/result.js';
import type { Problem } from '../base/problems.js';
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
import type { Change, FieldChange, Plan } from '../plan/plan.js';
import { type Redactor, redactAddress } from '../secrets/redactor.js';
import type { Gallery } from './gallery.js';
import type { History } from './history.js';
import type { PastChange, PastRun } from './past.js';
import type { ShownListing, ShownPull } from './pull.js';
import type { ShownState } from './recorded.js';

/*
 * Everything that is shown, without credentials in its values, before it is laid out. What idops itself says of it
 * stays, and so does what the configuration says: actions, kinds, codes, digests, times, server and environment. Of
 * addresses and paths the names in them are values.
 */

/** What a text may be, and how it is redacted then. */
const ways = {
  address: (text: string, redactor: Redactor) => redactAddress(text, redactor),
  value: (text: string, { redact }: Redactor) => redact(text),
  name: (text: string, { redactName }: Redactor) => redactName(text),
  file: (text: string, { redactFile }: Redactor) => redactFile(text),
  sentence: (text: string, { redactSentence }: Redactor) => redactSentence(text),
};

type Way = keyof typeof ways;

/** What the texts in each member of a report are; those in all others are idops' own words, and stay. */
const wayOf: ReadonlyMap<string, Way> = new Map(
  Object.entries({
    address: ['address', 'key'],
    value: ['label', 'called'],
    name: ['identity', 'path', 'type', 'unverified', 'user', 'host', 'again'],
    file: ['file', 'inProject', 'shown', 'place'],
    sentence: ['message', 'hint', 'reason', 'error', 'ownValues', 'notes', 'destructions'],
  } satisfies { [way in Way]: string[] }).flatMap(([way, members]) =>
    members.map((member) => [member, way as Way] as const),
  ),
);

/** All texts of what is shown, by the members that they are in; values and differences are redacted apart. */
export function redactTexts<T>(shown: T, redactor: Redactor, way?: Way): T {
  const redacted = (): unknown => {
    if (typeof shown === 'string') return way === undefined ? shown : ways[way](shown, redactor);
    if (Array.isArray(shown)) return shown.map((one) => redactTexts(one, redactor, way));
    if (!isMap(shown)) return shown;
    return mapValues(shown, (member, name) => redactTexts(member, redactor, way ?? wayOf.get(name)));
  };
  return redacted() as T;
}

/** A plan to be shown, not to be sealed or applied. */
export function redactPlan(plan: Plan, redactor: Redactor): Plan {
  const { changes, ...rest } = plan;
  return {
    // All members in their order.
    ...plan,
    ...redactTexts(rest, redactor),
    changes: changes.map((change) => {
      const { fields, apply: _, requests, ...others } = change;
      const redacted = redactTexts(others, redactor);
      return {
        ...change,
        ...redacted,
        requests: requests.map(({ operation, params }) => ({
          operation,
          params: mapValues(params, redactor.redactName),
        })),
        fields: fields.map((field) => redactField(field, redactor)),
        apply: redactApply(change, redacted.address, redactor),
      };
    }),
  };
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
  return redactTexts(result, redactor);
}

/** A run of the past, as its journal tells it. */
export function redactRun({ parts, ...past }: PastRun, redactor: Redactor): PastRun {
  return {
    ...redactPart(past, redactor),
    ...(parts === undefined ? {} : { parts: parts.map((part) => redactPart(part, redactor)) }),
  };
}

function redactPart<T extends Pick<PastRun, 'run' | 'changes'>>(part: T, redactor: Redactor): T {
  return {
    ...part,
    run: redactTexts(part.run, redactor),
    changes: part.changes.map((past) => redactPast(past, redactor)),
  };
}

/** What a run did to one object. */
function redactPast({ change: { fields, ...change }, ...past }: PastChange, redactor: Redactor): PastChange {
  return {
    ...redactTexts(past, redactor),
    change: {
      ...redactTexts(change, redactor),
      fields: fields.map((field) => redactField(field, redactor)),
    },
  };
}

/** What a state records. */
export function redactState({ records, ...state }: ShownState, redactor: Redactor): ShownState {
  return {
    ...redactTexts(state, redactor),
    records: records.map(({ fields, left, ...record }) => ({
      ...redactTexts(record, redactor),
      fields: redactFields(fields, redactor),
      left: left && { ...left, fields: redactFields(left.fields, redactor) },
    })),
  };
}

/** What runs did to one object. */
export function redactHistory({ address, past }: History, redactor: Redactor): History {
  return {
    address: redactAddress(address, redactor),
    past: past.map(({ run, change }) => ({
      run: redactTexts(run, redactor),
      change: redactPast(change, redactor),
    })),
  };
}

/** Problems: what they say, and the lines that they are about. */
export function redactProblems(problems: readonly Problem[], redactor: Redactor): Problem[] {
  return redactTexts(problems, redactor).map((problem) => ({
    ...problem,
    places: problem.places.map(({ text, ...place }) => ({
      ...place,
      // A caret under a line that is shorter or longer than it was would point at something else.
      ...(text === undefined || redactor.redact(text) !== text ? {} : { text }),
    })),
  }));
}

/** Declared emails. */
export function redactGallery({ templates, problems, ...gallery }: Gallery, redactor: Redactor): Gallery {
  const body = (text: string | null | undefined) => (typeof text === 'string' ? redactor.redact(text) : null);
  return {
    ...gallery,
    templates: templates.map(({ bodies, samples, ...template }) => ({
      ...redactTexts(template, redactor),
      bodies: { txt: body(bodies.txt), html: body(bodies.html) },
      samples: samples.map((sample) => redactSample(sample, redactor)),
    })),
    problems: redactProblems(problems, redactor),
  };
}

/** What a pull came to, to be shown. */
export function redactPull({ files, left, ...pull }: ShownPull, redactor: Redactor): ShownPull {
  return {
    ...redactTexts(pull, redactor),
    files: files.map(({ shown, path, action }) => ({
      shown: redactor.redactFile(shown),
      path: redactor.redactFile(path),
      action,
    })),
    left: redactProblems(left, redactor),
  };
}

/** What a server has, to be shown. */
export function redactListing(listing: ShownListing, redactor: Redactor): ShownListing {
  const called = (name: string | null) => (name === null ? null : redactor.redact(name));
  return {
    ...listing,
    objects: listing.objects.map((object) => ({
      ...redactTexts(object, redactor),
      name: called(object.name),
    })),
    others: listing.others.map((other) => ({
      ...redactTexts(other, redactor),
      id: redactor.redactName(other.id),
      name: called(other.name),
    })),
  };
}
