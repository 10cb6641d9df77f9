import fc from 'fast-check';
import type { Json } from '../../src/base/values.js';
import type { SandboxRole, SandboxSeed } from '../../src/sandbox/index.js';

/** A document of a manifest, as plain data: what YAML says of it is up to the layout. */
export interface Doc {
  readonly [field: string]: Json;
}

/** A server, and what two manifests say of it one after the other. */
export interface World {
  readonly seed: SandboxSeed;
  readonly rounds: readonly (readonly Doc[])[];
}

const odd = [
  'null',
  'true',
  '~',
  '1',
  '0x1f',
  '1e3',
  '---',
  '...',
  '- a',
  'a: b',
  '# a',
  ' a ',
  '\ta\n',
  '"',
  "'",
];
const marks = [
  '$',
  `\${NAME}`,
  '$$',
  '{{ a }}',
  '\\',
  '\u0000',
  '\u001b[31m',
  '\u0085',
  '\u2028',
  '\ufeff',
  '\r\n',
];

/** Any text: empty, long, in other scripts, and what YAML, templates or terminals could trip over. */
export const text: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.string({ maxLength: 12 }) },
  { weight: 3, arbitrary: fc.string({ unit: 'grapheme', maxLength: 8 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
  { weight: 3, arbitrary: fc.constantFrom('', ...odd, ...marks) },
  { weight: 1, arbitrary: fc.nat(3000).map((length) => 'long äöü '.repeat(length / 9)) },
);

/** Text that can name an object. */
const word: fc.Arbitrary<string> = text.map((it) =>
  it
    .replace(/\p{Cc}|\p{Cs}/gu, '')
    .slice(0, 60)
    .toWellFormed(),
);

/** Whole numbers that JavaScript can't tell apart are refused. */
const number = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, min: -1e15, max: 1e15 }).map((it) => (it === 0 ? 0 : it)),
);

const key = fc.oneof(
  fc.constantFrom('value', 'status', 'file', 'constructor', 'a.b', '', ' '),
  text.filter((it) => !it.includes('$') && it !== '__proto__' && !/\p{Cc}/u.test(it)),
);

const json: fc.Arbitrary<Json> = fc.letrec<{ any: Json; leaf: Json }>((tie) => ({
  leaf: fc.oneof(text, number, fc.boolean(), fc.constant(null)),
  any: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    tie('leaf'),
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(key, tie('any'), { maxKeys: 3, noNullPrototype: true }),
  ),
})).any;

const object = fc.dictionary(key, json, { maxKeys: 3, noNullPrototype: true });
const objects = fc.array(object, { maxLength: 2 });
const nullableText = fc.option(text, { freq: 5 });
/** What an email's body may be: not white space alone, and without NUL. */
const bodyText = fc.option(
  text.filter((it) => !it.includes('\0') && (it === '' || /[^\p{White_Space}]/u.test(it))),
  { freq: 5 },
);
const flag = fc.option(fc.boolean(), { freq: 5 });
const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const moment = fc
  .tuple(
    fc.date({ min: new Date('1980-01-01'), max: new Date('2080-01-01'), noInvalidDate: true }),
    fc.nat(2),
  )
  .map(([date, form]) => {
    const utc = date.toISOString();
    if (form === 0) return utc;
    if (form === 1) return `${utc.slice(0, 19)}Z`;
    return `${new Date(date.getTime() + 5_400_000).toISOString().slice(0, 19)}+01:30`;
  });

/** Members of an object, each there or not. */
function some(members: { [name: string]: fc.Arbitrary<Json> }): fc.Arbitrary<{ [name: string]: Json }> {
  const maybe = Object.entries(members).map(([name, member]) =>
    fc.option(member, { nil: undefined, freq: 2 }).map((it) => [name, it] as const),
  );
  return fc
    .tuple(...maybe)
    .map((them) => Object.fromEntries(them.flatMap(([name, it]) => (it === undefined ? [] : [[name, it]]))));
}

function upTo<T>(most: number, items: readonly T[]): fc.Arbitrary<T[]> {
  return fc.subarray([...items], { maxLength: Math.min(most, items.length) });
}

const roleScopes = fc.array(some({ id: word, name: word, public: fc.boolean() }), { maxLength: 2 });

