import fc from 'fast-check';
import type { Json } from '../../../src/base/values.js';
import { kindOf } from '../../../src/kinds/index.js';
import type { KindName } from '../../../src/kinds/kind.js';
import type { Change, Plan } from '../../../src/plan/plan.js';
import type { SandboxProfile, SandboxSeed } from '../../../src/sandbox/index.js';
import { loadSeed } from '../../../src/sandbox/seed.js';
import { ids } from '../../demo-ids.js';
import { acceptedText, userFields, userGroup, userMetadata } from '../generating/boruta.js';
import { absent, templateDoc, userDoc } from '../generating/documents.js';
import { bodyText, type Doc, nullableText, optionalMembers, text, word } from '../generating/values.js';

/** Two manifests: `first` is applied, then `second`, which differs. */
export interface ManifestPair {
  readonly first: readonly Doc[];
  readonly second: readonly Doc[];
}

/** A field that can hold a secret. */
export interface SecretField {
  /** The names of the nested members, from the outside in. */
  readonly path: readonly [string, ...string[]];
  /** Whether a value is always secret, and not only if it comes from an environment variable. */
  readonly always: boolean;
}

/** What the tests need to know about a kind, in addition to its hooks. */
export interface KindSample {
  /** The initial objects of the kind; other data comes from the demo seed. */
  server(profile: SandboxProfile): fc.Arbitrary<Partial<SandboxSeed>>;
  /**
   * Documents about objects of the server that the profile accepts and that no rule blocks. If the kind can't be read,
   * `first` has every field of `second`, so that an undo knows the former values.
   */
  manifests(seed: SandboxSeed, profile: SandboxProfile): fc.Arbitrary<ManifestPair>;
  /** The fields of `second` that can hold a secret; empty if the kind has no text fields. */
  secrets(profile: SandboxProfile): readonly SecretField[];
  /** Removes what a document declares, and its side effects on the server, from the server's data. */
  removeDeclared(data: SandboxSeed, doc: Doc, change: Change | undefined): void;
}

const profileText = (profile: SandboxProfile): fc.Arbitrary<string> =>
  profile === 'boruta' ? acceptedText : text;
const nullable = (profile: SandboxProfile): fc.Arbitrary<string | null> =>
  profile === 'boruta' ? fc.option(acceptedText) : nullableText;

const demo = (): SandboxSeed => loadSeed('demo');

/** Any `minLength` or more items, in any order. */
function several<T>(items: readonly T[], minLength = 1): fc.Arbitrary<T[]> {
  return fc.shuffledSubarray([...items], { minLength });
}

const organization: KindSample = {
  // Two share a name, so that only an id identifies them.
  server: (profile) =>
    fc
      .tuple(
        ...[ids.acme, ids.globex, ids.initech, ids.umbrella].map((id, index) =>
          fc
            .tuple(word, nullable(profile))
            .map(([name, label]) => ({
              id,
              name: index === 1 || index === 2 ? 'twin' : `${index} ${name}`,
              label,
            })),
        ),
      )
      .map((organizations) => ({ organizations })),
  manifests({ organizations }, profile) {
    const isUnique = (wanted: string | null): boolean =>
      organizations.filter(({ name }) => name === wanted).length === 1;
    const fields = optionalMembers({ label: nullable(profile) });
    return several(organizations, 3).chain((chosen) =>
      manifestsFor(
        chosen,
        fc.tuple(fc.boolean(), fields, fields, word),
        ({ id, name }, index, [wantsName, before, after, renamed]) => {
          const byName = wantsName && name !== null && isUnique(name);
          const identity = { kind: 'Organization', ...(byName ? { name } : { id }) } as const;
          const rename = index === 1 && !byName ? { name: `new ${index} ${renamed}` } : {};
          const other = index === 0 ? { label: 'of the second manifest' } : {};
          return {
            first: { ...identity, ...before },
            second: { ...identity, ...after, ...rename, ...other },
          };
        },
      ),
    );
  },
  secrets: () => [{ path: ['label'], always: false }],
  removeDeclared(data, doc, change) {
    const id = change?.apply.identity.id;
    removeFields(
      data.organizations.find((one) => one.id === id),
      doc,
    );
  },
};

