import type { ProblemCode } from '../base/problem-codes.js';
import { type ServerFailure as Failure, faultOf, ServerFailure } from './failures.js';
import { operations, type Scope } from './operations.js';
import type { Profile, ProfileName } from './profiles.js';
import type { Reader } from './reader.js';
import { anything, nowhere, profileByUnknownPath } from './recognise.js';

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

const tryLater = "look at the server's own log, and at what stands on the way to it, and try again";

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
    return { checks: [...reached, failedBy('credentials', organizations.failure, hint)], fits: null };
  }
  const template = await outcomeOf(() => reader.showTemplate(nobody, 'tx_code'));
  const found = await findProfile(reader);
  const { keyPairs, fits } = found;
  const scopes: Check[] = [
    scopeCheck(operations.listOrganizations.scope, organizations.failure, needed),
    scopeCheck(operations.showTemplate.scope, template.failure, needed),
    keyPairs === undefined
      ? warn(
          `scope ${operations.updateKeyPair.scope}`,
          'no GET of this server tells whether the credentials have it',
          'look at what the token was made for; where it lacks this scope, an apply fails and names it',
        )
      : scopeCheck(operations.updateKeyPair.scope, keyPairs.failure, needed),
  ];
  return {
    checks: [...reached, ok('credentials', 'accepted'), ...scopes, profileCheck(profile, isWritten, found)],
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
  return fail(name, failure.message, hint, codeOf(failure));
}

/** The code that the same failure has where it ends a command. */
function codeOf({ kind }: Failure): ProblemCode {
  return `server-${kind}`;
}

function isAboutTls(reason: string): boolean {
  const fault = faultOf(reason);
  return fault === 'certificate' || fault === 'tls';
}

function scopeCheck(scope: Scope, failure: Failure | null, needed: readonly Scope[]): Check {
  const name = `scope ${scope}`;
  // Whatever else is wrong with the question, the credentials were let through to it.
  if (failure === null || failure.kind === 'refused' || failure.kind === 'not-found')
    return ok(name, 'granted');
  if (failure.kind !== 'forbidden') return warn(name, failure.message, tryLater);
  const cure = 'use credentials with this scope';
  return needed.includes(scope)
    ? fail(name, `${failure.message}; the manifests need it`, cure, codeOf(failure))
    : warn(name, `${failure.message}; the manifests don't`, `where that changes, ${cure}`);
}

/** What tells which profile fits. */
interface Found {
  /** How the list of key pairs was answered, which only some servers have; undefined where this one hasn't. */
  readonly keyPairs: ReadOutcome | undefined;
  readonly fits: ProfileName | null;
  /** Whether the server answers well to a path that nobody has: whatever else it answers tells nothing then. */
  readonly answersAll: boolean;
}

/** Which profile fits, by how the server answers to a path that nobody has. */
async function findProfile(reader: Reader): Promise<Found> {
  const scope = operations.updateKeyPair.scope;
  const { failure, missing } = await outcomeOf(() => reader.showExtra(nowhere(scope), {}, anything));
  const answersAll = failure === null && !missing;
  const profile = profileByUnknownPath(failure?.status ?? null);
  if (profile === undefined) return { keyPairs: undefined, fits: missing ? 'documented' : null, answersAll };
  const read = { title: 'list key pairs', path: '/api/key-pairs', scope };
  const keyPairs = await outcomeOf(() => reader.showExtra(read, {}, anything));
  return { keyPairs, fits: profile.name, answersAll };
}

function profileCheck({ name }: Profile, isWritten: boolean, { fits, answersAll }: Found): Check {
  if (fits === name) return ok('profile', `${name} fits this server`);
  if (fits === null) {
    const bySelf = isWritten
      ? `see that "profile: ${name}" under server is what the server is`
      : 'set "profile:" under server by what the server is: boruta for Boruta, documented for any other';
    return warn(
      'profile',
      `whether ${name} fits could not be found out${answersAll ? ': the server answers well to a path that nobody has, so its answers tell nothing' : ''}`,
      answersAll
        ? `check base_url: something else than this API may answer there; if it is right, ${bySelf}`
        : bySelf,
    );
  }
  return fail(
    'profile',
    `${isWritten ? `${name} is configured` : `no profile is configured, so ${name} is taken`}, and the server answers as those of the profile ${fits} do`,
    `set "profile: ${fits}" under server`,
  );
}

/** One check of `doctor`. */
export interface Check {
  /** `address`, `tls`, `credentials`, `scope clients:manage:all`, `profile` and the like. */
  readonly name: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly message: string;
  readonly hint: string | null;
  /** The stable code of its problem, if any. */
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