/** Roles as a manifest names them: by id, by name or by both, none twice. */
const roles = fc.uniqueArray(fc.nat(5), { maxLength: 3 }).chain((numbers) =>
  fc.tuple(
    ...numbers.map((role) =>
      fc.tuple(fc.nat(2), fc.option(roleScopes, { nil: undefined })).map(
        ([by, scopes]): Doc => ({
          ...(by === 1 ? {} : { id: `role-${role}` }),
          ...(by === 0 ? {} : { name: `role ${role}` }),
          ...(scopes === undefined ? {} : { scopes }),
        }),
      ),
    ),
  ),
);

const scopes = fc.uniqueArray(fc.nat(6), { maxLength: 3 }).chain((numbers) =>
  fc.tuple(
    ...numbers.map((scope) =>
      fc.tuple(fc.boolean(), text, fc.option(fc.boolean(), { nil: undefined })).map(
        ([id, label, open]): Doc => ({
          ...(id ? { id: `scope-${scope}` } : {}),
          name: `scope:${scope}`,
          label,
          ...(open === undefined ? {} : { public: open }),
        }),
      ),
    ),
  ),
);

const backendMembers = some({
  name: nullableText,
  type: nullableText,
  is_default: flag,
  create_default_organization: flag,
  roles: fc.option(roles, { freq: 5 }),
  metadata_fields: fc.option(objects, { freq: 5 }),
  federated_servers: objects,
  verifiable_credentials: objects,
  verifiable_presentations: objects,
  password_hashing_alg: nullableText,
  password_hashing_opts: fc.option(object, { freq: 5 }),
  ldap_pool_size: fc.option(int32),
  ldap_host: nullableText,
  ldap_ou: nullableText,
  smtp_from: nullableText,
  smtp_relay: nullableText,
  smtp_ssl: flag,
  smtp_port: int32,
  features: fc.option(fc.array(text, { maxLength: 3 }), { freq: 5 }),
});

/** Hashing a secret takes its time, so that few users have one. */
const passwords = fc.oneof(
  { weight: 12, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: some({ smtp_password: nullableText, ldap_master_password: text }) },
);

interface Organization {
  readonly id: string;
  readonly name: string;
  readonly label: string | null;
  /** The name that the manifests give it; undefined where they don't rename it. */
  readonly renamed: string | undefined;
}

const organizationList = fc
  .array(fc.tuple(word, fc.option(text), fc.option(word, { nil: undefined }), word), { maxLength: 7 })
  .map((list) =>
    list.map(
      ([name, label, renamed, id], index): Organization => ({
        id: `${id}/org ${index}`,
        name: `${index} ${name}`,
        label,
        renamed: renamed === undefined ? undefined : `new ${index} ${renamed}`,
      }),
    ),
  );

function organizationDoc({ id, renamed, name }: Organization): fc.Arbitrary<Doc> {
  return fc.tuple(fc.boolean(), some({ label: nullableText })).map(([byId, fields]) => {
    if (renamed !== undefined) return { kind: 'Organization', id, name: renamed, ...fields };
    return byId ? { kind: 'Organization', id, ...fields } : { kind: 'Organization', name, ...fields };
  });
}

/** References by the name that an organization has or will have, or by its id. */
function memberships(
  organizations: readonly Organization[],
  renamed: ReadonlySet<string>,
): fc.Arbitrary<Json> {
  return upTo(4, organizations).chain((chosen) =>
    fc.tuple(
      ...chosen.map((organization) =>
        fc.tuple(fc.nat(3), roles).map(([by, held]): Json => {
          const name = renamed.has(organization.id)
            ? (organization.renamed ?? organization.name)
            : organization.name;
          if (by === 0) return name;
          if (by === 1) return organization.id;
          return by === 2 ? { name, roles: held } : { id: organization.id, roles: held };
        }),
      ),
    ),
  );
}

