import type { Scope } from './options.js';

/** The tokens of the server. */
export interface Credentials {
  tokens: ReadonlyMap<string, readonly Scope[]>;
  expired: ReadonlySet<string>;
  /** The user that a token belongs to. */
  own: { token: string; user: string } | undefined;
}

/** The caller of a request: a known token, or why there is none. */
export type Caller =
  | { kind: 'token'; token: string; scopes: readonly Scope[] }
  | { kind: 'missing' }
  | { kind: 'invalid' | 'expired'; token: string };

/** Finds the caller of an `Authorization` header whose scheme word matches `scheme`. */
export function identify(header: string | undefined, scheme: RegExp, credentials: Credentials): Caller {
  const [, word, token] = /^(\S+) (\S+)$/.exec(header ?? '') ?? [];
  if (word === undefined || token === undefined || !scheme.test(word)) return { kind: 'missing' };
  if (credentials.expired.has(token)) return { kind: 'expired', token };
  const scopes = credentials.tokens.get(token);
  return scopes === undefined ? { kind: 'invalid', token } : { kind: 'token', token, scopes };
}
