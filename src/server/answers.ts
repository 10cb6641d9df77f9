import * as z from 'zod';
import { isPathParameter, sameIdentifier } from '../base/identifiers.js';
import { parseJson, plainNumber } from '../base/json.js';
import {
  ExactNumber,
  type Fields,
  isMap,
  type Json,
  mapValues,
  Sensitive,
  type Value,
} from '../base/values.js';
import { isSecretMember, type SecretField } from '../secrets/names.js';

/** The value of an answer, or what is wrong with it, without a quotation. */
export type Parsed<T> =
  | { readonly value: T }
  | {
      readonly wrong: string;
      /** By default `wrong-type`. */
      readonly reason?: 'other-object';
    };

/** Reads the JSON document of an answer, including `data`. */
export type Parser<T> = (document: unknown) => Parsed<T>;

const maxDepth = 100;

/** A member that may be null or absent. */
const optional = <S extends z.ZodType>(schema: S) => schema.nullable().exactOptional();

const text = optional(z.string());
const flag = optional(z.boolean());
/** `587.0` is an integer too. */
const integer = z.preprocess(
  (value) => (value instanceof ExactNumber ? plainNumber(value.text) : value),
  z.int32(),
);
const int = optional(integer);
/** An id that later requests use in a path. */
const identifier = optional(z.string().refine(isPathParameter, 'an id that no path can carry'));
const texts = optional(z.array(z.string()));

/** Not copied, which would lose a member `__proto__`. */
const anyObject = z.custom<{ [key: string]: Json }>(
  (value) => isMap(value) && !isDeeperThan(maxDepth, value),
  `expected an object, nested ${maxDepth} levels at most`,
);
const object = optional(anyObject);
const objects = optional(z.array(anyObject));

const secret = optional(z.string().transform((value) => new Sensitive(value)));

/** A set by id. Boruta shows a role twice if both a user and their backend have it, with its scopes in two orders. */
const setOf = <S extends z.ZodType<{ id?: string | null }>>(schema: S) =>
  optional(
    z.array(schema).transform((rows) => {
      const byId = new Map(rows.toReversed().map((row) => [row.id, row]));
      return rows.filter((row) => row.id == null || byId.get(row.id) === row);
    }),
  );

const namedScopes = setOf(z.object({ id: text, name: text, public: flag }));
const roles = setOf(z.object({ id: text, name: text, scopes: namedScopes }));

/** An object of an undocumented resource: kinds pick the fields that they know. */
const resource = anyObject
  .refine(
    ({ id }) => id == null || (typeof id === 'string' && isPathParameter(id)),
    'an id that no path can carry',
  )
  .transform((row): Fields => mapValues(row, concealSecrets));

/** A member of an answer, with all secrets in it wrapped. */
function concealSecrets(member: Json, name = ''): Value {
  if (member !== null && isSecretMember(name)) return new Sensitive(member);
  if (Array.isArray(member)) return member.map((one) => concealSecrets(one));
  return isMap(member) ? mapValues(member as { [key: string]: Json }, concealSecrets) : member;
}

const organization = z.object({ id: identifier, name: text, label: text });
const listedScope = z.object({ id: text, name: text, label: text, public: flag });
const listedRole = z.object({ id: text, name: text, scopes: namedScopes });

const backend = z.object({
  id: text,
  name: text,
  type: text,
  is_default: flag,
  create_default_organization: flag,
  roles,
  metadata_fields: objects,
  federated_servers: objects,
  verifiable_credentials: objects,
  verifiable_presentations: objects,
  password_hashing_alg: text,
  password_hashing_opts: object,
  ldap_pool_size: int,
  ldap_host: text,
  ldap_user_rdn_attribute: text,
  ldap_base_dn: text,
  ldap_ou: text,
  ldap_master_dn: text,
  ldap_master_password: secret,
  smtp_from: text,
  smtp_relay: text,
  smtp_username: text,
  smtp_password: secret,
  smtp_ssl: flag,
  // Boruta's is a word: always, never or if_available.
  smtp_tls: optional(z.union([z.boolean(), z.string()])),
  smtp_port: int,
  features: texts,
} satisfies { readonly [field in SecretField]: typeof secret } & { readonly [field: string]: z.ZodType });

const user = z.object({
  id: identifier,
  uid: text,
  username: text,
  totp_registered_at: text,
  metadata: object,
  federated_metadata: object,
  blocked: flag,
  group: text,
  authorized_scopes: setOf(z.object({ id: text, name: text, label: text, public: flag })),
  organizations: optional(z.array(z.object({ id: text, name: text, label: text, roles }))),
  backend: optional(backend),
  // Undocumented. A server that shows roles resets them unless they are sent back.
  roles,
});

const template = z.object({ id: text, txt_content: text, html_content: text, type: text, backend_id: text });

const keyPair = z.object({ id: identifier, public_key: text, is_default: flag });

/** The fields of a client that a regeneration needs, without its secret and keys. */
const client = z.object({ id: identifier, name: text, did: text });