function userDoc(
  id: string,
  organizations: readonly Organization[],
  renamed: ReadonlySet<string>,
  whole: boolean,
): fc.Arbitrary<Doc> {
  const metadata = fc.option(object, { freq: 6 });
  return fc
    .tuple(
      some({
        uid: nullableText,
        username: nullableText,
        totp_registered_at: fc.option(moment),
        metadata,
        federated_metadata: metadata,
        blocked: flag,
        group: nullableText,
        authorized_scopes: fc.option(scopes, { freq: 6 }),
        organizations: fc.option(memberships(organizations, renamed), { freq: 6 }),
      }),
      fc.option(fc.tuple(backendMembers, passwords), { nil: undefined, freq: 2 }),
    )
    .map(
      ([fields, backend]): Doc => ({
        kind: 'User',
        id,
        ...fields,
        ...(backend === undefined ? {} : { backend: { ...backend[0], ...backend[1] } }),
        ...(whole ? { whole: ['metadata', 'federated_metadata'] } : {}),
      }),
    );
}

function keyPairDocs(count: number): fc.Arbitrary<Doc[]> {
  const pairs = Array.from({ length: count }, (_, index) => `key ${index}`);
  return fc.tuple(fc.subarray(pairs), fc.nat(), fc.boolean()).chain(([chosen, pick, moves]) =>
    fc.tuple(
      ...chosen.map((id, index) => {
        const isDefault = moves ? { is_default: fc.constant(index === pick % chosen.length) } : {};
        return some({ public_key: nullableText, ...isDefault }).map((fields): Doc => {
          const next = moves && index === pick % chosen.length ? { is_default: true } : {};
          return { kind: 'KeyPair', id, ...fields, ...next };
        });
      }),
    ),
  );
}

function templateDocs(backends: number): fc.Arbitrary<Doc[]> {
  const all = Array.from({ length: backends }, (_, index) => `backend ${index}`).flatMap((backend_id) =>
    ['reset', 'tx_code', 'ünüsual type?'].map((type) => ({ kind: 'EmailTemplate', backend_id, type })),
  );
  return upTo(4, all).chain((chosen) =>
    fc.tuple(
      ...chosen.map((identity) =>
        fc.oneof(
          { weight: 1, arbitrary: fc.constant<Doc>({ ...identity, state: 'absent' }) },
          {
            weight: 3,
            arbitrary: some({ txt_content: bodyText, html_content: bodyText }).map(
              (fields): Doc => ({ ...identity, ...fields }),
            ),
          },
        ),
      ),
    ),
  );
}

function seedOf(
  organizations: readonly Organization[],
  users: readonly string[],
  keyPairs: number,
  templates: readonly (readonly [string, string])[],
): SandboxSeed {
  const role: SandboxRole = { id: 'role-0', name: 'role 0', scopes: [{ id: 's', name: 's', public: true }] };
  return {
    organizations: organizations.map(({ id, name, label }) => ({ id, name, label })),
    users: users.map((id, index) => ({
      id,
      uid: `uid ${index}`,
      username: null,
      totp_registered_at: null,
      metadata: { kept: { value: index } },
      federated_metadata: {},
      blocked: false,
      group: 'staff',
      authorized_scopes: [{ id: 'scope-9', name: 'scope:9', label: 'Nine', public: true }],
      organizations: organizations.slice(0, 1).map(({ id: member }) => ({ id: member, roles: [role] })),
      roles: [],
      backend_id: `backend ${index}`,
    })),
    backends: users.map((_, index) => ({
      id: `backend ${index}`,
      name: `Backend ${index}`,
      type: 'internal',
      is_default: index === 0,
      create_default_organization: false,
      roles: [role],
      metadata_fields: [],
      federated_servers: [],
      verifiable_credentials: [],
      verifiable_presentations: [],
      password_hashing_alg: 'argon2',
      password_hashing_opts: { t_cost: 8 },
      ldap_pool_size: null,
      ldap_host: null,
      ldap_user_rdn_attribute: null,
      ldap_base_dn: null,
      ldap_ou: null,
      ldap_master_dn: null,
      ldap_master_password: null,
      smtp_from: null,
      smtp_relay: 'relay',
      smtp_username: null,
      smtp_password: 'kept',
      smtp_ssl: false,
      smtp_tls: true,
      smtp_port: 25,
      features: [],
    })),
    templates: templates.map(([txt_content, html_content], index) => ({
      id: `template ${index}`,
      backend_id: `backend ${index}`,
      type: index === 0 ? 'reset' : 'tx_code',
      txt_content,
      html_content,
    })),
    keyPairs: Array.from({ length: keyPairs }, (_, index) => ({
      id: `key ${index}`,
      public_key: `public ${index}`,
      is_default: index === 0,
    })),
    clients: [],
    scopes: [],
    roles: [role],
  };
}

