import { type Check, fail, ok, warn } from '../base/checks.js';
import { type ServerFailure as Failure, isCertificateCode, ServerFailure } from './failures.js';
import { operations, type Scope } from './operations.js';
import { anything, nowhere, profileByUnknownPath } from './probe.js';
import { type Profile, type ProfileName, profiles } from './profiles.js';
import type { Reader } from './reader.js';

/** What was found out about a server, in the order in which it was. */
export interface Diagnosis {
  readonly checks: readonly Check[];
  /** The profile that fits; null where that could not be found out. */
  readonly fits: ProfileName | null;
}

export interface Patient {
  readonly reader: Reader;
  /** An http or https address. */
  readonly baseUrl: string;
  readonly profile: Profile;
  /** Whether the configuration names the profile. */
  readonly isWritten: boolean;
  /** The scopes that the manifests need; a lack of others is only worth a warning. */
  readonly needed: readonly Scope[];
}

/** A backend that no server has: asking for its template tells whether one may ask. */
const nobody = '00000000-0000-0000-0000-000000000000';

/** Finds out with GETs alone what a server is and what it lets these credentials do. */
export async function diagnose(patient: Patient): Promise<Diagnosis> {
  const { reader, baseUrl, profile, isWritten, needed } = patient;
  const organizations = await outcomeOf(() => reader.listOrganizations(1));
  const reached = reachChecks(baseUrl, organizations.failure);
  if (reached.some(({ status }) => status === 'fail')) return { checks: reached, fits: null };
  if (organizations.failure?.kind === 'unauthorized') {
    const hint = 'check the token and its end of life';
    return { checks: [...reached, fail('credentials', organizations.failure.message, hint)], fits: null };
  }
  const template = await outcomeOf(() => reader.showTemplate(nobody, 'tx_code'));
  const { keyPairs, fits } = await findProfile(reader);
  const scopes: Check[] = [
    scopeCheck(operations.listOrganizations.scope, organizations.failure, needed),
    scopeCheck(operations.showTemplate.scope, template.failure, needed),
    keyPairs === undefined
      ? warn(
          `scope ${operations.updateKeyPair.scope}`,
          'no GET of this server tells whether the credentials have it',
          null,
        )
      : scopeCheck(operations.updateKeyPair.scope, keyPairs.failure, needed),
  ];
  return {
    checks: [...reached, ok('credentials', 'accepted'), ...scopes, profileCheck(profile, isWritten, fits)],
    fits,
  };
}

interface ReadOutcome {
  /** Null where the server answered well, or that there is nothing. */
  readonly failure: Failure | null;
  /** Whether it answered that there is nothing. */
  readonly missing: boolean;
}

async function outcomeOf(read: () => Promise<unknown>): Promise<ReadOutcome> {
  try {
    return { failure: null, missing: (await read()) === null };
  } catch (failure) {
    if (failure instanceof ServerFailure) return { failure, missing: false };
    throw failure;
  }
}

function reachChecks(baseUrl: string, failure: Failure | null): Check[] {
  const { protocol, origin } = new URL(baseUrl);
  const secure = protocol === 'https:';
  const tls = secure
    ? ok('tls', 'the certificate is accepted')
    : ok('tls', 'not used: the address is plain http');
  const certificate = failure !== null && isAboutTls(failure.reason ?? '');
  if (certificate) {
    return [
      ok('address', `${origin} is reached`),
      fail('tls', failure.message, 'see server.tls of the configuration, and NODE_EXTRA_CA_CERTS'),
    ];
  }
  switch (failure?.kind) {
    case 'unreachable':
    case 'lost':
    case 'redirect':
    case 'answer':
    case 'not-found':
      return [fail('address', failure.message, 'check base_url: paths such as /api/organizations follow it')];
    case 'server-error':
      return [ok('address', `${origin} answers`), tls, fail('server', failure.message, null)];
    default:
      return [ok('address', `${origin} answers`), tls];
  }
}

function isAboutTls(reason: string): boolean {
  return isCertificateCode(reason) || reason === 'EPROTO' || reason.startsWith('ERR_SSL_');
}

function scopeCheck(scope: Scope, failure: Failure | null, needed: readonly Scope[]): Check {
  const name = `scope ${scope}`;
  // Whatever else is wrong with the question, the credentials were let through to it.
  if (failure === null || failure.kind === 'refused' || failure.kind === 'not-found')
    return ok(name, 'granted');
  if (failure.kind !== 'forbidden') return warn(name, failure.message, null);
  return needed.includes(scope)
    ? fail(name, `${failure.message}; the manifests need it`, 'use credentials with this scope')
    : warn(name, `${failure.message}; the manifests don't`, null);
}

/** Which profile's reads the server has; without a clear answer, how it answers to a path that nobody has. */
async function findProfile(
  reader: Reader,
): Promise<{ keyPairs: ReadOutcome | undefined; fits: ProfileName | null }> {
  for (const { name, signs } of Object.values(profiles)) {
    if (signs === null) continue;
    const { read } = signs;
    const keyPairs = await outcomeOf(() => reader.showExtra(read, {}, anything));
    if (keyPairs.failure === null && !keyPairs.missing) return { keyPairs, fits: name };
    const { failure, missing } = await outcomeOf(() => reader.showExtra(nowhere(read.scope), {}, anything));
    if (profileByUnknownPath(failure?.status ?? null)?.name === name) return { keyPairs, fits: name };
    // Neither the read nor the sign: what is left is the document.
    if (keyPairs.missing || missing) return { keyPairs: undefined, fits: 'documented' };
  }
  return { keyPairs: undefined, fits: null };
}

function profileCheck({ name }: Profile, isWritten: boolean, fits: ProfileName | null): Check {
  if (fits === name) return ok('profile', `${name} fits this server`);
  if (fits === null) {
    return warn('profile', `whether ${name} fits could not be found out`, 'GET /api/key-pairs would tell');
  }
  return fail(
    'profile',
    `${isWritten ? `${name} is configured` : `no profile is configured, so ${name} is taken`}, and the server answers as those of the profile ${fits} do`,
    `set "profile: ${fits}" under server`,
  );
}
