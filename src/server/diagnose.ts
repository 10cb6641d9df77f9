import type { ProblemCode } from '../base/problem-codes.js';
import { type ServerFailure as Failure, faultOf, ServerFailure } from './failures.js';
import { type BorutaScope, operations, type Scope } from './operations.js';
import type { Profile, ProfileName } from './profiles.js';
import type { Reader } from './reader.js';
import { parseAnything, profileByUnknownPath, unknownPathRead } from './recognise.js';

export interface Diagnosis {
  readonly checks: readonly Check[];
  /** The profile of the server; null if unknown. */
  readonly matchingProfile: ProfileName | null;
}

export interface DiagnoseOptions {
  readonly reader: Reader;
  readonly baseUrl: string;
  readonly profile: Profile;
  /** Whether the configuration names the profile. */
  readonly isConfigured: boolean;
  /** The scopes that the manifests need; a lack of others is only a warning. */
  readonly needed: readonly Scope[];
}

const tryLater = "check the server's log, and proxies and gateways in front of it, and try again";

/** The id of a backend that doesn't exist: reading its template shows whether the credentials have the scope. */
const missingId = '00000000-0000-0000-0000-000000000000';

/** For each scope that only Boruta has, a path whose GET needs it. */
const probes: { readonly [scope in BorutaScope]: string } = {
  'scopes:manage:all': `/api/roles/${missingId}`,
  'configuration:manage:all': '/api/configuration/error-templates/500',
};

/** Checks a server and the credentials, with GETs only. */
export async function diagnose(options: DiagnoseOptions): Promise<Diagnosis> {
  const { reader, baseUrl, profile, isConfigured, needed } = options;
  const organizations = await readOutcome(() => reader.listOrganizations(1));
  const reachability = reachChecks(baseUrl, organizations.failure);
  if (reachability.some(({ status }) => status === 'fail'))
    return { checks: reachability, matchingProfile: null };
  if (organizations.failure?.kind === 'unauthorized') {
    const hint = "check that the token is correct and hasn't expired";
    return {
      checks: [...reachability, failedBy('credentials', organizations.failure, hint)],
      matchingProfile: null,
    };
  }
  const template = await readOutcome(() => reader.showTemplate(missingId, 'tx_code'));
  const finding = await findProfile(reader);
  const { keyPairs, matchingProfile } = finding;
  const scopes: Check[] = [
    scopeCheck(operations.listOrganizations.scope, organizations.failure, needed),
    scopeCheck(operations.showTemplate.scope, template.failure, needed),
    keyPairs === undefined
      ? warn(
          `scope ${operations.updateKeyPair.scope}`,
          'no GET of this server shows whether the credentials have it',
          'check the scopes of the token; without this one, an apply fails and names it',
        )
      : scopeCheck(operations.updateKeyPair.scope, keyPairs.failure, needed),
  ];
  for (const scope of Object.keys(probes) as BorutaScope[]) {
    if (keyPairs === undefined || !needed.includes(scope)) continue;
    const path = probes[scope];
    const { failure } = await readOutcome(() =>
      reader.showExtra({ title: 'probe', path, scope }, {}, parseAnything),
    );
    scopes.push(scopeCheck(scope, failure, needed));
  }
  return {
    checks: [
      ...reachability,
      ok('credentials', 'accepted'),
      ...scopes,
      profileCheck(profile, isConfigured, finding),
    ],
    matchingProfile,
  };
}

interface ReadOutcome {
  /** Null for a 2xx or 404. */
  readonly failure: Failure | null;
  /** Whether it was a 404. */
  readonly missing: boolean;
}

async function readOutcome(read: () => Promise<unknown>): Promise<ReadOutcome> {
  try {
    return { failure: null, missing: (await read()) === null };
  } catch (failure) {
    if (failure instanceof ServerFailure) return { failure, missing: false };
    throw failure;
  }
}