const client = {
  public_client_id: null,
  check_public_client_id: false,
  name: 'Portal',
  secret: 'client secret',
  confidential: true,
  redirect_uris: [],
  public_refresh_token: false,
  public_revoke: false,
  authorize_scope: false,
  enforce_dpop: false,
  enforce_tx_code: false,
  access_token_ttl: 1,
  authorization_code_ttl: 1,
  authorization_request_ttl: 1,
  refresh_token_ttl: 1,
  id_token_ttl: 1,
  pkce: true,
  public_key: 'key',
  key_pair_type: {},
  signatures_adapter: 'internal',
  did: 'did:key:before',
  identity_provider: { id: 'p', name: 'p' },
  authorized_scopes: [],
  supported_grant_types: [],
  id_token_signature_alg: 'ES256',
  userinfo_signed_response_alg: null,
  token_endpoint_jwt_auth_alg: 'ES256',
  token_endpoint_auth_methods: [],
  jwt_public_key: null,
  response_mode: 'direct_post',
};

/** What one manifest says. In the second round metadata is merged into what the first one recorded. */
function round(
  organizations: readonly Organization[],
  users: readonly string[],
  keyPairs: number,
  clients: number,
  index: number,
  previous: readonly Doc[],
): fc.Arbitrary<Doc[]> {
  const isKnown = (id: string): boolean => previous.some((doc) => doc.kind === 'User' && doc.id === id);
  return fc
    .tuple(
      fc.subarray([...organizations]),
      fc.subarray([...users]),
      fc.subarray(Array.from({ length: clients }, (_, it) => it)),
      fc.boolean(),
    )
    .chain(([chosen, chosenUsers, chosenClients, whole]) => {
      const renamed = new Set(
        [...previous, ...chosen.filter((it) => it.renamed !== undefined)].flatMap((it) =>
          'kind' in it && it.kind !== 'Organization' ? [] : [String(it.id)],
        ),
      );
      return fc
        .tuple(
          fc.tuple(...chosen.map((it) => organizationDoc(it))),
          fc.tuple(
            ...chosenUsers.map((id) =>
              userDoc(id, organizations, renamed, index === 0 || whole || !isKnown(id)),
            ),
          ),
          keyPairDocs(keyPairs),
          templateDocs(users.length),
          fc.tuple(
            ...chosenClients.map((it) =>
              fc
                .nat(3)
                .map(
                  (more): Doc => ({ kind: 'Client', id: `client ${it}`, did_generation: index * 4 + more }),
                ),
            ),
          ),
        )
        .map((docs) => docs.flat());
    });
}

/** Any server of this API, and two manifests for it that have nothing blocked in them. */
export const world: fc.Arbitrary<World> = fc
  .tuple(
    organizationList,
    fc.array(word, { maxLength: 3 }).map((list) => list.map((it, index) => `${it}?/user ${index}`)),
    fc.nat(3),
    fc.nat(2),
    fc.array(fc.tuple(text, text), { maxLength: 2 }),
  )
  .chain(([organizations, users, keyPairs, clients, templates]) =>
    round(organizations, users, keyPairs, clients, 0, []).chain((first) =>
      round(organizations, users, keyPairs, clients, 1, first).map(
        (second): World => ({
          seed: {
            ...seedOf(organizations, users, keyPairs, templates.slice(0, users.length)),
            clients: Array.from({ length: clients }, (_, it) => ({ ...client, id: `client ${it}` })),
          },
          rounds: [first, second],
        }),
      ),
    ),
  );

/** How documents are written down: in which order, in which files, in which style. */
export interface Layout {
  readonly order: readonly number[];
  readonly files: readonly number[];
  readonly style: 'line' | 'flow' | 'block';
  readonly bodiesInFiles: boolean;
  readonly crlf: boolean;
}

export const layout: fc.Arbitrary<Layout> = fc.record({
  order: fc.array(fc.nat(1000), { minLength: 1, maxLength: 40 }),
  files: fc.array(fc.nat(3), { minLength: 1, maxLength: 20 }),
  style: fc.constantFrom('line', 'flow', 'block'),
  bodiesInFiles: fc.boolean(),
  crlf: fc.boolean(),
});
