import { type Fields, filterValues, isMap } from '../base/values.js';
import type { WriteRequest } from '../server/operations.js';
import { backendFields, backendShape, backendTexts, hashFields, LDAP } from './backend-schema.js';
import { asElements, isNullOrEmpty, isTrue, sendableFields, textOf } from './fields.js';
import { holdingsOf } from './holdings.js';
import type { Kind, PlanInput, Update } from './kind.js';
import { lostElements } from './loss.js';
import {
  DEFAULTS,
  defaultsOf,
  falseNotSent,
  oneDefault,
  severalDefaults,
  twoDefaults,
} from './one-default.js';
import { resource } from './resource.js';
import { unknownFieldsReason } from './rules.js';
import { onlyExisting } from './user-references.js';

/** A backend: where users are stored, and how mail is sent to them. */
export const backend: Kind = resource(
  {
    name: 'Backend',
    noun: 'backend',
    about: 'A backend: where the server stores users, and how it sends them mail.',
    list: 'backends',
    path: '/api/backends',
    param: 'backend_id',
    scope: 'identity-providers:manage:all',
    fields: backendFields,
    shape: backendShape,
    traits: {
      emptyIsNull: backendTexts,
      nullBecomes: { roles: [] },
      notAtomic: true,
      limits: {
        characters: Object.fromEntries(['name', ...backendTexts].map((name) => [name, 255])),
        nonBlank: { name: null },
      },
    },
    sets: { roles: 'roles' },
    cached: true,
    body: ({ is_default: _, ...rest }) => rest,
    listValues: (list) => ({ [DEFAULTS]: defaultsOf(list.all()) }),
    problems: (declared) => twoDefaults(declared, 'backend'),
    creation: { refusal: (fields) => refusal(fields, {}), followUps: moveDefault },
    deletes: ' with its email templates',
    deletionRefusal: ({ id, is_default }, list) =>
      !isTrue(is_default) || defaultsOf(list?.all() ?? []).some((other) => other !== id)
        ? undefined
        : 'it is the default: declare "is_default: true" on another backend',
    usedBy: [
      { list: 'identityProviders', field: 'backend' },
      { list: 'users', field: 'backend' },
    ],
  },
  {
    ...oneDefault('backend'),
    update,
    lostFields: (traces) => lostElements(['roles'], traces),
    restorable: onlyExisting,
    grants: ({ roles = null }, references) => holdingsOf({ roles }, references),
  },
);

/**
 * Makes a backend the default. The server moves the default before it checks the request, so a refused request would leave no default:
 * `true` has its own request, after the others. It is sent twice, since a server that cached the backend as the default ignores the first.
 */
function moveDefault(id: string, { is_default = null, roles = [] }: Fields): WriteRequest[] {
  if (!isTrue(is_default)) return [];
  // An update without roles removes all of them.
  const body = { is_default, roles };
  const request: WriteRequest = { operation: 'updateBackend', params: { backend_id: id }, body };
  return [request, request];
}

function update({ present, desired, changed }: PlanInput): Update {
  const { id = '' } = present.identity;
  const isHash = hashFields.some((field) => changed.has(field));
  const expected = {
    ...sendableFields(present.fields, ['roles', ...(isHash ? hashFields : [])]),
    ...desired,
  };
  const reason = updateRefusal(expected, present, changed);
  if (reason !== undefined) return { requests: [], expected, reason };
  const { is_default: asked, ...body } = expected;
  const others = [...changed].some((field) => field !== 'is_default');
  const first: WriteRequest[] = others
    ? [{ operation: 'updateBackend', params: { backend_id: id }, body }]
    : [];
  if (!changed.has('is_default')) return { requests: first, expected };
  if (isTrue(asked)) return { requests: [...first, ...moveDefault(id, expected)], expected };
  return { requests: first, expected, warnings: [falseNotSent('backend')] };
}

function updateRefusal(body: Fields, { fields: now }: PlanInput['present'], changed: ReadonlySet<string>) {
  const unknown = unknownFieldsReason('backend', ['roles'], body);
  if (unknown !== undefined) return unknown;
  const severalNow = changed.has('is_default') && severalDefaults(now, 'backend', 'in its database');
  if (severalNow) return severalNow;
  const [alg, options] = hashFields;
  if (changed.has(alg) && !changed.has(options) && !isNullOrEmpty(now[options] ?? null))
    return `its ${options} are those of ${String(now[alg])}, and the server checks them against ${alg}: declare ${options} too`;
  const given = filterValues(body, (_, name) => changed.has(name));
  return refusal(given, now);
}

/** The options of each password hash. */
const hashOptions: { readonly [algorithm: string]: readonly string[] } = {
  argon2: ['t_cost', 'm_cost', 'parallelism', 'salt_len', 'hashlen', 'argon2_type', 'format'],
  bcrypt: ['log_rounds', 'legacy'],
  pbkdf2: ['salt_len', 'length', 'format', 'digest'],
};
/** The members that every element of a list needs. */
const needed: { readonly [field: string]: readonly string[] } = {
  verifiable_credentials: ['version', 'credential_identifier', 'format', 'types', 'claims', 'display'],
  verifiable_presentations: ['presentation_identifier', 'presentation_definition'],
};
const directory = ['ldap_host', 'ldap_user_rdn_attribute', 'ldap_base_dn'];

/** Why the server would refuse the new values, and what to do; undefined if it wouldn't. */
function refusal(given: Fields, now: Fields): string | undefined {
  const next = { ...now, ...given };
  const lacks = directory.filter((name) => isNullOrEmpty(next[name] ?? null));
  if (textOf(next.type) === LDAP && lacks.length > 0 && ['type', ...directory].some((name) => name in given))
    return `an LDAP backend needs ${lacks.join(' and ')}: declare ${lacks.length === 1 ? 'it' : 'them'}`;
  const { password_hashing_alg: alg = 'argon2', password_hashing_opts: options = null } = next;
  const known = hashOptions[textOf(alg)] ?? [];
  const unknown = isMap(options) ? Object.keys(options).filter((name) => !known.includes(name)) : [];
  if (unknown.length > 0 && hashFields.some((name) => name in given))
    return `${String(alg)} has no option ${unknown.join(' and ')} in password_hashing_opts: it has ${known.join(', ')}`;
  const there = new Set(asElements(now.federated_servers).map(({ name }) => name));
  for (const server of asElements(given.federated_servers)) {
    const missing = ['client_id', 'client_secret', 'base_url'].filter((name) => server[name] === undefined);
    if (!there.has(server.name) && missing.length > 0)
      return `the new federated server "${String(server.name)}" needs ${missing.join(' and ')}`;
  }
  for (const [field, members] of Object.entries(needed)) {
    const lost = members.filter((name) =>
      asElements(given[field]).some((element) => element[name] === undefined),
    );
    if (lost.length > 0) return `each element of ${field} needs ${lost.join(' and ')}`;
  }
  return undefined;
}
