import { sameIdentifier } from '../base/identifiers.js';
import { stringifyJson } from '../base/json.js';
import { type Fields, holdsSensitive, reveal, type Value } from '../base/values.js';
import {
  asElements,
  type Comparison,
  compareField,
  type FieldType,
  isNullOrEmpty,
  matches,
  matchSets,
  value,
} from '../kinds/fields.js';
import type { Identity, Kind } from '../kinds/kind.js';
import type { ApplyInfo } from '../plan/plan.js';

/** The comparison of an answer with the expected values. */
export interface Verification {
  /** The differences, a sentence each. */
  readonly different: readonly string[];
  /** The values in these sentences, which differ between objects. */
  readonly values: readonly string[];
  /** The fields that the server didn't show. */
  readonly unverified: readonly string[];
}

/** Compares an answer with all expected fields. */
export function verify(kind: Kind, expected: Fields, answer: Fields): Verification {
  const parts = Object.entries(expected).flatMap(([field, asked]) =>
    compareField(kind.fields[field] ?? value, field, asked, answer[field]),
  );
  return verificationOf(parts);
}

export function verificationOf(parts: readonly Comparison[]): Verification {
  const different = parts.filter(({ verdict }) => verdict === 'different');
  return {
    different: different.map((part) => `${part.path}: ${describeValues(part)}`),
    values: different.map(describeValues),
    unverified: parts.filter(({ verdict }) => verdict === 'unknown').map(({ path }) => path),
  };
}

/** Each scope or role with another name in the answer than in the document, as a sentence with its field: the server uses only its id. */
export function wrongNames({ grants }: Kind, expected: Fields, answer: Fields) {
  if (grants === undefined) return [];
  const keyed = (fields: Fields) =>
    grants(fields, {}).map(
      (holding) => [JSON.stringify([holding.path, holding.type, holding.id]), holding] as const,
    );
  const shown = new Map(keyed(answer));
  return keyed(expected).flatMap(([key, { type, id, name, element, path }]) => {
    const shownName = shown.get(key)?.name;
    if (id === undefined || name === undefined || shownName === undefined || shownName === name) return [];
    if (holdsSensitive(element.name ?? null)) return [];
    const [field = ''] = path.split('/');
    return [{ field, sentence: `the ${type} with the id ${id} is called "${shownName}", not "${name}"` }];
  });
}

/** Those of the fields that weren't sent, were unknown before and are empty in the answer, each with its value. */
export function emptiedFields(
  fields: readonly string[],
  { before, expected }: Pick<ApplyInfo, 'before' | 'expected'>,
  answer: Fields,
): string[] {
  return fields.flatMap((field) => {
    const got = answer[field];
    if (got === undefined || field in expected || field in before || !isNullOrEmpty(got)) return [];
    return [`${field} ${stringifyJson(got)}`];
  });
}

/** The part of a sentence about a difference with the object's own values: nothing secret, and everything that differs, except in bodies. */
function describeValues({ type, wanted, got = null }: Comparison): string {
  if (holdsSensitive(wanted) || holdsSensitive(got)) return 'asked (sensitive), the server has (sensitive)';
  const { asked, has, equal } = differingElements(type, wanted, got);
  const texts = [asked, has].map((one) => stringifyJson(reveal(one)));
  const [one = '', other = ''] = type.type === 'body' ? shortened(texts) : texts;
  return `asked ${one}, the server has ${other}${equal === 0 ? '' : `, besides ${equal} as asked`}`;
}

/** Two sets without the elements that are equal, and how many these are; other values as they are. */
function differingElements(type: FieldType, wanted: Value, got: Value) {
  if (type.type !== 'set' || !Array.isArray(wanted) || !Array.isArray(got))
    return { asked: wanted, has: got, equal: 0 };
  const { pairs, added, removed } = matchSets(asElements(wanted), asElements(got));
  const changed = pairs.filter((pair) => !matches(type, [pair.wanted], [pair.got]));
  return {
    asked: [...added, ...changed.map((pair) => pair.wanted)],
    has: [...removed, ...changed.map((pair) => pair.got)],
    equal: pairs.length - changed.length,
  };
}

const IDENTIFYING = ['id', 'backend_id', 'identity_provider_id', 'type'];

/** The problem with an answer about another object; undefined if it is about this one. A new object must be shown with its id. */
export function otherObjectError(identity: Identity, answer: Fields, isNew = false): string | undefined {
  // If the server chooses the id, only the name identifies a new object. The server may change its case.
  const isNamed = isNew && identity.id === undefined;
  const normal = (text: string): string => (isNamed ? text.toLowerCase() : text);
  for (const part of isNamed ? [...IDENTIFYING, 'name', 'username'] : IDENTIFYING) {
    const asked = identity[part];
    const got = answer[part];
    if (asked !== undefined && typeof got === 'string' && !sameIdentifier(normal(got), normal(asked))) {
      return `the answer is about another object: ${part} is ${JSON.stringify(got)}`;
    }
  }
  return isNamed && typeof answer.id !== 'string' ? 'the answer shows no id of the new object' : undefined;
}

const MAX_LENGTH = 60;
/** How much of what two texts have in common is shown before their first difference. */
const CONTEXT = 10;

/** Two long texts from their first difference on. */
function shortened(texts: readonly string[]): readonly string[] {
  const [one = '', other = ''] = texts;
  let start = 0;
  while (start < one.length && one[start] === other[start]) start += 1;
  const from = Math.max(0, start - CONTEXT);
  return texts.map((text) => {
    if (text.length <= MAX_LENGTH) return text;
    const shown = text.slice(from, from + MAX_LENGTH);
    return `${from > 0 ? '…' : ''}${shown}… (${text.length} characters)`;
  });
}
