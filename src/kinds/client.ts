import { allSettled } from '../base/concurrency.js';
import { error, type Problem } from '../base/problems.js';
import { type Fields, isMap, revealReadable, type Value } from '../base/values.js';
import { answers, pages } from '../server/answers.js';
import type { Profile } from '../server/profiles.js';
import { areNamesUnique, idOf, namedReference } from './by-name.js';
import { Catalog, readRows } from './catalog.js';
import { clientSchema } from './client-schema.js';
import { discoverInList, foundObject, idsOf, missing, observeEach, readOne } from './discovery.js';
import {
  asElements,
  type FieldTypes,
  firstNonBlank,
  membersOf,
  reference,
  secret,
  sendableFields,
  set,
  textOf,
  value,
} from './fields.js';
import { scopesGiven } from './holdings.js';
import type {
  Declared,
  DiscoverContext,
  DiscoveryResult,
  FoundObject,
  Kind,
  PlanInput,
  Regeneration,
  ResolveContext,
  Resolved,
  Update,
} from './kind.js';
import { absentProblems, creationOf, deletionOf, onlyBoruta, unsupportedLifecycle } from './lifecycle.js';
import { listRead } from './references.js';
import { decideRegeneration, presentValue } from './regeneration.js';
import { inList, resolveSets } from './resolve-sets.js';
import { profileProblems, unknownFieldsReason } from './rules.js';
import type { ProfileTraits } from './traits.js';

const traits: ProfileTraits = {
  documented: {},
  boruta: {
    read: { title: 'show a client', path: '/api/clients/:client_id', scope: 'clients:manage:all' },
    emptyIsNull: ['name', 'public_client_id', 'logo_uri', 'jwks_uri', 'jwt_public_key'],
    // If the server refuses the identity provider, it has already written the other fields.
    notAtomic: true,
    // The server protects the client of its own admin panel.
    protectsObjects: 'one',
    limits: {
      ids: { authorized_scopes: null },
      characters: { name: 255, public_client_id: 255, secret: 255, logo_uri: 255, jwks_uri: 255 },
      nonBlank: {
        secret: 'leave it out to keep the present one; the server would leave the client without one',
      },
    },
    unsafe: true,
  },
};

const plainFields = [
  ...['name', 'redirect_uris', 'supported_grant_types', 'authorize_scope'],
  ...['access_token_ttl', 'id_token_ttl', 'refresh_token_ttl'],
  ...['authorization_code_ttl', 'authorization_request_ttl'],
  ...['confidential', 'pkce', 'enforce_dpop', 'enforce_tx_code', 'public_refresh_token', 'public_revoke'],
  ...['public_client_id', 'check_public_client_id'],
  ...['token_endpoint_auth_methods', 'token_endpoint_jwt_auth_alg', 'jwt_public_key'],
  ...['key_pair_type', 'id_token_signature_alg', 'userinfo_signed_response_alg'],
  ...['response_mode', 'trusted_authorities', 'trusted_hosts'],
  // No answer shows these, so they are recorded as sent.
  ...['agent_token_ttl', 'authorized_resources', 'jwks_uri', 'logo_uri', 'metadata'],
];

const fields: FieldTypes = {
  ...Object.fromEntries(plainFields.map((field) => [field, value])),
  secret,
  identity_provider: reference,
  key_pair_id: value,
  authorized_scopes: set(),
};

/** The lists in which references are looked up, by field. */
const refers = {
  authorized_scopes: 'scopes',
  identity_provider: 'identityProviders',
  key_pair_id: 'keyPairs',
} as const;

/** The regeneration of a client's DID. */
export const didRegeneration: Regeneration = {
  counter: 'did_generation',
  owner: 'client',
  field: 'did',
  name: 'name',
  noun: 'DID',
  movedCode: 'did-moved',
  request: (id) => ({ operation: 'regenerateDid', params: { client_id: id } }),
  destruction: (present, shown) => `regenerates the DID${presentValue({ field: 'did' }, present, shown)}`,
  unchangedMessage: (did) =>
    `the DID is the same as before (${did}): the server derives it from the client's key, which did not change`,
};

