import type { Scope } from './options.js';

/** The tokens that the server accepts. */
export interface Credentials {
  tokens: ReadonlyMap<string, readonly Scope[]>;
  expired: ReadonlySet<string>;
  /** A token that belongs to a user. */
  tokenOwner: { token: string; user: string } | undefined;
}

/** The caller of a request: a valid token, or why it is refused. */
export type Caller =
  | { kind: 'token'; token: string; scopes: readonly Scope[] }
  | { kind: 'missing' }
  | { kind: 'invalid' | 'expired'; token: string };

/** Finds the caller by an `Authorization` header, if its scheme matches `scheme`. */
export function authenticate(header: string | undefined, scheme: RegExp, credentials: Credentials): Caller {
  const [, sentScheme, token] = /^(\S+) (\S+)$/.exec(header ?? '') ?? [];
  if (sentScheme === undefined || token === undefined || !scheme.test(sentScheme)) return { kind: 'missing' };
  if (credentials.expired.has(token)) return { kind: 'expired', token };
  const scopes = credentials.tokens.get(token);
  return scopes === undefined ? { kind: 'invalid', token } : { kind: 'token', token, scopes };
}
