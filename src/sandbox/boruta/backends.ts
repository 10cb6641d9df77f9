import { findById, type SandboxBackend, type SandboxData, type SandboxRole } from '../data.js';
import type { Answer } from '../http.js';
import { copyJson, isObject, type JsonObject } from '../json.js';
import { Crash, ok, rowNotFound, severalDefaults, unprocessable } from './answers.js';
import { backendFields, featuresOf, hashErrors, isHashAlgorithm, ldap } from './backend-fields.js';
import { type Errors, readFlag, readUuid } from './fields.js';
import type { Operation } from './operation.js';
import type { Resource } from './resource.js';
import { presentRole } from './roles.js';

/** By id, whether a backend was the default at its last GET. Its own PATCH clears the entry; a PATCH of another backend doesn't. */
const defaultCaches = new WeakMap<SandboxData, Map<string, boolean | null>>();

function defaultCache(data: SandboxData): Map<string, boolean | null> {
  const cache = defaultCaches.get(data) ?? new Map<string, boolean | null>();
  defaultCaches.set(data, cache);
  return cache;
}

/** Backends. The default moves in its own transaction before validation, and roles are written in their own transaction last. */
export const backends: Resource<SandboxBackend> = {
  path: '/api/backends',
  rows: (data) => data.backends,
  show: ({ data }, backend) => presentBackend(data, backend),
  onMissing: () => rowNotFound('Backend'),
  fields: backendFields,
  onInvalidId: 'refuse',
  isReferenced: (data, { id, roles }) => roles.length > 0 || Object.values(referrers(data, id)).some(Boolean),
  async beforeValidation({ data, work }, backend, sent) {
    const cached = defaultCache(data).get(backend?.id ?? '');
    defaultCache(data).delete(backend?.id ?? '');
    const requestedDefault = sent.is_default === null ? null : readFlag(sent.is_default);
    // The server trusts its cache: a backend that was the default at its last GET keeps the others.
    if ((requestedDefault !== null && requestedDefault !== true) || crashesBeforeWrites(sent)) return;
    if (requestedDefault === (cached ?? backend?.is_default)) {
      delete sent.is_default;
      return;
    }
    const defaults = await work.read(() => data.backends.filter(({ is_default }) => is_default === true));
    if (defaults.length > 1) throw severalDefaults();
    await work.write(() => {
      for (const former of defaults) former.is_default = false;
    });
  },
  validate(draft, sent, backend) {
    const errors = hashErrors(draft.password_hashing_alg, draft.password_hashing_opts);
    if (backend?.is_default === true && draft.is_default === false)
      errors.is_default = ['There must be at least one default backend.'];
    return draft.type === ldap
      ? { ...errors, ...ldapErrors(draft, sent.ldap_pool_size !== undefined) }
      : errors;
  },
  beforeWrite(_operation, draft) {
    if (!isHashAlgorithm(draft.password_hashing_alg))
      throw new Crash(
        '(FunctionClauseError) no function clause matching in ExJsonSchema.Validator.validate/3',
      );
    draft.roles ??= [];
    draft.features ??= featuresOf(draft.type);
  },
  afterWrite(data, backend, before) {
    if (backend === undefined) data.templates = data.templates.filter((one) => one.backend_id !== before?.id);
    else if (before !== undefined && before.type !== backend.type)
      backend.features = featuresOf(backend.type);
  },
  async afterRow({ data, work, pause }, backend, sent) {
    await work.write(() => {
      backend.roles = [];
    });
    if (pause > 0) await work.pause(pause);
    await work.write(() => fillRoles(data, backend, sent.roles));
  },
  checkDeletion({ data }, { id, is_default }) {
    if (data.backends.filter((one) => one.is_default === true).length > 1) throw severalDefaults();
    if (is_default === true)
      throw unprocessable({ is_default: ['Deleting a default backend is prohibited.'] });
    const { identity_provider, user } = referrers(data, id);
    if (identity_provider)
      throw unprocessable({ identity_provider: ['This backend is linked to an identity provider.'] });
    if (user) throw unprocessable({ user: ['This backend has existing users.'] });
  },
};

/** Whether the server crashes before it moves the default. */
function crashesBeforeWrites(sent: JsonObject): boolean {
  return ['federated_servers', 'verifiable_credentials', 'verifiable_presentations'].some(
    (name) => sent[name] === null,
  );
}

/** GET of one backend, from the cache. */
export async function showBackend({ data, work, params: [id = ''] }: Operation): Promise<Answer> {
  return await work.read(() => {
    const backend = findById(data.backends, id);
    if (backend === undefined) throw rowNotFound('Backend');
    const cache = defaultCache(data);
    const is_default = cache.get(id) ?? backend.is_default;
    cache.set(id, is_default);
    return ok({ ...presentBackend(data, backend), is_default });
  });
}

/** Which kinds of objects refer to a backend. */
function referrers({ identityProviders, users, templates }: SandboxData, id: string) {
  const refers = ({ backend_id }: { backend_id: string | null }): boolean => backend_id === id;
  return {
    identity_provider: identityProviders.some(refers),
    user: users.some(refers),
    template: templates.some(refers),
  };
}

/** Errors of an LDAP backend. The pool size is checked only if the request has it. */
function ldapErrors(draft: SandboxBackend, checksPoolSize: boolean): Errors {
  const errors: Errors = {};
  for (const name of ['ldap_pool_size', 'ldap_host', 'ldap_user_rdn_attribute', 'ldap_base_dn'] as const)
    if (draft[name] === null) errors[name] = ["can't be blank"];
  const { ldap_pool_size: size } = draft;
  if (checksPoolSize && size !== null && (size < 1 || size > 50)) errors.ldap_pool_size = ['is invalid'];
  return errors;
}

function fillRoles(data: SandboxData, backend: SandboxBackend, sent: unknown): void {
  if (sent === undefined || sent === null || sent === false) return;
  if (isObject(sent) && Object.keys(sent).length === 0) return;
  if (!Array.isArray(sent)) throw new Crash('(Protocol.UndefinedError) Enumerable not implemented');
  const newRoles: SandboxRole[] = [];
  for (const element of sent) {
    const given: unknown = isObject(element) ? (element.id ?? null) : null;
    if (given === null) throw unprocessable({ role_id: ["can't be blank"] });
    const role = findById(data.roles, readUuid(given));
    if (role === undefined || findById(newRoles, role.id) !== undefined)
      throw new Crash('(Ecto.ConstraintError) backends_roles_role_id_fkey (foreign_key_constraint)');
    newRoles.push(copyJson(role));
  }
  backend.roles = newRoles;
}

/** A backend as answers show it, with its passwords. */
export function presentBackend(data: SandboxData, backend: SandboxBackend): JsonObject {
  return { ...backend, roles: backend.roles.map((role) => presentRole(data, role)) };
}
