import { createHash } from 'node:crypto';
import {
  canonical,
  HashedSecret,
  isMap,
  type Json,
  mapValues,
  Sensitive,
  type Value,
} from '../base/values.js';
import { asElements, elementKey, matchSets, normalForm, set, value } from '../kinds/fields.js';
import { kindOf } from '../kinds/index.js';
import { Hasher } from '../secrets/hash.js';
import { operationPath, operations } from '../server/operations.js';
import type { Change, Plan } from './plan.js';

/** What a digest is for. It has nothing that differs between machines. */
export type DigestScope = Pick<Plan, 'server' | 'environment'>;

/** `sha256:` and the hash of the requests of the changes, in any order. */
export function planDigest(scope: DigestScope, changes: readonly Change[]): string {
  const { server } = scope;
  const hasher = digestHasher(scope);
  const requests = changes.flatMap((change) => {
    const types = kindOf(change.kind).fields;
    const normal = (field: Value, name: string): Value =>
      normalForm(types[name] ?? value, managedPart(change, name) ?? field);
    const sent = change.requests.map(({ operation, params, body, beside }) => {
      const fields = body === undefined ? null : mapValues(body, normal);
      return canonical([
        operations[operation].method,
        operationPath(operation, params),
        withHashes(fields, hasher),
        ...(beside === undefined ? [] : [withHashes(beside, hasher)]),
      ]);
    });
    return [...sent, ...endsOf(change)];
  });
  return hashOf({ format_version: 1, server, requests: requests.sort() });
}

/** `sha256:` and the hash of a value, whatever the order of its keys. */
export function hashOf(value: Json): string {
  return `sha256:${createHash('sha256').update(canonical(value)).digest('hex')}`;
}

/** The new ends of access. They are recorded and not sent, but the digest covers them. */
function endsOf({ action, apply: { key, until } }: Change): string[] {
  if (until === undefined || action === 'blocked') return [];
  const ends = mapValues(until, (members) => mapValues(members, (end) => end?.at ?? null));
  return [canonical([key, ends])];
}

/** The managed members of a set whose other members are sent unchanged; undefined if all are managed. */
function managedPart({ fields, apply: { byMember } }: Change, name: string): Value | undefined {
  if (byMember?.includes(name) !== true) return undefined;
  const { before = [], after = [] } = fields.find(({ path }) => path === name) ?? {};
  const { added, removed } = matchSets(asElements(after), asElements(before));
  return { add: normalForm(set(), [...added]), remove: removed.map(elementKey).sort() };
}

/** Hashes the secrets in a digest: slowly, so they can't be guessed from it, and with a salt that is the same on every machine. */
export function digestHasher({ server, environment }: DigestScope): Hasher {
  return new Hasher({ server, salt: JSON.stringify(['idops plan digest', environment]) });
}

/** A value with each secret replaced by its hash. */
export function withHashes(field: Value, hasher: Hasher): Json {
  if (field instanceof HashedSecret) return { secret: field.hash };
  if (field instanceof Sensitive) return { secret: hasher.hash(field.reveal()) };
  if (Array.isArray(field)) return field.map((item) => withHashes(item, hasher));
  return isMap(field) ? mapValues(field, (member) => withHashes(member, hasher)) : field;
}
