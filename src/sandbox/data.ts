import type { JsonObject } from './json.js';

/** An organization as the server stores it. */
export interface SandboxOrganization {
  id: string;
  name: string | null;
  label: string | null;
}

/** A scope as the server stores it. */
export interface SandboxScope {
  id: string;
  name: string;
  label: string | null;
  public: boolean;
}

/** A role with its scopes, as the server stores it. */
export interface SandboxRole {
  id: string;
  name: string;
  scopes: { id: string; name: string; public: boolean }[];
  /** Ids of scopes that don't exist; no answer shows them (boruta profile). */
  hidden_scopes?: string[];
}

/** A user's membership of the organization with the same id. */
export interface SandboxMembership {
  id: string;
  roles: SandboxRole[];
}

/** A user as the server stores it. */
export interface SandboxUser {
  id: string;
  uid: string | null;
  username: string | null;
  totp_registered_at: string | null;
  metadata: JsonObject;
  federated_metadata: JsonObject;
  blocked: boolean | null;
  group: string | null;
  authorized_scopes: SandboxScope[];
  organizations: SandboxMembership[];
  /** Only under the boruta profile. */
  roles: SandboxRole[];
  backend_id: string | null;
}

/** A backend as the server stores it, with passwords. */
export interface SandboxBackend {
  id: string;
  name: string | null;
  type: string | null;
  is_default: boolean | null;
  create_default_organization: boolean | null;
  roles: SandboxRole[];
  metadata_fields: JsonObject[];
  federated_servers: JsonObject[];
  verifiable_credentials: JsonObject[];
  verifiable_presentations: JsonObject[];
  password_hashing_alg: string | null;
  password_hashing_opts: JsonObject;
  ldap_pool_size: number | null;
  ldap_host: string | null;
  ldap_user_rdn_attribute: string | null;
  ldap_base_dn: string | null;
  ldap_ou: string | null;
  ldap_master_dn: string | null;
  ldap_master_password: string | null;
  smtp_from: string | null;
  smtp_relay: string | null;
  smtp_username: string | null;
  smtp_password: string | null;
  smtp_ssl: boolean | null;
  /** A text under the boruta profile. */
  smtp_tls: boolean | string | null;
  smtp_port: number | null;
  features: string[];
}

/** A customised email template; built-in ones aren't stored. */
export interface SandboxTemplate {
  id: string;
  backend_id: string;
  type: string;
  txt_content: string | null;
  html_content: string | null;
}

/** An identity provider as the server stores it. */
export interface SandboxIdentityProvider {
  id: string;
  name: string;
  backend_id: string | null;
  check_password: boolean;
  choose_session: boolean;
  totpable: boolean;
  enforce_totp: boolean;
  webauthnable: boolean;
  enforce_webauthn: boolean;
  registrable: boolean;
  user_editable: boolean;
  consentable: boolean;
  confirmable: boolean;
}

/** A customised error page; built-in ones aren't stored. */
export interface SandboxErrorTemplate {
  id: string;
  type: string;
  content: string;
}

/** A customised page of an identity provider; built-in ones aren't stored. */
export interface SandboxPageTemplate extends SandboxErrorTemplate {
  identity_provider_id: string;
}

/** A key pair as the server stores it. */
export interface SandboxKeyPair {
  id: string;
  public_key: string | null;
  is_default: boolean | null;
}

/** A client as the server stores it, with its secret. */
export interface SandboxClient {
  id: string;
  public_client_id: string | null;
  check_public_client_id: boolean;
  name: string | null;
  secret: string | null;
  confidential: boolean;
  redirect_uris: string[];
  public_refresh_token: boolean;
  public_revoke: boolean;
  authorize_scope: boolean;
  enforce_dpop: boolean;
  enforce_tx_code: boolean;
  access_token_ttl: number;
  authorization_code_ttl: number;
  authorization_request_ttl: number;
  refresh_token_ttl: number;
  id_token_ttl: number;
  pkce: boolean;
  public_key: string;
  key_pair_type: JsonObject;
  signatures_adapter: string;
  did: string | null;
  identity_provider: { id: string; name: string };
  authorized_scopes: { id: string; name: string; public: boolean }[];
  supported_grant_types: string[];
  id_token_signature_alg: string;
  userinfo_signed_response_alg: string | null;
  token_endpoint_jwt_auth_alg: string;
  token_endpoint_auth_methods: string[];
  jwt_public_key: string | null;
  response_mode: string | null;
  /** Only under the boruta profile. */
  trusted_authorities?: string;
  trusted_hosts?: string[];
}

/** Data that only the boruta profile has. */
interface BorutaData {
  identityProviders: SandboxIdentityProvider[];
  pageTemplates: SandboxPageTemplate[];
  errorTemplates: SandboxErrorTemplate[];
}

/** All data of a sandbox server. Organizations are listed in the order of this array. */
export interface SandboxData extends BorutaData {
  organizations: SandboxOrganization[];
  users: SandboxUser[];
  backends: SandboxBackend[];
  templates: SandboxTemplate[];
  keyPairs: SandboxKeyPair[];
  clients: SandboxClient[];
  scopes: SandboxScope[];
  roles: SandboxRole[];
}

/** The data that a sandbox starts with, or a snapshot. By default, it has the identity providers that clients name. */
export type SandboxSeed = Omit<SandboxData, keyof BorutaData> & Partial<BorutaData>;

/** The element of a list with this id. */
export function findById<T extends { id: string }>(list: readonly T[], id?: string | null): T | undefined {
  return list.find((candidate) => candidate.id === id);
}
