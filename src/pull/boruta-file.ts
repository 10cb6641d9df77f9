import * as z from 'zod';
import { plannedId, sameIdentifier } from '../base/identifiers.js';
import { ProblemsError, problemError, refuse } from '../base/problems.js';
import { isMap, type Json } from '../base/values.js';
import { splitWords } from '../base/words.js';
import { holdsCredential } from '../secrets/names.js';
import { type Page, type Parser, pages } from '../server/answers.js';
import type { Reader } from '../server/reader.js';
import { check } from '../yaml/check.js';
import { parseYaml } from '../yaml/parse.js';
import { type FileName, readSource } from '../yaml/source-file.js';
import { isUsableName, type LeftOut } from './new-documents.js';

/** A configuration file of Boruta, read like a server that loaded it. */
export interface BorutaFile {
  readonly reader: Reader;
  /** Entries and members that no manifest can declare, by their place in the file. */
  readonly leftOut: readonly LeftOut[];
  /** The ids of objects that entries refer to and the file doesn't contain. */
  readonly referencedOnly: ReadonlySet<string>;
}

type Entry = { readonly [member: string]: Json };

/** The members that the server accepts in each section; it refuses an entry with any other member. */
const sections = {
  organization: splitWords('id name label'),
  scope: splitWords('id name label public'),
  role: splitWords('id name scopes'),
  backend: splitWords(`
    id name type is_default create_default_organization roles metadata_fields
    password_hashing_alg password_hashing_opts federated_servers
    smtp_from smtp_relay smtp_username smtp_password smtp_ssl smtp_tls smtp_port
    ldap_host ldap_user_rdn_attribute ldap_base_dn ldap_ou ldap_pool_size ldap_master_dn
    ldap_master_password verifiable_credentials verifiable_presentations
  `),
  identity_provider: splitWords(`
    id name backend_id templates choose_session confirmable consentable enforce_totp registrable totpable
    user_editable
  `),
  client: splitWords(`
    id name secret public_client_id check_public_client_id confidential redirect_uris
    authorized_scopes authorize_scope authorized_resources identity_provider supported_grant_types
    pkce enforce_dpop enforce_tx_code public_refresh_token public_revoke response_mode trusted_authorities
    access_token_ttl agent_token_ttl authorization_code_ttl authorization_request_ttl id_token_ttl
    refresh_token_ttl
    token_endpoint_auth_methods token_endpoint_jwt_auth_alg jwt_public_key jwks_uri jwk key_pair_id key_pair_type
    id_token_signature_alg userinfo_signed_response_alg id_token_kid signatures_adapter logo_uri metadata
  `),
  error_template: splitWords('type content'),
};
type Section = keyof typeof sections;

/** The kinds that have a section. */
export const kindsInFile = splitWords(
  'Scope Role Organization Backend IdentityProvider Client PageTemplate ErrorTemplate',
);

/** Secret members, which are not written to manifests. */
const secretMembers: { readonly [section in Section]?: readonly string[] } = {
  backend: ['smtp_password', 'ldap_master_password'],
  client: ['secret'],
};
/** Members of a client that no answer contains, so a plan would always send them. */
const neverShown = splitWords(`
  agent_token_ttl authorized_resources metadata logo_uri jwks_uri jwk key_pair_id id_token_kid signatures_adapter
`);

/** Sections that have no kind. */
const sectionsWithoutKind = ['cluster_ca', 'gateway', 'microgateway'];
/** Settings, which aren't sections. */
const settings = ['node_name', 'aliases'];

const fileSchema = z.looseObject({
  version: z.literal('1.0'),
  configuration: z.looseObject(
    Object.fromEntries(
      Object.keys(sections).map((section) => [
        section,
        z.array(z.looseObject({ id: z.string().optional(), name: z.string().optional() })).optional(),
      ]),
    ),
  ),
});