const spare = (kind: number, index: number): string => `${kind}0000000-0000-4000-8000-00000000010${index}`;
const isSpare = ({ id }: { readonly id: string }): boolean => id.includes('-00000000010');

/** Adds a document that creates an object to the second manifest. */
function creating({ first, second }: ManifestPair, doc: Doc): ManifestPair {
  return { first, second: [...second, { ...doc, create: true }] };
}

/** Spare objects declared by name or id, the first of them renamed, and one object that is created. */
function renaming(
  kind: 'Scope' | 'Role',
  rows: readonly { readonly id: string; readonly name: string | null }[],
  fields: fc.Arbitrary<{ [field: string]: Json }>,
  made: Omit<Doc, 'kind'>,
): fc.Arbitrary<ManifestPair> {
  return several(rows.filter(isSpare), 2)
    .chain((chosen) =>
      manifestsFor(
        chosen,
        fc.tuple(fc.boolean(), fields, fields),
        ({ id, name }, index, [byName, before, after]) => {
          const identity = byName && index > 0 ? { name } : { id };
          const other = index === 0 ? { name: `renamed:${name}` } : {};
          return {
            first: { kind, ...identity, ...before },
            second: { kind, ...identity, ...after, ...other },
          };
        },
      ),
    )
    .map((manifests) => creating(manifests, { kind, ...made }));
}

/** Removes the declared fields of a row, or the whole row if the document creates it. */
function removeDeclaredNamed(
  rows: { id: string; name: string | null }[],
  doc: Doc,
  change: Change | undefined,
): void {
  const id = change?.apply.identity.id;
  const at = rows.findIndex((row) => (doc.create === true ? row.name === doc.name : row.id === id));
  if (doc.create === true && at >= 0) rows.splice(at, 1);
  else removeFields(rows[at], doc);
}

const scope: KindSample = {
  server: () =>
    fc
      .tuple(...[1, 2, 3].map(() => fc.tuple(word, fc.option(acceptedText), fc.boolean())))
      .map((rows) => ({
        scopes: [
          ...demo().scopes,
          ...rows.map(([name, label, isPublic], index) => ({
            id: spare(7, index + 1),
            name: `${index}:${name}`,
            label,
            public: isPublic,
          })),
        ],
      })),
  manifests({ scopes }) {
    const fields = optionalMembers({ label: fc.option(acceptedText), public: fc.boolean() });
    return renaming('Scope', scopes, fields, { name: 'new:scope', label: 'New' });
  },
  secrets: () => [{ path: ['label'], always: false }],
  removeDeclared: ({ scopes }, doc, change) => removeDeclaredNamed(scopes, doc, change),
};

const role: KindSample = {
  server: () =>
    fc
      .tuple(...[1, 2, 3].map(() => fc.tuple(word, fc.shuffledSubarray(demo().scopes))))
      .map((rows) => ({
        roles: [
          ...demo().roles,
          ...rows.map(([name, scopes], index) => ({
            id: spare(8, index + 1),
            name: `${index}:${name}`,
            scopes: scopes.map(({ label: _, ...one }) => one),
            hidden_scopes: [],
          })),
        ],
      })),
  manifests({ roles, scopes }) {
    const list = fc
      .shuffledSubarray(scopes)
      .chain((chosen) =>
        fc.tuple(...chosen.map(({ id, name }) => fc.constantFrom<Json>(name, { id }, { id, name }))),
      );
    const set = fc.oneof(
      list,
      list.map((add) => ({ add })),
      list.map((remove) => ({ remove })),
    );
    const fields = set.map((scopes) => ({ scopes }));
    return renaming('Role', roles, fields, { name: 'new role', scopes: ['billing:read'] });
  },
  secrets: () => [],
  removeDeclared: ({ roles }, doc, change) => removeDeclaredNamed(roles, doc, change),
};