/** All fields of a client without its keys. */
const wholeClient = client.extend({
  secret,
  public_client_id: text,
  check_public_client_id: flag,
  confidential: flag,
  redirect_uris: texts,
  authorized_scopes: namedScopes,
  authorize_scope: flag,
  supported_grant_types: texts,
  access_token_ttl: int,
  id_token_ttl: int,
  authorization_code_ttl: int,
  authorization_request_ttl: int,
  refresh_token_ttl: int,
  pkce: flag,
  enforce_dpop: flag,
  enforce_tx_code: flag,
  public_refresh_token: flag,
  public_revoke: flag,
  key_pair_type: object,
  id_token_signature_alg: text,
  userinfo_signed_response_alg: text,
  token_endpoint_auth_methods: texts,
  token_endpoint_jwt_auth_alg: text,
  jwt_public_key: text,
  response_mode: text,
  trusted_authorities: text,
  trusted_hosts: texts,
  identity_provider: optional(z.object({ id: text, name: text })),
});

/** A parser that refuses an answer about an object with other ids than expected. */
export function requireObject<T>(
  expected: { readonly [member: string]: string },
  parse: Parser<T>,
): Parser<T> {
  return (document) => {
    const parsed = parse(document);
    if ('wrong' in parsed) return parsed;
    const { value }: { value: unknown } = parsed;
    if (!isMap(value)) return parsed;
    const mismatch = Object.entries(expected).find(([member, wanted]) => {
      const got = Object.hasOwn(value, member) ? value[member] : undefined;
      return typeof got === 'string' && !sameIdentifier(got, wanted);
    });
    return mismatch === undefined
      ? parsed
      : { wrong: `its ${mismatch[0]} is another one`, reason: 'other-object' };
  };
}

const count = optional(integer.pipe(z.int32().min(0)));
const counts = { page_number: count, page_size: count, total_pages: count, total_entries: count };

export type Organization = z.infer<typeof organization>;
export type Template = z.infer<typeof template>;

/** Answers about each resource. A field that is absent is unknown. */
export const answers = {
  organization: dataOf(organization),
  user: dataOf(user),
  template: dataOf(template),
  keyPair: dataOf(keyPair),
  keyPairs: dataOf(z.array(keyPair)),
  client: dataOf(client),
  wholeClient: dataOf(wholeClient),
  object: dataOf(resource),
} satisfies { [resource: string]: Parser<Fields> | Parser<Fields[]> };

/** One page of a list; omitted and null counts are absent. */
export interface Page<T> {
  /** Rows may have no id. */
  readonly rows: readonly T[];
  readonly pageSize?: number;
  readonly totalPages?: number;
  readonly totalEntries?: number;
}

/** Pages of lists; a list without pages is one page. */
export const pages = {
  organization: pageOf(organization),
  scope: pageOf(listedScope),
  role: pageOf(listedRole),
  user: pageOf(user),
  keyPair: pageOf(keyPair),
  client: pageOf(wholeClient),
  /** Clients with the key that they hold. */
  keyHolder: pageOf(z.object({ id: text, name: text, public_key: text })),
  object: pageOf(resource),
} satisfies { [resource: string]: Parser<Page<Fields>> };

function pageOf<T>(row: z.ZodType<T>): Parser<Page<T>> {
  const schema = z.object({ data: z.array(row), ...counts });
  return (document) => {
    const page = parse(schema, document);
    if ('wrong' in page) return page;
    const { data, page_size, total_pages, total_entries } = page.value;
    return {
      value: {
        rows: data,
        ...(page_size == null ? {} : { pageSize: page_size }),
        ...(total_pages == null ? {} : { totalPages: total_pages }),
        ...(total_entries == null ? {} : { totalEntries: total_entries }),
      },
    };
  };
}

function dataOf<T>(schema: z.ZodType<T>): Parser<T> {
  const whole = z.object({ data: schema });
  return (document) => {
    const parsed = parse(whole, document);
    return 'wrong' in parsed ? parsed : { value: parsed.value.data };
  };
}

function parse<T>(schema: z.ZodType<T>, document: unknown): Parsed<T> {
  const result = schema.safeParse(document);
  if (result.success) return { value: result.data };
  const shownIssues = result.error.issues.slice(0, 3).map(({ path, message }) => {
    const place = path.length === 0 ? 'the answer' : path.map(String).join('.');
    return `${place}: ${message.replace(/^Invalid input: /, '').replace('ExactNumber', 'number')}`;
  });
  const more = result.error.issues.length - shownIssues.length;
  return { wrong: `${shownIssues.join('; ')}${more > 0 ? `; and ${more} more` : ''}` };
}

function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeperThan(levels - 1, member));
}

/** Reads the JSON of a body. Never throws; `wrong` is a code. */
export function readJson(body: Buffer): Parsed<unknown> {
  let text: string;
  try {
    // Invalid bytes must not be replaced: the text may be sent back.
    text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    return { wrong: 'not-utf-8' };
  }
  try {
    return { value: parseJson(text) };
  } catch {
    return { wrong: 'not-json' };
  }
}

/** All secret texts in a document. Iterative, since it may be nested deeply. */
export function secretTextsIn(document: unknown): string[] {
  const secrets: string[] = [];
  const open: unknown[] = [document];
  while (open.length > 0) {
    const next = open.pop();
    if (Array.isArray(next)) for (const item of next) open.push(item);
    else if (isMap(next)) {
      for (const [name, member] of Object.entries(next)) {
        if (typeof member === 'string') {
          if (isSecretMember(name)) secrets.push(member);
        } else open.push(member);
      }
    }
  }
  return secrets;
}