/** Reads a configuration file of Boruta. Throws a ProblemsError if the file isn't one. */
export function readBorutaFile(path: string, name: FileName): BorutaFile {
  const file = readSource(path, name);
  if ('code' in file) throw new ProblemsError([file]);
  const { documents, problems } = parseYaml(file);
  refuse(problems.filter(({ severity }) => severity === 'error'));
  const [document, ...more] = documents;
  if (document === undefined || more.length > 0)
    throw problemError('wrong-type', `${name.file} is not one YAML document`);
  const checked = check({
    schema: fileSchema,
    root: document.root,
    file,
    variables: null,
    name: 'configuration file',
  });
  refuse(checked.problems);
  const { configuration = {} } = (checked.data ?? {}) as { configuration?: { [section: string]: Json } };
  const found = new Entries(configuration);
  return { reader: readerOf(found, name.file), leftOut: found.leftOut, referencedOnly: found.referencedOnly };
}

/** The entries of a file; several entries for one object are merged. */
class Entries {
  readonly #configuration: { readonly [section: string]: Json };
  readonly leftOut: LeftOut[] = [];
  readonly #rows: { readonly [section in Section]?: readonly Entry[] };
  /** The ids of objects that only the server has. */
  readonly referencedOnly = new Set<string>();

  constructor(configuration: { readonly [section: string]: Json }) {
    this.#configuration = configuration;
    const scopes = this.#read('scope');
    const clients = this.#read('client');
    // The server creates a scope for an unknown name.
    const named = clients.flatMap((client) => elements(client.authorized_scopes).map(({ name }) => name));
    for (const name of new Set(named))
      if (typeof name === 'string' && !scopes.some((scope) => scope.name === name))
        scopes.push({ id: plannedId(`Scope/${name}`), name });
    const roles = this.#read('role').map((role) => this.#withReferences(role, 'scopes', scopes));
    const backends = this.#read('backend').map((backend) => ({
      ...this.#withReferences(backend, 'roles', roles),
      ...(typeof backend.ldap_pool_size === 'string'
        ? { ldap_pool_size: Number(backend.ldap_pool_size) }
        : {}),
    }));
    const providers = this.#read('identity_provider').map(({ backend_id: id, ...provider }) => ({
      ...provider,
      ...(id === undefined ? {} : { backend_id: id, backend: this.#resolveReference({ id }, backends) }),
    }));
    const whole = clients.map(({ identity_provider: provider, ...client }) => ({
      ...this.#withReferences(client, 'authorized_scopes', scopes),
      ...(isMap(provider) ? { identity_provider: this.#resolveReference(provider, providers) } : {}),
    }));
    this.#rows = {
      scope: scopes,
      role: roles,
      backend: backends,
      identity_provider: providers,
      client: whole,
      organization: this.#read('organization'),
    };
    for (const address of Object.keys(configuration)) {
      if (Object.hasOwn(sections, address) || settings.includes(address)) continue;
      const reason = sectionsWithoutKind.includes(address)
        ? 'idops has no kind for it'
        : 'the server ignores it';
      this.leftOut.push({ address, reason });
    }
  }

  rows(section: Section): readonly Entry[] {
    return this.#rows[section] ?? [];
  }

  /** The content of a page of an identity provider, or of an error page; null if the file has none. */
  page(type: string, provider?: string): Json {
    const templates =
      provider === undefined
        ? this.#entries('error_template')
        : this.rows('identity_provider').flatMap(({ id, templates }) =>
            sameIdentifier(String(id), provider) ? elements(templates) : [],
          );
    return templates.findLast((one) => one.type === type)?.content ?? null;
  }

  #entries(section: Section): readonly Entry[] {
    return elements(this.#configuration[section]);
  }

  /** The entries of a section; a later entry for the same object updates the earlier one. */
  #read(section: Section): Entry[] {
    const rows: Entry[] = [];
    for (const [at, entry] of this.#entries(section).entries()) {
      const other = Object.keys(entry).filter((member) => !sections[section].includes(member));
      const problem =
        other.length > 0
          ? `the server refuses the member ${other.join(', ')}`
          : identificationProblem(section, entry);
      const address = `${section}[${at}]`;
      if (problem !== undefined) {
        this.leftOut.push({ address, reason: `not written: ${problem}` });
        continue;
      }
      for (const reason of omittedMembers(section, entry)) this.leftOut.push({ address, reason });
      const row = { ...entry, id: entryId(section, entry) };
      const before = rows.findIndex(
        ({ id, name }) => id === row.id || (name !== undefined && name === entry.name),
      );
      if (before < 0) rows.push(row);
      else rows[before] = { ...rows[before], ...entry };
    }
    return rows;
  }

  /** An entry with ids and names in its list of references. */
  #withReferences(entry: Entry, field: string, rows: Entry[]): Entry {
    const { [field]: list } = entry;
    if (list === undefined) return entry;
    return { ...entry, [field]: elements(list).map((one) => this.#resolveReference(one, rows)) };
  }

  /** The id and the name of the object that an element refers to; adds a row if the file doesn't contain it. */
  #resolveReference({ id, name }: Entry, rows: Entry[]): Entry {
    const found = rows.find((row) => (typeof id === 'string' ? row.id === id : row.name === name));
    if (found !== undefined) return { id: found.id ?? null, name: found.name ?? null };
    if (typeof id === 'string') {
      rows.push({ id });
      this.referencedOnly.add(id);
    }
    return { id: id ?? null, name: name ?? null };
  }
}