/** Three more backends, one with a federated server. */
const spareBackends = (): SandboxSeed['backends'] =>
  [1, 2, 3].map((index) => ({
    ...(demo().backends[0] as SandboxSeed['backends'][number]),
    id: spare(2, index),
    name: `Directory ${index}`,
    type: 'Elixir.BorutaIdentity.Accounts.Internal',
    is_default: false,
    smtp_tls: 'always',
    federated_servers:
      index === 1
        ? [{ name: 'corp', client_id: 'us', client_secret: 'of-corp', base_url: 'https://corp.example' }]
        : [],
  }));

const backend: KindSample = {
  server: () => fc.constant({ backends: [...demo().backends, ...spareBackends()] }),
  manifests: ({ roles }) => {
    const set = fc.oneof(
      several(roles, 0).map((chosen) => chosen.map(({ name }): Json => name)),
      fc.constantFrom<Json>({ add: ['member'] }, { remove: ['member'] }),
    );
    const hash = fc.constantFrom<{ [field: string]: Json }>(
      {},
      { password_hashing_alg: 'argon2', password_hashing_opts: { t_cost: 9 } },
      { password_hashing_alg: 'bcrypt', password_hashing_opts: { log_rounds: 11 } },
    );
    const fields = fc
      .tuple(
        optionalMembers({
          smtp_relay: fc.option(acceptedText),
          smtp_port: fc.option(fc.nat(65_535)),
          smtp_tls: fc.constantFrom(null, 'never', 'if_available'),
          create_default_organization: fc.boolean(),
          metadata_fields: fc.constantFrom<Json>([], [{ attribute_name: 'team' }]),
          roles: set,
        }),
        hash,
      )
      .map(([members, hashed]) => ({ ...members, ...hashed }));
    return manifestsFor(spareBackends(), fc.tuple(fields, fields), ({ id, name }, index, [before, after]) => {
      const identity = { kind: 'Backend', ...(index === 0 ? { id } : { name }) } as const;
      // The default moves from the second backend to the first.
      const was = index < 2 ? { is_default: index === 1 } : {};
      const is = index < 2 ? { is_default: index === 0 } : {};
      const server = { name: 'corp', base_url: 'https://login.corp.example' };
      const more = index === 0 ? { name: 'Renamed', federated_servers: [server] } : {};
      return { first: { ...identity, ...before, ...was }, second: { ...identity, ...after, ...is, ...more } };
    }).map((manifests) => {
      const made = { name: 'new backend', roles: ['member'], smtp_password: 'its password' };
      return creating(manifests, { kind: 'Backend', ...made });
    });
  },
  secrets: () => [
    { path: ['smtp_from'], always: false },
    { path: ['smtp_password'], always: true },
    { path: ['ldap_master_password'], always: true },
    { path: ['federated_servers', '0', 'client_secret'], always: true },
  ],
  removeDeclared({ backends }, doc, change) {
    if (doc.is_default === true) for (const one of backends) one.is_default = null;
    removeDeclaredNamed(backends, doc, change);
  },
};

