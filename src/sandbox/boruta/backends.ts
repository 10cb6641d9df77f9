import type { SandboxBackend, SandboxData, SandboxRole } from '../data.js';
import type { Answer } from '../http.js';
import { copyJson, isObject, type JsonObject } from '../json.js';
import { crash, noRow, ok, severalDefaults, unprocessable } from './answers.js';
import { backendFields, featuresOf, hashErrors, isHash, ldap } from './backend-fields.js';
import { type Errors, readFlag } from './fields.js';
import { findById, type Operation } from './operation.js';
import type { Resource } from './resource.js';
import { presentRole } from './roles.js';
import { readUuid } from './texts.js';

/** Whether a backend was the default when it was last read singly, by id. Its own PATCH forgets that, another's doesn't. */
const caches = new WeakMap<SandboxData, Map<string, boolean | null>>();

function cacheOf(data: SandboxData): Map<string, boolean | null> {
  const cache = caches.get(data) ?? new Map<string, boolean | null>();
  caches.set(data, cache);
  return cache;
}

/** Backends. The default moves before anything is checked, and roles are written last, both apart. */
export const backends: Resource<SandboxBackend> = {
  path: '/api/backends',
  rows: (data) => data.backends,
  show: ({ data }, backend) => presentBackend(data, backend),
  missing: () => noRow('Backend'),
  fields: backendFields,
  takesId: 'refuse',
  isReferred: (data, { id, roles }) => roles.length > 0 || Object.values(referrers(data, id)).some(Boolean),
  async begin({ data, work, token }, backend, sent) {
    const cached = cacheOf(data).get(backend?.id ?? '');
    cacheOf(data).delete(backend?.id ?? '');
    const asked = sent.is_default === null ? null : readFlag(sent.is_default);
    // The server believes its cache: a backend that was the default needn't take it.
    if ((asked !== null && asked !== true) || crashesAtOnce(sent)) return undefined;
    if (asked === (cached ?? backend?.is_default)) {
      delete sent.is_default;
      return undefined;
    }
    const defaults = await work.read(() => data.backends.filter(({ is_default }) => is_default === true));
    if (defaults.length > 1) return severalDefaults(token);
    await work.write(() => {
      for (const former of defaults) former.is_default = false;
    });
    return undefined;
  },
  check(draft, sent, backend) {
    const errors = hashErrors(draft.password_hashing_alg, draft.password_hashing_opts);
    if (backend?.is_default === true && draft.is_default === false)
      errors.is_default = ['There must be at least one default backend.'];
    return draft.type === ldap
      ? { ...errors, ...ldapErrors(draft, sent.ldap_pool_size !== undefined) }
      : errors;
  },
  complete({ token }, draft) {
    if (!isHash(draft.password_hashing_alg))
      return crash(
        '(FunctionClauseError) no function clause matching in ExJsonSchema.Validator.validate/3',
        token,
      );
    draft.roles ??= [];
    draft.features ??= featuresOf(draft.type);
    return undefined;
  },
  written(data, backend, before) {
    if (backend === undefined) data.templates = data.templates.filter((one) => one.backend_id !== before?.id);
    else if (before !== undefined && before.type !== backend.type)
      backend.features = featuresOf(backend.type);
  },
  async finish({ data, work, token, pause }, backend, sent) {
    await work.write(() => {
      backend.roles = [];
    });
    if (pause > 0) await work.pause(pause);
    return await work.write(() => fillRoles(data, backend, sent.roles, token));
  },
  keeps({ data, token }, { id, is_default }) {
    if (data.backends.filter((one) => one.is_default === true).length > 1) return severalDefaults(token);
    if (is_default === true)
      return unprocessable({ is_default: ['Deleting a default backend is prohibited.'] });
    const { identity_provider, user } = referrers(data, id);
    if (identity_provider)
      return unprocessable({ identity_provider: ['This backend is linked to an identity provider.'] });
    return user ? unprocessable({ user: ['This backend has existing users.'] }) : undefined;
  },
};

/** Whether the server fails before it moves the default. */
function crashesAtOnce(sent: JsonObject): boolean {
  return ['federated_servers', 'verifiable_credentials', 'verifiable_presentations'].some(
    (name) => sent[name] === null,
  );
}

/** GET of one, from the cache. */
export async function showBackend({ data, work, params: [id = ''] }: Operation): Promise<Answer> {
  return await work.read(() => {
    const backend = findById(data.backends, id);
    if (backend === undefined) return noRow('Backend');
    const cache = cacheOf(data);
    const is_default = cache.get(id) ?? backend.is_default;
    cache.set(id, is_default);
    return ok({ ...presentBackend(data, backend), is_default });
  });
}

/** What refers to a backend. */
function referrers({ identityProviders, users, templates }: SandboxData, id: string) {
  const refers = ({ backend_id }: { backend_id: string | null }): boolean => backend_id === id;
  return {
    identity_provider: identityProviders.some(refers),
    user: users.some(refers),
    template: templates.some(refers),
  };
}

/** The size of the pool is checked only if it is sent. */
function ldapErrors(draft: SandboxBackend, isSized: boolean): Errors {
  const errors: Errors = {};
  for (const name of ['ldap_pool_size', 'ldap_host', 'ldap_user_rdn_attribute', 'ldap_base_dn'] as const)
    if (draft[name] === null) errors[name] = ["can't be blank"];
  const { ldap_pool_size: size } = draft;
  if (isSized && size !== null && (size < 1 || size > 50)) errors.ldap_pool_size = ['is invalid'];
  return errors;
}

function fillRoles(data: SandboxData, backend: SandboxBackend, sent: unknown, token: string) {
  if (sent === undefined || sent === null || sent === false) return undefined;
  if (isObject(sent) && Object.keys(sent).length === 0) return undefined;
  if (!Array.isArray(sent)) return crash('(Protocol.UndefinedError) Enumerable not implemented', token);
  const filled: SandboxRole[] = [];
  for (const element of sent) {
    const given: unknown = isObject(element) ? (element.id ?? null) : null;
    if (given === null) return unprocessable({ role_id: ["can't be blank"] });
    const role = findById(data.roles, readUuid(given) ?? undefined);
    if (role === undefined || findById(filled, role.id) !== undefined)
      return crash('(Ecto.ConstraintError) backends_roles_role_id_fkey (foreign_key_constraint)', token);
    filled.push(copyJson(role));
  }
  backend.roles = filled;
  return undefined;
}

/** A backend, with its passwords. */
export function presentBackend(data: SandboxData, backend: SandboxBackend): JsonObject {
  return { ...backend, roles: backend.roles.map((role) => presentRole(data, role)) };
}