export const client: Kind = {
  name: 'Client',
  noun: 'client',
  schema: clientSchema,
  identity: ['id'],
  fields,
  preconditions: ['did'],
  scope: 'clients:manage:all',
  traits,
  check: (declared, profile) => [
    ...declared.flatMap((one) => [
      ...undocumentedFields(one, profile),
      ...absentProblems(one, 'client'),
      ...unsupportedLifecycle(one, 'client', profile),
      ...unsupportedAlgorithms(one),
    ]),
    ...profileProblems(declared, profile, traits),
  ],
  addressPart: ({ id }) => id ?? '',
  displayName: ({ name }) => firstNonBlank(name),
  readable: ({ name }) => traits[name].read !== undefined,
  async observe(objects, context) {
    const { read } = traits[context.profile.name];
    if (read === undefined) return new Map();
    return await observeEach(objects, async (identity) => {
      const shown = await readOne(context, read, { client_id: identity.id ?? '' }, answers.wholeClient);
      return shown === null
        ? missing(identity, 'client', context.profile)
        : { exists: true, identity, fields: shownClient(shown) };
    });
  },
  referenceLists: ({ fields: wanted }) =>
    Object.entries(refers).flatMap(([field, list]) => (wanted[field] === undefined ? [] : [list])),
  resolve,
  decide: (input) => decideRegeneration(input, didRegeneration),
  update,
  creation: creationOf('createClient', {
    acceptsId: true,
    required: ['identity_provider'],
    // An update would give the client a new key, even if it sends the present key pair.
    createOnly: ['key_pair_id'],
    body: sent,
    refusal,
  }),
  deletion: deletionOf('deleteClient', 'client_id', 'deletes the client, with its secret and its keys'),
  regeneration: didRegeneration,
  grants: (given, references) => scopesGiven(given, 'authorized_scopes', references),
  discovery: {
    options: { client: 'id' },
    find,
    // The secret is never in a file.
    fields: [...plainFields, 'identity_provider', 'authorized_scopes'],
  },
};

/** Problems for fields that the documented API doesn't have. */
function undocumentedFields(declared: Declared, { name }: Profile): Problem[] {
  if (name === 'boruta') return [];
  return Object.keys(declared.fields).map((field) => {
    const message = `the documented API has no "${field}" of a client; it only regenerates the DID`;
    return onlyBoruta(message, declared.places.of(field));
  });
}

/** Problems for signature algorithms that the declared key type doesn't support. */
function unsupportedAlgorithms(declared: Declared): Problem[] {
  const { fields: given } = declared;
  const { key_pair_type: key } = given;
  if (!isMap(key)) return [];
  return unsupportedFields(given, key).map(({ field, message, hint }) =>
    error('profile-limit', message, [declared.places.of(field)], hint),
  );
}

/** The given algorithms that a key type doesn't support. */
function unsupportedFields(given: Fields, key: Fields) {
  const type = textOf(key.type);
  const [wrong, right] = type === 'ec' ? ['RS', 'ES'] : ['ES', 'RS'];
  return ['id_token_signature_alg', 'userinfo_signed_response_alg'].flatMap((field) => {
    const { [field]: algorithm } = given;
    if (!textOf(algorithm).startsWith(wrong)) return [];
    const message = `"${field}" is ${String(algorithm)}, which a key of the type ${String(key.type)} can't sign with`;
    return [{ field, message, hint: `use HS, or ${right} algorithms` }];
  });
}

/** Why a key can't sign with the given algorithms; undefined if it can. */
function unsupportedAlgorithm(given: Fields, key: Value): string | undefined {
  const [unsupported] = isMap(key) ? unsupportedFields(given, key) : [];
  return unsupported && `${unsupported.message}: ${unsupported.hint}`;
}

/** The fewest bits of a new RSA key. */
const MODULUS = 2048;

/** Why the server would refuse a new client. Its default algorithm is RS512, even for an EC key. */
function refusal(given: Fields): string | undefined {
  const { key_pair_type: key = { type: 'rsa' }, id_token_signature_alg: algorithm } = given;
  const unsupported = unsupportedAlgorithm(given, key);
  if (unsupported !== undefined || !isMap(key)) return unsupported;
  if (Number(revealReadable(key.modulus_size ?? MODULUS)) < MODULUS)
    return `the server takes a modulus_size of ${MODULUS} or more for a new key`;
  return algorithm === undefined && textOf(key.type) === 'ec'
    ? "the server gives a new client the algorithm RS512, which an EC key can't sign with: declare id_token_signature_alg, such as ES256"
    : undefined;
}

/** The fields of an answer. An identity provider without an id becomes null. */
function shownClient({ id: _, ...shown }: Fields): Fields {
  const { identity_provider: provider } = shown;
  return isMap(provider) && provider.id === null ? { ...shown, identity_provider: null } : shown;
}

