import { sameIdentifier } from '../base/identifiers.js';
import { stringifyJson } from '../base/json.js';
import { type Fields, holdsSensitive, reveal, type Value } from '../base/values.js';
import { type Comparison, compareField, isNullOrEmpty, value } from '../kinds/fields.js';
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

/** The part of a sentence about a difference with the object's own values. */
function describeValues({ wanted, got }: Comparison): string {
  return `asked ${shorten(wanted, got)}, the server has ${shorten(got ?? null, wanted)}`;
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

/** A value for a sentence: nothing secret, nothing long. */
function shorten(shown: Value, other: Value | undefined): string {
  if (holdsSensitive(shown) || (other !== undefined && holdsSensitive(other))) return '(sensitive)';
  const text = stringifyJson(reveal(shown));
  return text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH)}… (${text.length} characters)`;
}