/** A sentence for each member of an entry that isn't written. */
function omittedMembers(section: Section, entry: Entry): string[] {
  const hidden = [...(secretMembers[section] ?? [])].filter((member) => entry[member] !== undefined);
  if (elements(entry.federated_servers).some((server) => server.client_secret !== undefined))
    hidden.push('client_secret of federated_servers');
  const unshown = section === 'client' ? neverShown.filter((member) => entry[member] !== undefined) : [];
  return [
    ...hidden.map((name) => `${name} is a secret: declare it with a variable`),
    ...unshown.map((name) => `the server never shows ${name}: declare it by hand`),
  ];
}

/** The id of an entry; a placeholder if it has none, since documents then identify it by name. */
function entryId(section: Section, { id, name }: Entry): string {
  // The server ignores the id of a new organization.
  return typeof id === 'string' && section !== 'organization' ? id : plannedId(`${section}/${String(name)}`);
}

/** Why no document can identify an entry; undefined if one can. */
function identificationProblem(section: Section, { id, name }: Entry): string | undefined {
  if (id !== undefined && section !== 'organization') return undefined;
  if (section === 'client') return 'it has no id: add the id that the server shows';
  const isUsable = typeof name === 'string' && isUsableName(name, holdsCredential);
  return isUsable ? undefined : 'it has neither an id nor a name that a document can use';
}

/** The elements of a list that are maps. */
function elements(list: Json | undefined): readonly Entry[] {
  return Array.isArray(list) ? list.filter((one): one is Entry => isMap(one)) : [];
}

const paths: { readonly [path: string]: Section } = {
  '/api/scopes': 'scope',
  '/api/roles': 'role',
  '/api/backends': 'backend',
  '/api/identity-providers': 'identity_provider',
  '/api/clients': 'client',
};

function readerOf(entries: Entries, file: string): Reader {
  const read = <T>(section: string, parse: Parser<T>, data: Json): T => {
    const parsed = parse({ data });
    if ('wrong' in parsed) throw problemError('wrong-type', `${file}: ${section} ${parsed.wrong}`);
    return parsed.value;
  };
  const page = <T>(section: Section, parse: Parser<Page<T>>): Page<T> =>
    read(section, parse, [...entries.rows(section)]);
  return {
    listOrganizations: async () => ({ ...page('organization', pages.organization), totalPages: 1 }),
    showTemplate: async () => null,
    async listExtra({ path }, _number, parse) {
      const { [path]: section } = paths;
      return section === undefined ? null : page(section, parse);
    },
    async showExtra(_read, { identity_provider_id: provider, template_type: type = '' }, parse) {
      const content = entries.page(type, provider);
      return content === null ? null : read('template', parse, { id: plannedId(type), type, content });
    },
  };
}