/** Resolves names to ids, since the server would create a scope for an unknown name. */
function resolve(wanted: Fields, context: ResolveContext): Resolved {
  const { identity_provider: provider, ...rest } = wanted;
  const { identityProviders, keyPairs } = context.references;
  const { key_pair_id: pair } = wanted;
  const isLost = textOf(pair) !== '' && keyPairs?.byId(textOf(pair)) === undefined;
  const lost = isLost && keyPairs != null ? [keyPairs.noSuchId(String(pair))] : [];
  const given =
    provider === undefined || provider === null ? rest : { ...rest, identity_provider: [provider] };
  const lookups = {
    authorized_scopes: inList('authorized_scopes', 'scopes', context),
    identity_provider: inList('identity_provider', 'identityProviders', context),
  };
  const { fields: resolved, reasons, confirmed, ...result } = resolveSets(given, lookups, context);
  const [found] = asElements(resolved.identity_provider);
  const id = typeof found?.id === 'string' ? found.id : undefined;
  const named = id === undefined ? undefined : namedReference(identityProviders, id);
  const references = [resolved.authorized_scopes, resolved.identity_provider].flatMap(membersOf);
  const nameless = asElements(references).filter(({ id }) => typeof id !== 'string');
  const unlisted = nameless.map(({ name }) => `no list of the server has "${String(name)}": declare the id`);
  return {
    ...result,
    reasons: [...(reasons.length > 0 ? reasons : unlisted), ...lost],
    confirmed: areNamesUnique(identityProviders, [named, context.present.identity_provider])
      ? [...confirmed, 'identity_provider']
      : confirmed,
    fields: { ...resolved, ...(named === undefined ? {} : { identity_provider: named }) },
  };
}

function sent(given: Fields): Fields {
  const { authorized_scopes: scopes, identity_provider: provider } = given;
  return {
    ...given,
    ...(scopes === undefined
      ? {}
      : { authorized_scopes: asElements(scopes).map(({ id = null }) => ({ id })) }),
    ...(idOf(provider) === undefined ? {} : { identity_provider: { id: idOf(provider) ?? null } }),
  };
}

/** The longest `access_token_ttl` that an update may send, in seconds. The server applies the limit of another field. */
const MOST_UPDATED = 300;

/** Sends `authorized_scopes` in every update, since the server removes them otherwise. */
function update({ present, desired, changed }: PlanInput): Update {
  const expected = { ...sendableFields(present.fields, ['authorized_scopes']), ...desired };
  const params = { client_id: present.identity.id ?? '' };
  const message =
    'the client keeps its present key until its key pair is regenerated, which idops does not do';
  const { access_token_ttl: lifetime = 0 } = desired;
  const unsupported =
    changed.has('access_token_ttl') && Number(revealReadable(lifetime)) > MOST_UPDATED
      ? `the server takes an access_token_ttl of ${String(lifetime)} seconds for a new client alone, and at most ${MOST_UPDATED} in an update: declare ${MOST_UPDATED} or fewer`
      : unsupportedAlgorithm(sendableFields(desired, [...changed]), present.fields.key_pair_type ?? null);
  return {
    requests: [{ operation: 'updateClient', params, body: sent(expected) }],
    expected,
    ...(changed.has('key_pair_type') ? { warnings: [{ code: 'keeps-key', message }] } : {}),
    reason: unknownFieldsReason('client', ['authorized_scopes'], expected) ?? unsupported,
  };
}

/** Finds clients in the list, or reads each known one if the server offers no list. */
async function find(context: DiscoverContext): Promise<DiscoveryResult> {
  const { filters, profile, reader } = context;
  const all = listRead('clients', profile);
  const rows = all === undefined ? null : await readRows('clients', all, pages.client, reader);
  if (rows !== null) return discoverInList(new Catalog(rows), 'clients', foundClient);
  const { read } = traits[profile.name];
  if (read === undefined) return { found: [], notes: [] };
  const ids = idsOf('Client', 'client', context);
  const shown = await allSettled(
    ids.map(async (id) => {
      const client = await readOne(context, read, { client_id: id }, answers.wholeClient);
      return client === null ? [] : [foundClient({ ...client, id })];
    }),
  );
  const unnamed =
    'the server offers no list of clients, so only those are found that a manifest, the state or --client ID names';
  return { found: shown.flat(), notes: (filters.client ?? []).length > 0 ? [] : [unnamed] };
}

function foundClient(client: Fields): FoundObject {
  // No list or file shows it.
  const { secret: _, ...fields } = shownClient(client);
  return foundObject(client.id, client.name, fields);
}
