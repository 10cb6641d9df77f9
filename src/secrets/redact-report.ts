import {
  type Fields,
  holdsSensitive,
  isMap,
  mapValues,
  Sensitive,
  same,
  type Value,
} from '../base/values.js';
import { type Redactor, redactAddress } from './redactor.js';

/** How a member of a report is masked. */
type Rule = (member: unknown, redactor: Redactor) => unknown;

/** Masks each text in a member. */
function eachText(masked: (text: string, redactor: Redactor) => string): Rule {
  const rule: Rule = (member, redactor) => {
    if (typeof member === 'string') return masked(member, redactor);
    if (Array.isArray(member)) return member.map((one) => rule(one, redactor));
    return isMap(member) ? mapValues(member, (one) => rule(one, redactor)) : member;
  };
  return rule;
}

/** Masks the elements of a list; `ownRules` are for members of the elements. */
function eachElement(ownRules: { readonly [member: string]: Rule }): Rule {
  return (member, redactor) => {
    if (!Array.isArray(member)) return redactReport(member, redactor);
    return member.map((element: { readonly [member: string]: unknown }) => ({
      ...redactReport(element, redactor),
      ...mapValues(ownRules, (rule, key) => rule(element[key], redactor)),
    }));
  };
}

const address = eachText(redactAddress);
const value = eachText((text, { redact }) => redact(text));
const name = eachText((text, { redactName }) => redactName(text));
const file = eachText((text, { redactFile }) => redactFile(text));
const sentence = eachText((text, { redactSentence }) => redactSentence(text));
const data: Rule = (member, redactor) => redactFields(member as Fields, redactor);
const samples = eachElement({ name: file, data });

/** Rules by the name of a member. Other members have idops' own words or texts of the configuration, which stay visible. */
const rules: ReadonlyMap<string, Rule> = new Map<string, Rule>(
  Object.entries({
    address,
    key: address,
    label: value,
    nameAfter: value,
    bodies: value,
    identity: name,
    params: name,
    path: name,
    type: name,
    unverified: name,
    user: name,
    host: name,
    again: name,
    file,
    inProject: file,
    displayPath: file,
    place: file,
    message: sentence,
    hint: sentence,
    reason: sentence,
    error: sentence,
    ownValues: sentence,
    notes: sentence,
    destructions: sentence,
    privileges: sentence,
    fields: (member, redactor) =>
      Array.isArray(member)
        ? member.map((difference: Difference) => redactDifference(difference, redactor))
        : data(member, redactor),
    places: (member, redactor) =>
      Array.isArray(member)
        ? member.map(({ text, ...place }: { readonly text?: string }) => ({
            ...redactReport(place, redactor),
            // In a line of another length, the caret would point at the wrong place.
            ...(text === undefined || redactor.redact(text) !== text ? {} : { text }),
          }))
        : redactReport(member, redactor),
    requests: (member, redactor) =>
      Array.isArray(member)
        ? member.map(({ operation, params }) => ({ operation, params: name(params, redactor) }))
        : redactReport(member, redactor),
    condition: (member, redactor) => redactValue(member as Value, redactor),
    declares: eachElement({
      path: name,
      value: (member, redactor) => redactValue(member as Value, redactor),
    }),
    files: eachElement({ path: file }),
    objects: eachElement({ name: value }),
    others: eachElement({ id: name, name: value }),
    grants: eachElement({ id: name, name: value, via: value }),
    samples: (member, redactor) =>
      member instanceof Map
        ? new Map([...member].map(([key, named]) => [redactAddress(key, redactor), samples(named, redactor)]))
        : samples(member, redactor),
    // `redactPlan` knows which values in it are shown.
    apply: (member) => member,
  } satisfies { [member: string]: Rule }),
);

/** Masks secrets in what a report shows, before it is laid out: a plan, a result, problems, a run or a state. */
export function redactReport<T>(shown: T, redactor: Redactor): T {
  const redacted = (): unknown => {
    if (Array.isArray(shown)) return shown.map((one) => redactReport(one, redactor));
    if (!isMap(shown)) return shown;
    return mapValues(shown, (member: unknown, key) => {
      const rule = rules.get(key);
      return rule === undefined ? redactReport(member, redactor) : rule(member, redactor);
    });
  };
  return redacted() as T;
}

/** A difference of a field, as plans and past runs show it. */
interface Difference {
  readonly path: string;
  readonly type: string;
  readonly before: Value | undefined;
  readonly after: Value;
  readonly sensitive: boolean;
  readonly drift?: { readonly recorded: Value };
}

/** Masks a difference. If only masked parts differ, it becomes sensitive, since both sides would look alike. */
function redactDifference(field: Difference, redactor: Redactor): Difference {
  const before = field.before === undefined ? undefined : redactValue(field.before, redactor);
  const after = redactValue(field.after, redactor);
  // The name of the field stays visible; a key of a map may follow it.
  const [fieldName = ''] = /^\w*/.exec(field.path) ?? [];
  const rest = field.path.slice(fieldName.length);
  const path = fieldName + (field.type === 'map' ? redactor.redactKey(rest) : redactor.redactName(rest));
  const hidden = before !== undefined && same(before, after) && !same(field.before ?? null, field.after);
  const drift = redactDrift(field, before, redactor);
  return { ...field, path, before, after, sensitive: field.sensitive || hidden, ...drift };
}

/** Masks the recorded value of a drift in the same way. */
function redactDrift(
  { drift, before: original }: Difference,
  before: Value | undefined,
  redactor: Redactor,
): Pick<Difference, 'drift'> {
  if (drift === undefined || holdsSensitive(drift.recorded)) return { ...(drift && { drift }) };
  const shown = redactValue(drift.recorded, redactor);
  const hidden =
    before !== undefined &&
    !holdsSensitive(before) &&
    same(shown, before) &&
    !same(drift.recorded, original ?? null);
  return { drift: { ...drift, recorded: hidden ? new Sensitive(null) : shown } };
}

/** Fields with secrets masked in their values. Returns the same object if nothing is masked, to save memory. */
export function redactFields(fields: Fields, redactor: Redactor): Fields {
  const redacted = mapValues(fields, (field) => redactValue(field, redactor));
  return Object.entries(redacted).every(([name, field]) => field === fields[name]) ? fields : redacted;
}

/** A value with secrets masked in its texts and keys. Returns the same object if nothing is masked. */
export function redactValue(value: Value, redactor: Redactor): Value {
  if (typeof value === 'string') return redactor.redact(value);
  if (Array.isArray(value)) {
    const items = value.map((item) => redactValue(item, redactor));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (!isMap(value)) return value;
  let isSame = true;
  const members: [string, Value][] = [];
  const usedKeys = new Set<string>();
  for (const [key, member] of Object.entries(value)) {
    const shown = redactor.redactKey(key);
    let unique = shown;
    for (let number = 2; usedKeys.has(unique); number += 1) unique = `${shown} ${number}`;
    usedKeys.add(unique);
    const redacted = redactValue(member, redactor);
    isSame &&= unique === key && redacted === member;
    members.push([unique, redacted]);
  }
  return isSame ? value : Object.fromEntries(members);
}
