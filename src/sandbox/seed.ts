import { createHash } from 'node:crypto';
import type { SandboxData, SandboxIdentityProvider, SandboxSeed } from './data.js';
import { demoTemplates } from './demo-templates.js';
import { copyJson } from './json.js';

/** A copy of the data that a sandbox starts with. */
export function loadSeed(seed: 'demo' | 'empty' | SandboxSeed): SandboxData {
  const data = seed === 'demo' ? demoSeed() : seed === 'empty' ? emptySeed() : copyJson(seed);
  const { identityProviders = providersOfClients(data), pageTemplates = [], errorTemplates = [] } = data;
  return { ...data, identityProviders, pageTemplates, errorTemplates };
}

function emptySeed(): SandboxSeed {
  return {
    organizations: [],
    users: [],
    backends: [],
    templates: [],
    keyPairs: [],
    clients: [],
    scopes: [],
    roles: [],
  };
}

/** The identity providers that clients name, all with the default backend. */
function providersOfClients({ backends, clients }: SandboxSeed): SandboxIdentityProvider[] {
  const backend = backends.find(({ is_default }) => is_default === true) ?? backends[0];
  const named = clients.map(({ identity_provider }) => identity_provider);
  const unique = new Map(named.flatMap((one) => (one?.id == null ? [] : [[one.id, one.name] as const])));
  return [...unique].map(([id, name]) => ({ id, name, backend_id: backend?.id ?? null, ...providerFlags }));
}

/** The flags of a new identity provider. */
export const providerFlags = {
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
};