function reachChecks(baseUrl: string, failure: Failure | null): Check[] {
  const { protocol, origin } = new URL(baseUrl);
  const isSecure = protocol === 'https:';
  const tls = ok('tls', isSecure ? 'the certificate is accepted' : 'not used: the address is plain http');
  const fault = faultOf(failure?.reason ?? '');
  if (failure !== null && (fault === 'certificate' || fault === 'tls')) {
    return [
      ok('address', `${origin} is reached`),
      failedBy('tls', failure, 'see server.tls of the configuration, and NODE_EXTRA_CA_CERTS'),
    ];
  }
  switch (failure?.kind) {
    case 'unreachable':
    case 'lost':
    case 'redirect':
    case 'answer':
    case 'not-found':
      return [failedBy('address', failure, 'check base_url: paths such as /api/organizations follow it')];
    case 'server-error':
      return [ok('address', `${origin} answers`), tls, failedBy('server', failure, tryLater)];
    default:
      return [ok('address', `${origin} answers`), tls];
  }
}

function failedBy(name: string, failure: Failure, hint: string): Check {
  return fail(name, failure.message, hint, `server-${failure.kind}`);
}

function scopeCheck(scope: Scope, failure: Failure | null, needed: readonly Scope[]): Check {
  const name = `scope ${scope}`;
  // These answers come after the check of the credentials.
  if (failure === null || failure.kind === 'refused' || failure.kind === 'not-found')
    return ok(name, 'granted');
  if (failure.kind !== 'forbidden') return warn(name, failure.message, tryLater);
  const fix = 'use credentials with this scope';
  return needed.includes(scope)
    ? fail(name, `${failure.message}; the manifests need it`, fix, `server-${failure.kind}`)
    : warn(name, `${failure.message}; the manifests don't`, `if that changes, ${fix}`);
}

interface ProfileFinding {
  /** The answer of the list of key pairs; undefined if the server has none. */
  readonly keyPairs: ReadOutcome | undefined;
  readonly matchingProfile: ProfileName | null;
  /** Whether the server answers 2xx for an unknown path, so that its answers prove nothing. */
  readonly answersUnknownPaths: boolean;
}

/** Recognises the profile by the answer for an unknown path. */
async function findProfile(reader: Reader): Promise<ProfileFinding> {
  const scope = operations.updateKeyPair.scope;
  const { failure, missing } = await readOutcome(() =>
    reader.showExtra(unknownPathRead(scope), {}, parseAnything),
  );
  const answersUnknownPaths = failure === null && !missing;
  const profile = profileByUnknownPath(failure?.status ?? null);
  if (profile === undefined)
    return { keyPairs: undefined, matchingProfile: missing ? 'documented' : null, answersUnknownPaths };
  const read = { title: 'list key pairs', path: '/api/key-pairs', scope };
  const keyPairs = await readOutcome(() => reader.showExtra(read, {}, parseAnything));
  return { keyPairs, matchingProfile: profile.name, answersUnknownPaths };
}

function profileCheck(
  { name }: Profile,
  isWritten: boolean,
  { matchingProfile, answersUnknownPaths }: ProfileFinding,
): Check {
  if (matchingProfile === name) return ok('profile', `${name} fits this server`);
  if (matchingProfile === null) {
    const manualHint = isWritten
      ? `check that "profile: ${name}" under server is correct`
      : 'set "profile:" under server: boruta for Boruta, documented for any other';
    return warn(
      'profile',
      `it is unknown whether ${name} fits${answersUnknownPaths ? ': the server answers 2xx for an unknown path' : ''}`,
      answersUnknownPaths
        ? `check base_url: another service may answer there; if it is correct, ${manualHint}`
        : manualHint,
    );
  }
  return fail(
    'profile',
    `${isWritten ? `${name} is configured` : `no profile is configured, so ${name} is used`}, and the server answers like the profile ${matchingProfile}`,
    `set "profile: ${matchingProfile}" under server`,
  );
}

/** One check of `doctor`. */
export interface Check {
  /** `address`, `tls`, `credentials`, `scope clients:manage:all`, `profile` and the like. */
  readonly name: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly message: string;
  readonly hint: string | null;
  readonly code?: ProblemCode;
}

export function ok(name: string, message: string): Check {
  return { name, status: 'ok', message, hint: null };
}

export function warn(name: string, message: string, hint: string): Check {
  return { name, status: 'warn', message, hint };
}

export function fail(name: string, message: string, hint: string, code?: ProblemCode): Check {
  return { name, status: 'fail', message, hint, ...(code === undefined ? {} : { code }) };
}