const identityProvider: KindSample = {
  server: () =>
    fc.constant({
      backends: [...demo().backends, ...spareBackends()],
      identityProviders: [
        ...(demo().identityProviders ?? []),
        ...[1, 2, 3].map((index) => ({
          id: spare(9, index),
          name: `Login ${index}`,
          backend_id: spare(2, index),
          check_password: true,
          choose_session: true,
          totpable: false,
          enforce_totp: false,
          webauthnable: false,
          enforce_webauthn: false,
          registrable: false,
          user_editable: false,
          consentable: false,
          confirmable: false,
        })),
      ],
    }),
  manifests: () => {
    const fields = optionalMembers({
      registrable: fc.boolean(),
      totpable: fc.boolean(),
      check_password: fc.boolean(),
    });
    const home = fc.constantFrom<{ [field: string]: Json }>(
      {},
      { backend: 'Directory 3' },
      { backend: ids.backend },
      { backend_id: spare(2, 1) },
    );
    return several([1, 2, 3], 2)
      .chain((chosen) =>
        manifestsFor(
          chosen,
          fc.tuple(fields, fields, home, home),
          (number, index, [before, after, from, to]) => {
            const named = index === 0 ? { id: spare(9, number) } : { name: `Login ${number}` };
            const identity = { kind: 'IdentityProvider', ...named } as const;
            const more = index === 0 ? { name: 'Renamed' } : {};
            return {
              first: { ...identity, ...before, ...from },
              second: { ...identity, ...after, ...to, ...more },
            };
          },
        ),
      )
      .map((manifests) =>
        creating(manifests, { kind: 'IdentityProvider', name: 'new provider', backend: 'Directory 2' }),
      );
  },
  secrets: () => [],
  removeDeclared({ identityProviders = [] }, { backend: home, ...doc }, change) {
    removeDeclaredNamed(identityProviders, home === undefined ? doc : { ...doc, backend_id: home }, change);
  },
};

const otherBackend = '20000000-0000-4000-8000-000000000002';

const newUser: Doc = {
  kind: 'User',
  username: 'new@example.com',
  backend: otherBackend,
  password: 'correct horse battery',
  roles: ['member'],
};

const user: KindSample = {
  server: () =>
    fc
      .tuple(
        ...[ids.ada, ids.grace].map((id) =>
          fc.record({ id: fc.constant(id), group: userGroup, metadata: userMetadata }),
        ),
      )
      .map((changed) => {
        const { users, backends } = demo();
        // Each user has its own backend, because contradicting declarations of a shared one would never converge.
        return {
          users: users.map((row, index) => ({
            ...row,
            ...changed[index],
            backend_id: index === 0 ? row.backend_id : otherBackend,
          })),
          backends: backends.flatMap((row) => [
            row,
            { ...row, id: otherBackend, type: 'Elixir.BorutaIdentity.Accounts.Internal', is_default: false },
          ]),
        };
      }),
  manifests({ users, organizations }, profile) {
    const references = organizations.map(({ id, name }) => ({ id, name: name ?? '' }));
    const one = (id: string): fc.Arbitrary<Doc> =>
      profile === 'boruta'
        ? userFields(profile).map((fields): Doc => ({ kind: 'User', id, whole: ['metadata'], ...fields }))
        : userDoc(id, references, new Set(), true, fc.constant({}));
    return several(users)
      .chain((chosen) =>
        fc.tuple(
          ...chosen.map(({ id }, index) =>
            fc.tuple(one(id), one(id)).map(([before, after]) => {
              const [firstGroup, secondGroup] =
                index === 0 ? [{ group: 'first' }, { group: 'second' }] : [{}, {}];
              const second = { ...after, ...secondGroup };
              return {
                first: { ...(profile === 'boruta' ? before : merged(second, before)), ...firstGroup },
                second,
              };
            }),
          ),
        ),
      )
      .map(transpose)
      .map((manifests) => (profile === 'boruta' ? creating(manifests, newUser) : manifests));
  },
  secrets: (profile) =>
    profile === 'boruta'
      ? [{ path: ['group'], always: false }]
      : [
          { path: ['group'], always: false },
          { path: ['backend', 'smtp_password'], always: true },
          { path: ['backend', 'ldap_master_password'], always: true },
        ],
  removeDeclared({ users, backends }, doc) {
    const made = doc.create === true ? users.findIndex(({ username }) => username === doc.username) : -1;
    if (made >= 0) users.splice(made, 1);
    const row = users.find(({ id }) => id === doc.id);
    const { backend } = doc;
    if (typeof backend === 'object' && backend !== null)
      removeFields(
        backends.find(({ id }) => id === row?.backend_id),
        backend,
      );
    removeFields(row, doc);
  },
};