// The first digit of an id identifies its kind, for readers of logs.
const id = (kind: number, number: number): string =>
  `${kind}0000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

/** The DID of a public key. */
export function didOfKey(publicKey: string): string {
  return `did:key:z${createHash('sha256').update(publicKey).digest('hex')}`;
}

/** The PEM of a P-256 public key, given the end of its base64. */
function pem(point: string): string {
  const lines = `MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE${point}`.replace(/.{64}/, '$&\n');
  return `-----BEGIN PUBLIC KEY-----\n${lines}\n-----END PUBLIC KEY-----\n`;
}

const publicKeys = [
  pem('L4PLE6fpuWGmop0M+qqwwdTpHdPtf7KzJXgHiyXaAP8RB8Zb3w5sf2EDPVGmnflXQ3YRufdRqeDbSGkE3Ra4sQ=='),
  pem('n181luECgtKI3st8qadSawRjEqkW7HSwbydwxVcsayzy1XCg/IgU/DpPziSazY8SpvBG0zt8H7chCFkPD8p87A=='),
  pem('L/2o76GIxtVYBtHx2Tg3I47kbG5g5qLibzQbF66NwTHaCvIwzw3QLNWkIUm4frJ5xZA1rAJv/mfQiZZVlZSneg=='),
];
const portalKey = pem(
  'KdqykP8051ViiqaK+2QgJ1evE9Of/+/uXvE0zzMAf2gko1THwvOiLu3dJf3snr8WOmRnK8/OvSBpzAQkJwuNzQ==',
);
const walletKey = pem(
  'Qzrzuz9lg3oNxN6OVIa7QxJ654k9amq7bzQHCNfMIYcO2Kkg99V/4t4szrhYx1quRd+MZinGY68TOd5YeWAMAg==',
);

function demoSeed(): SandboxSeed {
  const backendId = id(2, 1);
  const billingRead = { id: id(7, 1), name: 'billing:read', label: 'Read invoices', public: false };
  const billingWrite = { id: id(7, 2), name: 'billing:write', label: 'Issue invoices', public: false };
  const reportsRead = { id: id(7, 3), name: 'reports:read', label: 'Read reports', public: true };
  const unlabelled = ({ id, name, public: open }: typeof billingRead) => ({ id, name, public: open });
  const member = { id: id(8, 1), name: 'member', scopes: [unlabelled(reportsRead)] };
  const accountant = {
    id: id(8, 2),
    name: 'accountant',
    scopes: [unlabelled(billingRead), unlabelled(billingWrite)],
  };
  const client = {
    check_public_client_id: false,
    confidential: true,
    public_refresh_token: false,
    public_revoke: false,
    authorize_scope: true,
    enforce_dpop: false,
    enforce_tx_code: false,
    access_token_ttl: 86_400,
    authorization_code_ttl: 60,
    authorization_request_ttl: 60,
    refresh_token_ttl: 2_592_000,
    id_token_ttl: 86_400,
    pkce: true,
    key_pair_type: { type: 'ec', curve: 'P-256' },
    signatures_adapter: 'Elixir.Boruta.Internal.Signatures',
    identity_provider: { id: id(9, 1), name: 'Company accounts' },
    id_token_signature_alg: 'ES256',
    userinfo_signed_response_alg: null,
    token_endpoint_jwt_auth_alg: 'HS256',
    jwt_public_key: null,
    response_mode: 'direct_post',
  };
  // A copy shares no objects, so that a test can change one role without the others.
  return copyJson({
    organizations: [
      { id: id(1, 1), name: 'acme', label: 'ACME Corp' },
      { id: id(1, 2), name: 'globex', label: 'Globex Corporation' },
      { id: id(1, 3), name: 'initech', label: 'Initech' },
      { id: id(1, 4), name: 'umbrella', label: null },
    ],
    users: [
      {
        id: id(4, 1),
        uid: 'ada',
        username: 'ada@acme.example',
        totp_registered_at: '2026-03-02T09:30:00Z',
        metadata: {
          department: { value: 'finance', status: 'valid' },
          phone: { value: '+44 20 7946 0018', status: 'valid' },
        },
        federated_metadata: {},
        blocked: false,
        group: 'staff finance',
        authorized_scopes: [billingRead, billingWrite],
        organizations: [
          { id: id(1, 1), roles: [member, accountant] },
          { id: id(1, 2), roles: [member] },
        ],
        roles: [member],
        backend_id: backendId,
      },
      {
        id: id(4, 2),
        uid: 'grace',
        username: 'grace@globex.example',
        totp_registered_at: null,
        metadata: { department: { value: 'research', status: 'valid' } },
        federated_metadata: { directory: { employee_number: '4711' } },
        blocked: false,
        group: null,
        authorized_scopes: [reportsRead],
        organizations: [{ id: id(1, 2), roles: [] }],
        roles: [],
        backend_id: backendId,
      },
    ],
    backends: [
      {
        id: backendId,
        name: 'Company directory',
        type: 'Elixir.BorutaIdentity.Accounts.Ldap',
        is_default: true,
        create_default_organization: false,
        roles: [member],
        metadata_fields: [
          { attribute_name: 'department', user_editable: false, scopes: [] },
          { attribute_name: 'phone', user_editable: true, scopes: [] },
        ],
        federated_servers: [],
        verifiable_credentials: [],
        verifiable_presentations: [],
        password_hashing_alg: 'argon2',
        password_hashing_opts: { t_cost: 8, m_cost: 16 },
        ldap_pool_size: 5,
        ldap_host: 'ldap.acme.example',
        ldap_user_rdn_attribute: 'uid',
        ldap_base_dn: 'dc=acme,dc=example',
        ldap_ou: 'ou=people',
        ldap_master_dn: 'cn=identity,dc=acme,dc=example',
        ldap_master_password: 'demo-ldap-password',
        smtp_from: 'accounts@acme.example',
        smtp_relay: 'smtp.acme.example',
        smtp_username: 'accounts',
        smtp_password: 'demo-smtp-password',
        smtp_ssl: false,
        smtp_tls: null,
        smtp_port: 587,
        features: ['authenticable', 'registrable', 'confirmable'],
      },
    ],
    templates: demoTemplates.map((template, index) => ({
      id: id(3, index + 1),
      backend_id: backendId,
      ...template,
    })),
    keyPairs: publicKeys.map((publicKey, index) => ({
      id: id(5, index + 1),
      public_key: publicKey,
      is_default: index === 0,
    })),
    clients: [
      {
        id: id(6, 1),
        ...client,
        public_client_id: null,
        name: 'Customer portal',
        secret: 'demo-client-secret-portal',
        redirect_uris: ['https://portal.acme.example/callback'],
        public_key: portalKey,
        did: didOfKey(portalKey),
        authorized_scopes: [unlabelled(reportsRead)],
        supported_grant_types: ['authorization_code', 'refresh_token', 'revoke', 'introspect'],
        token_endpoint_auth_methods: ['client_secret_basic', 'client_secret_post'],
      },
      {
        id: id(6, 2),
        ...client,
        public_client_id: 'did:web:wallet.globex.example',
        name: 'Employee wallet',
        secret: 'demo-client-secret-wallet',
        redirect_uris: ['https://wallet.globex.example/return', 'wallet://return'],
        public_key: walletKey,
        did: didOfKey(walletKey),
        authorized_scopes: [],
        supported_grant_types: ['preauthorized_code', 'vp_token'],
        token_endpoint_auth_methods: ['client_secret_post'],
      },
    ],
    scopes: [billingRead, billingWrite, reportsRead],
    roles: [member, accountant],
  });
}
