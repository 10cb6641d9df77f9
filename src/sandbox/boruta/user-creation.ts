import { randomUUID } from 'node:crypto';
import { findById, type SandboxBackend, type SandboxData, type SandboxUser } from '../data.js';
import type { Answer } from '../http.js';
import { isObject, type JsonObject, normalizeNumbers } from '../json.js';
import { Crash, ok, refusal, unprocessable } from './answers.js';
import { ldap } from './backend-fields.js';
import { checkedText, type Fields, Invalid, readFields, readUuid, text } from './fields.js';
import type { Operation } from './operation.js';
import { hasUniqueWords, isMetadataValue, presentUser, writeLists } from './users.js';

/** Returns a text of the allowed length, otherwise a refusal. */
function checkLength(text: string, least: number, most: number): Invalid | string {
  if ([...text].length < least) return new Invalid(`should be at least ${least} character(s)`);
  return [...text].length > most ? new Invalid(`should be at most ${most} character(s)`) : text;
}

const fields: Fields = {
  // The errors of `username` are reported for `email`.
  email: checkedText((name) =>
    /^[^\s]+@[^\s]+$/.test(name)
      ? checkLength(name, 0, 160)
      : new Invalid('must have the @ sign and no spaces'),
  ),
  password: checkedText((password) => checkLength(password, 12, 80)),
  group: text,
};

/** POST. The user is written before its lists, so an invalid list leaves a user with empty lists. */
export async function createUser(operation: Operation): Promise<Answer> {
  const { data, work, body, resource } = operation;
  if (body.backend_id === undefined) throw refusal(400, 'backend_id is missing from the body');
  const backend = await work.read(() => findById(data.backends, readUuid(body.backend_id)));
  if (backend === undefined) throw unprocessable({ backend: ['does not exist'] });
  if (backend.type === ldap)
    throw unprocessable({ backend: ['LDAP backends does not support user creation.'] });
  const sent = isObject(resource) ? resource : {};
  const { values, errors, databaseFailure } = readFields(fields, { ...sent, email: sent.username }, true);
  const { group: _, ...userErrors } = errors;
  if (Object.keys(userErrors).length > 0) throw unprocessable(userErrors);
  if (databaseFailure !== undefined) throw databaseFailure;
  const user = newUser(backend, String(values.email), sent);
  const isGroupValid = typeof values.group !== 'string' || hasUniqueWords(values.group);
  if (errors.group !== undefined || !isGroupValid || !Object.values(user.metadata).every(isMetadataValue))
    throw new Crash('(Ecto.InvalidChangesetError) could not perform insert because changeset is invalid');
  user.group = typeof values.group === 'string' ? values.group : null;

  await work.write(() => insert(data, user));
  const hasDefault = backend.create_default_organization === true;
  if (hasDefault) {
    const asksForOthers = Array.isArray(sent.organizations) && sent.organizations.length > 0;
    await work.write(() => joinDefault(data, user, asksForOthers));
    if (asksForOthers) throw new Crash('(Ecto.ConstraintError) organizations_users_organization_id_fkey');
  }
  await writeLists(operation, user, sent, hasDefault ? 'organizations' : undefined);
  return ok(await work.read(() => presentUser(operation, user)));
}

function newUser(backend: SandboxBackend, username: string, sent: JsonObject): SandboxUser {
  return {
    id: randomUUID(),
    uid: randomUUID(),
    username,
    totp_registered_at: null,
    metadata: readMetadata(backend, sent.metadata),
    federated_metadata: {},
    blocked: false,
    group: null,
    authorized_scopes: [],
    organizations: [],
    roles: [],
    backend_id: backend.id,
  };
}

/** The metadata for which the backend has fields; null becomes the field's default. */
function readMetadata({ metadata_fields }: SandboxBackend, sent: unknown): JsonObject {
  const metadata: JsonObject = {};
  for (const { attribute_name, default_value = null } of metadata_fields) {
    const name = String(attribute_name);
    if (isObject(sent) && Object.hasOwn(sent, name))
      metadata[name] = normalizeNumbers(sent[name] ?? default_value);
  }
  return metadata;
}

/** Usernames are unique within a backend, ignoring case. */
function insert({ users }: SandboxData, user: SandboxUser): void {
  const isTaken = users.some(
    ({ username, backend_id }) =>
      backend_id === user.backend_id && username?.toLowerCase() === user.username?.toLowerCase(),
  );
  if (isTaken) throw unprocessable({ email: ['has already been taken'] });
  users.push(user);
}

function joinDefault({ organizations }: SandboxData, user: SandboxUser, crashes: boolean): void {
  const organization = { id: randomUUID(), name: `default_${user.uid}`, label: 'Default' };
  organizations.push(organization);
  if (!crashes) user.organizations = [{ id: organization.id, roles: [] }];
}