const keyPair: KindSample = {
  server: (profile) =>
    fc
      .tuple(fc.nat(2), fc.array(profileText(profile), { minLength: 3, maxLength: 3 }))
      .map(([first, keys]) => ({
        keyPairs: [
          ...[ids.firstKey, ids.secondKey, ids.thirdKey].map((id, index) => ({
            id,
            public_key: keys[index] ?? null,
            is_default: index === first,
          })),
          ...(profile === 'boruta' ? [{ id: spare(5, 1), public_key: 'rotated', is_default: false }] : []),
        ],
      })),
  manifests({ keyPairs: all }, profile) {
    const keyPairs = all.filter(({ id }) => id !== spare(5, 1));
    const rotation = { kind: 'KeyPair', id: spare(5, 1) } as const;
    const rotated: ManifestPair = {
      first: profile === 'boruta' ? [{ ...rotation, rotation: 1 }] : [],
      second: profile === 'boruta' ? [{ ...rotation, rotation: 2 }] : [],
    };
    const keys = profile === 'boruta' ? fc.constant({}) : optionalMembers({ public_key: nullableText });
    // The original default may be undeclared: the server still unsets it.
    return fc
      .tuple(fc.shuffledSubarray(keyPairs, { minLength: 2 }), keys, keys)
      .map(([chosen, before, after]) =>
        transpose(
          chosen.map(({ id }, index) => {
            const pair = { kind: 'KeyPair', id } as const;
            const second = { ...pair, ...(index === 0 ? after : {}), is_default: index === 0 };
            return { first: merged(second, { ...pair, ...before, is_default: index === 1 }), second };
          }),
        ),
      )
      .map(({ first, second }) => ({
        first: [...first, ...rotated.first],
        second: [...second, ...rotated.second],
      }));
  },
  secrets: (profile) => (profile === 'boruta' ? [] : [{ path: ['public_key'], always: false }]),
  removeDeclared({ keyPairs }, doc) {
    if (doc.is_default === true) for (const pair of keyPairs) pair.is_default = null;
    const row = keyPairs.find(({ id }) => id === doc.id);
    if (doc.rotation !== undefined && row !== undefined) row.public_key = null;
    else removeFields(row, doc);
  },
};

const emailTemplate: KindSample = {
  server: (profile) =>
    fc
      .tuple(
        ...['reset_password_instructions', 'tx_code'].map((type, index) =>
          fc.option(
            fc
              .tuple(profileText(profile), profileText(profile))
              .map(([txt_content, html_content]) => ({
                id: index === 0 ? ids.resetPassword : ids.txCode,
                backend_id: ids.backend,
                type,
                txt_content,
                html_content,
              })),
          ),
        ),
      )
      .map((rows) => ({ templates: rows.filter((row) => row !== null) })),
  manifests(_, profile) {
    const body = profile === 'boruta' ? acceptedText : bodyText;
    const types = ['confirmation_instructions', 'reset_password_instructions', 'tx_code'];
    return several(types, 2).chain((chosen) =>
      fc
        .tuple(
          ...chosen.map((type, index) => {
            const identity = { backend_id: ids.backend, type };
            return fc
              .tuple(templateDoc(identity, body), templateDoc(identity, body))
              .map(([first, second]) => {
                // The first is changed or created, the second is deleted, the third is arbitrary.
                const { state: _state, ...bodies } = index === 0 ? second : first;
                const text = { ...bodies, txt_content: index === 0 ? 'second' : 'first' };
                if (index === 0) return { first, second: text };
                return index === 1 ? { first: text, second: absent(identity) } : { first, second };
              });
          }),
        )
        .map(transpose),
    );
  },
  secrets: () => [
    { path: ['txt_content'], always: false },
    { path: ['html_content'], always: false },
  ],
  removeDeclared(data, doc) {
    const isMeant = (it: { backend_id: string; type: string }) =>
      it.backend_id === doc.backend_id && it.type === doc.type;
    if (doc.state === 'absent') data.templates = data.templates.filter((it) => !isMeant(it));
    else removeFields(data.templates.find(isMeant), { ...doc, backend_id: null });
  },
};

