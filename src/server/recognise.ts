import type { KindName } from '../base/kind-names.js';
import { type Fields, isMap, same } from '../base/values.js';
import type { FailureFacts } from './failures.js';
import { type Profile, profiles } from './profiles.js';

/** The profile whose server answers like this about an object, where that is another than the one in use. */
export function betterProfile(used: Profile, kind: KindName, answer: Fields): Profile | undefined {
  return others(used).find((profile) => {
    const sign = profile.signs?.answers[kind];
    if (sign === undefined) return false;
    const { has = [], lacks = [], null: nulls = [] } = sign;
    return (
      has.every((field) => Object.hasOwn(answer, field)) &&
      lacks.every((field) => !Object.hasOwn(answer, field)) &&
      nulls.every((field) => answer[field] === null)
    );
  });
}

/** The same by what an update made of fields that it sent as they were, beside what it changed as it was asked to. */
export function betterProfileByReset(
  used: Profile,
  kind: KindName,
  { before, expected }: { readonly before: Fields; readonly expected: Fields },
  answer: Fields,
): Profile | undefined {
  const reset = Object.entries(expected).some(([field, sent]) => {
    const was = before[field];
    const got = answer[field];
    return was !== undefined && got !== undefined && same(sent, was) && !same(got, was);
  });
  // A server that keeps another value altogether says nothing of itself by that.
  const obeyed = Object.entries(expected).every(([field, sent]) => {
    const was = before[field];
    const got = answer[field];
    return (was !== undefined && same(sent, was)) || got === undefined || same(got, sent);
  });
  return reset && obeyed
    ? others(used).find(({ signs }) => signs?.answers[kind]?.resets === true)
    : undefined;
}

/** The same by an error answer. */
export function betterProfileByError(
  used: Profile,
  { status, members = [] }: Pick<FailureFacts, 'status' | 'members'>,
): Profile | undefined {
  return others(used).find(({ signs }) =>
    signs?.errors.some(
      (sign) =>
        sign.members.every((member) => members.includes(member)) &&
        (sign.status === undefined || sign.status === status),
    ),
  );
}

/** What a person should do about a server that looks like another profile's. */
export function adviceFor({ name }: Profile): string {
  return `this may be a server of the profile ${name}, which resets what it isn't sent: if idops doctor says so, set "profile: ${name}" under server`;
}

/** The members of an error answer by which a server may be recognised. */
export function errorMembers(document: unknown): string[] {
  if (!isMap(document)) return [];
  const inner = isMap(document.errors) ? Object.keys(document.errors) : [];
  return [...Object.keys(document), ...inner.map((member) => `errors.${member}`)];
}

function others(used: Profile): Profile[] {
  return Object.values(profiles).filter(({ name, signs }) => name !== used.name && signs !== null);
}
