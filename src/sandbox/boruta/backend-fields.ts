import { isObject, type JsonObject } from '../json.js';
import {
  type Errors,
  type Field,
  type Fields,
  flag,
  Invalid,
  integer,
  oneOf,
  requiredText,
  text,
} from './fields.js';

export const internal = 'Elixir.BorutaIdentity.Accounts.Internal';
export const ldap = 'Elixir.BorutaIdentity.Accounts.Ldap';

/** The members of each element of a list. */
interface Members {
  required: readonly string[];
  optional: readonly string[];
  /** The error of an element that has all required members. */
  check?(element: JsonObject): string | undefined;
}

/** A list of objects with known members. */
function listOfObjects({ required, optional, check }: Members, onNull: Field['onNull']): Field {
  const error = (element: JsonObject): string | undefined => {
    const missing = required.filter((name) => !Object.hasOwn(element, name));
    const unknown = Object.keys(element).find((name) => ![...required, ...optional].includes(name));
    if (missing.length > 0) return `Required properties ${missing.join(', ')} were not present. at #`;
    if (unknown !== undefined) return `Schema does not allow additional properties. at #/${unknown}`;
    return check?.(element);
  };
  return {
    initial: [],
    onNull,
    read(sent) {
      if (!Array.isArray(sent) || !sent.every(isObject)) return undefined;
      const [wrong] = sent.flatMap((element) => error(element) ?? []);
      return wrong === undefined ? sent : new Invalid(wrong);
    },
  };
}

const textFields = [
  ...['ldap_host', 'ldap_user_rdn_attribute', 'ldap_base_dn', 'ldap_ou', 'ldap_master_dn'],
  ...['ldap_master_password', 'smtp_from', 'smtp_relay', 'smtp_username', 'smtp_password'],
];
const credentialFormats: ReadonlySet<unknown> = new Set(['jwt_vc', 'jwt_vc_json', 'vc+sd-jwt']);

/** The fields of a backend without its roles, which are written separately. */
export const backendFields: Fields = {
  name: requiredText,
  type: { ...oneOf([internal, ldap], internal, 'crash'), blankIsNull: true },
  is_default: flag(false),
  create_default_organization: flag(false),
  metadata_fields: listOfObjects(
    {
      required: ['attribute_name'],
      optional: ['user_editable', 'scopes', 'default_value'],
      check: ({ attribute_name, user_editable = false }) =>
        typeof attribute_name === 'string' && typeof user_editable === 'boolean'
          ? undefined
          : 'Type mismatch. at #/0',
    },
    new Invalid('Type mismatch. Expected Array but got Null. at #'),
  ),
  federated_servers: listOfObjects(
    {
      required: ['name', 'client_id', 'client_secret', 'base_url'],
      optional: [
        ...['discovery_path', 'userinfo_path', 'authorize_path', 'token_path', 'scope'],
        ...['federated_attributes', 'metadata_endpoints'],
      ],
      check: ({ name }) =>
        typeof name === 'string' && /^[^ ]+$/.test(name)
          ? undefined
          : 'Does not match pattern "^[^ ]+$". at #/name',
    },
    'crash',
  ),
  verifiable_credentials: listOfObjects(
    {
      required: ['version', 'credential_identifier', 'format', 'types', 'claims', 'display'],
      optional: ['vct', 'time_to_live', 'defered', 'scopes'],
      check: ({ format }) =>
        credentialFormats.has(format) ? undefined : 'Does not match pattern. at #/format',
    },
    'crash',
  ),
  verifiable_presentations: listOfObjects(
    {
      required: ['presentation_identifier', 'presentation_definition'],
      optional: [],
      check: ({ presentation_definition: definition }) =>
        typeof definition === 'string' ? undefined : 'Type mismatch. at #/presentation_definition',
    },
    'crash',
  ),
  password_hashing_alg: { ...requiredText, required: false, initial: 'argon2' },
  password_hashing_opts: {
    initial: {},
    onNull: new Invalid('Type mismatch. Expected Object but got Null. at #'),
    read: (sent) => (isObject(sent) ? sent : undefined),
  },
  ldap_pool_size: integer(5),
  ...Object.fromEntries(textFields.map((name) => [name, text])),
  smtp_ssl: flag(null, 'store'),
  smtp_tls: oneOf(['always', 'never', 'if_available'], null, 'store'),
  smtp_port: integer(null),
};

const argon2Numbers = ['t_cost', 'm_cost', 'parallelism', 'salt_len', 'hashlen', 'argon2_type'];

/** The password hashing algorithms, with the types of their options. */
const hashAlgorithms: Readonly<Record<string, Record<string, string>>> = {
  argon2: { format: 'string', ...Object.fromEntries(argon2Numbers.map((name) => [name, 'number'])) },
  bcrypt: { log_rounds: 'number', legacy: 'boolean' },
  pbkdf2: { salt_len: 'number', length: 'number', format: 'string', digest: 'string' },
};

/** Whether the server knows a password hashing algorithm; otherwise it crashes. */
export function isHashAlgorithm(algorithm: string | null): boolean {
  return Object.hasOwn(hashAlgorithms, algorithm ?? '');
}

/** Errors of the options of a password hashing algorithm. */
export function hashErrors(algorithm: string | null, options: JsonObject | null): Errors {
  if (!isHashAlgorithm(algorithm)) return {};
  const types = hashAlgorithms[algorithm ?? ''] ?? {};
  const invalid = Object.entries(options ?? {}).find(([name, value]) => typeof value !== types[name]);
  if (invalid === undefined) return {};
  return { password_hashing_opts: [`Schema does not allow this. at #/${invalid[0]}`] };
}

/** The features of a type of backend. */
export function featuresOf(type: string | null): string[] {
  const typeFeatures =
    type === ldap
      ? ['consentable', 'user_editable', 'reset_password', 'confirmable']
      : ['registrable', 'user_editable', 'confirmable', 'reset_password', 'consentable', 'destroyable'];
  return ['authenticable', 'totpable', 'webauthnable', ...typeFeatures];
}