const client: KindSample = {
  server: (profile) =>
    fc.tuple(acceptedText, fc.boolean(), word, fc.boolean()).map(([name, moved, other, pkce]) => {
      const { clients, identityProviders = [] } = demo();
      const [first] = clients;
      const [provider] = identityProviders;
      const spares =
        profile === 'documented' || first === undefined
          ? []
          : [1, 2, 3].map((index) => ({ ...first, id: spare(6, index), name: `${index} ${other}`, pkce }));
      return {
        identityProviders:
          provider === undefined ? [] : [provider, { ...provider, id: spare(9, 1), name: 'Partners' }],
        clients: [
          ...clients.map((row, index) =>
            // The server that derives DIDs from keys changes the DID of one client, and keeps the other.
            index === 0 ? { ...row, name, did: moved ? 'did:example:before' : row.did } : row,
          ),
          ...spares,
        ],
      };
    }),
  manifests({ clients, scopes }, profile) {
    const numbers = several(clients.filter((row) => !isSpare(row))).chain((chosen) =>
      manifestsFor(chosen, fc.tuple(fc.nat(9), fc.nat(9)), ({ id }, index, [before, more]) => ({
        first: { kind: 'Client', id, did_generation: before },
        second: { kind: 'Client', id, did_generation: before + more + (index === 0 ? 1 : 0) },
      })),
    );
    if (profile === 'documented') return numbers;
    const names = scopes.map(({ name }) => name);
    const list = fc.shuffledSubarray(names);
    const fields = optionalMembers({
      name: fc.option(acceptedText),
      pkce: fc.boolean(),
      redirect_uris: fc.subarray(['https://a.example/back', 'app://back']),
      id_token_ttl: fc.constantFrom<Json>(60, '10m', '1h', 86_400),
      identity_provider: fc.constantFrom<Json>('Partners', { id: spare(9, 1) }, { name: 'Company accounts' }),
      authorized_scopes: fc.oneof<fc.Arbitrary<Json>[]>(
        list,
        list.map((add) => ({ add })),
      ),
      id_token_signature_alg: fc.constantFrom('ES256', 'HS512'),
    });
    const wholes = several(clients.filter(isSpare), 2).chain((chosen) =>
      manifestsFor(chosen, fc.tuple(fields, fields), ({ id }, index, [before, after]) => ({
        first: { kind: 'Client', id, ...before, ...(index === 0 ? { name: 'before' } : {}) },
        second: { kind: 'Client', id, ...after, ...(index === 0 ? { name: 'after' } : {}) },
      })),
    );
    const made = { kind: 'Client', id: spare(6, 9), name: 'new', identity_provider: 'Partners' } as const;
    return fc
      .tuple(wholes, numbers)
      .map(([whole, number]) =>
        creating(
          { first: [...whole.first, ...number.first], second: [...whole.second, ...number.second] },
          { ...made, authorized_scopes: ['billing:read'], access_token_ttl: '1h' },
        ),
      );
  },
  secrets: (profile) =>
    profile === 'documented'
      ? []
      : [
          { path: ['name'], always: false },
          { path: ['secret'], always: true },
        ],
  removeDeclared({ clients }, doc, change) {
    const at = clients.findIndex(({ id }) => id === doc.id);
    if (doc.create === true && at >= 0) clients.splice(at, 1);
    else if (change?.action !== 'regenerate') removeFields(clients[at], doc);
    else for (const row of clients) if (row.id === doc.id) row.did = null;
  },
};

/** Up to three customized pages, of which one is changed and one deleted. */
function pagesSample(
  kind: 'PageTemplate' | 'ErrorTemplate',
  list: 'pageTemplates' | 'errorTemplates',
  types: readonly string[],
  owner: { readonly [part: string]: string },
): KindSample {
  return {
    server: () =>
      fc.shuffledSubarray([...types]).chain((chosen) =>
        fc.tuple(...chosen.map(() => acceptedText)).map((contents) => ({
          [list]: chosen.map((type, index) => ({
            // `comparable` ignores this id, because a page that is deleted and restored gets a new one.
            id: spare(3, index).replace('-0000-', '-0001-'),
            ...owner,
            type,
            content: contents[index],
          })),
        })),
      ),
    manifests: () =>
      fc.tuple(acceptedText, acceptedText, acceptedText).map(([first, second, third]) => {
        const [one = '', other = ''] = types;
        const page = (type: string, rest: object): Doc => ({ kind, ...owner, type, ...rest }) as Doc;
        return {
          first: [page(one, { content: `1${first}` }), page(other, { content: second })],
          second: [page(one, { content: `2${third}` }), page(other, { state: 'absent' })],
        };
      }),
    secrets: () => [{ path: ['content'], always: false }],
    removeDeclared(data, doc) {
      const rows: { id: string; type: string; content: string }[] = data[list] ?? [];
      const at = rows.findIndex(({ type }) => type === doc.type);
      if (at < 0) return;
      if (doc.state === 'absent') rows.splice(at, 1);
      else removeFields(rows[at], { content: '' });
    },
  };
}

/** A sample of every kind; a missing one is a compile error. */
export const samples: { readonly [name in KindName]: KindSample } = {
  Scope: scope,
  Role: role,
  Organization: organization,
  Client: client,
  Backend: backend,
  IdentityProvider: identityProvider,
  User: user,
  KeyPair: keyPair,
  EmailTemplate: emailTemplate,
  PageTemplate: pagesSample('PageTemplate', 'pageTemplates', ['new_session', 'layout', 'edit_user'], {
    identity_provider_id: '90000000-0000-4000-8000-000000000001',
  }),
  ErrorTemplate: pagesSample('ErrorTemplate', 'errorTemplates', ['404', '500', '400'], {}),
};

/** Two manifests with a document for each object, which `describe` makes from generated values. */
function manifestsFor<T, D>(
  objects: readonly T[],
  drawing: fc.Arbitrary<D>,
  describe: (object: T, index: number, drawn: D) => { readonly first: Doc; readonly second: Doc },
): fc.Arbitrary<ManifestPair> {
  return fc
    .tuple(...objects.map((object, index) => drawing.map((drawn) => describe(object, index, drawn))))
    .map(transpose);
}

function transpose(pairs: readonly { readonly first: Doc; readonly second: Doc }[]): ManifestPair {
  return { first: pairs.map(({ first }) => first), second: pairs.map(({ second }) => second) };
}

/** The fields of both documents; `over` wins, and members of `backend` are merged. */
function merged(under: Doc, over: Doc): Doc {
  const isObject = (it: Json | undefined): it is { [name: string]: Json } =>
    typeof it === 'object' && it !== null && !Array.isArray(it);
  const both = Object.entries({ ...under, ...over }).map(([field, it]): [string, Json] => {
    const below = under[field];
    return [field, field === 'backend' && isObject(below) && isObject(it) ? { ...below, ...it } : it];
  });
  return { ...Object.fromEntries(both), kind: under.kind };
}

/** Deletes the fields that another object has, except the id. */
function removeFields(object: object | undefined, fields: object): void {
  for (const field of Object.keys(fields)) {
    if (field !== 'id' && object !== undefined) Reflect.deleteProperty(object, field);
  }
}

/** The change that a plan has for a document. */
export function changeOf({ changes }: Plan, doc: Doc): Change | undefined {
  const { identifyingParts, identity } = kindOf(doc.kind);
  const parts = (identifyingParts?.((part) => part in doc) ?? identity).filter((part) => part in doc);
  return changes.find(
    ({ kind, apply }) => kind === doc.kind && parts.every((part) => apply.identity[part] === doc[part]),
  );
}
