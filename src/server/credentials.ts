import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { error, type Place, type Problem, ProblemsError, problemError } from '../base/problems.js';
import { systemErrorText } from '../base/system-errors.js';
import { minSecretLength, type OnSecret } from '../secrets/redactor.js';
import type { Scope } from './operations.js';
import { runTokenCommand, type TokenCommand, type TokenCommandOptions } from './token-command.js';

/** The header with the credentials. */
export interface Credential {
  readonly name: string;
  readonly value: string;
}

export interface Credentials {
  /** The header for a request that requires a scope; called before each attempt. Throws a `ProblemsError` if there was never one. */
  current(scope: Scope): Promise<Credential>;
  /** Called after a 401. Returns whether there is a new header. Throws a `ProblemsError` if it can't be renewed. */
  renew(refused: Credential, scope: Scope): Promise<boolean>;
}

export interface Token {
  readonly text: string;
  /** When to renew it, a time of `Date.now()`; null if only after the server refuses it. */
  readonly renewAt: number | null;
  /** The requested scopes; null if the source doesn't use scopes. */
  readonly scopes: ReadonlySet<string> | null;
}

export type TokenSource = (needed: ReadonlySet<Scope>) => Promise<Token>;

/** Credentials of a fixed bearer token. Throws a `ProblemsError` (`bad-token`). */
export function bearerToken(token: string): Credentials {
  const problem = tokenProblem(token, 'the token');
  if (problem !== null) throw new ProblemsError([problem]);
  return fixedCredentials(headerOf({ text: token }));
}

/** Credentials of a custom header, checked by `headerFault`. */
export function headerCredentials(name: string, value: string): Credentials {
  return fixedCredentials({ name: name.toLowerCase(), value });
}

function fixedCredentials(credential: Credential): Credentials {
  return { current: async () => credential, renew: async () => false };
}

/**
 * Credentials of the bearer token in a file, which is read at first use and again if the server refuses the token. Problems:
 * `token-unreadable`, `bad-token`. `shown` is the path for messages.
 */
export function tokenFile(path: string, shown: string, onSecret: OnSecret): Credentials {
  return new RenewingCredentials(async () => {
    const text = await readFile(path, 'utf8').catch((failure: unknown) => {
      const message = `the token file ${shown} can't be read: ${systemErrorText(failure)}`;
      const hint = 'check --token-file and server.auth.token_file';
      throw problemError('token-unreadable', message, hint);
    });
    return tokenWithoutExpiry(text, `the token in ${shown}`);
  }, onSecret);
}

/**
 * Credentials of the bearer token that a program prints, which runs at first use and again if the server refuses the token.
 * Problems: `token-command-failed`, `bad-token`.
 */
export function tokenCommand(
  command: TokenCommand,
  options: Omit<TokenCommandOptions, 'timeout'>,
): Credentials {
  return new RenewingCredentials(async () => {
    const text = await runTokenCommand(command, options);
    return tokenWithoutExpiry(text, `the output of ${basename(command.argv[0] ?? '')}`);
  }, options.onSecret);
}

function tokenWithoutExpiry(text: string, what: string): Token {
  return { text: parseToken(text, what), renewAt: null, scopes: null };
}

/** Credentials of a source of tokens, shared by concurrent requests. */
export class RenewingCredentials implements Credentials {
  readonly #source: TokenSource;
  readonly #onSecret: OnSecret;
  readonly #now: () => number;
  readonly #needed = new Set<Scope>();
  #token: Token | undefined;
  #pendingToken: Promise<Token> | undefined;

  constructor(source: TokenSource, onSecret: OnSecret, now: () => number = Date.now) {
    this.#source = source;
    this.#onSecret = onSecret;
    this.#now = now;
  }

  async current(scope: Scope): Promise<Credential> {
    this.#needed.add(scope);
    const token = this.#token;
    if (token !== undefined && this.#isUsable(token, scope)) return headerOf(token);
    try {
      return headerOf(await this.#obtain(scope));
    } catch (failure) {
      // The old token may still be valid, and the server's answer is a better error.
      if (token === undefined) throw failure;
      return headerOf(token);
    }
  }

  async renew(refused: Credential, scope: Scope): Promise<boolean> {
    if (this.#token !== undefined && headerOf(this.#token).value !== refused.value) return true;
    return headerOf(await this.#obtain(scope)).value !== refused.value;
  }

  #isUsable({ renewAt, scopes }: Token, scope: Scope): boolean {
    return (scopes?.has(scope) ?? true) && (renewAt === null || this.#now() < renewAt);
  }

  async #obtain(scope: Scope): Promise<Token> {
    // A pending token may lack the scope.
    while (this.#pendingToken !== undefined) {
      const token = await this.#pendingToken;
      if (this.#isUsable(token, scope)) return token;
    }
    this.#pendingToken = this.#source(new Set(this.#needed));
    try {
      const token = await this.#pendingToken;
      this.#onSecret(token.text);
      this.#token = token;
      return token;
    } finally {
      this.#pendingToken = undefined;
    }
  }
}

function headerOf({ text }: Pick<Token, 'text'>): Credential {
  return { name: 'authorization', value: `Bearer ${text}` };
}

/** A trimmed token. Throws a `ProblemsError` (`bad-token`). */
export function parseToken(text: string, what: string): string {
  const token = text.replace(/^\uFEFF/, '').trim();
  const problem = tokenProblem(token, what);
  if (problem !== null) throw new ProblemsError([problem]);
  return token;
}

/** The problem with a token; null if it is usable. Never quotes the token: even a broken one may be close to the right one. */
export function tokenProblem(token: string, what: string, places: readonly Place[] = []): Problem | null {
  const why = tokenFault(token);
  if (why === null) return null;
  const hint = isVariable.test(token)
    ? 'in idops.yaml write ${NAME}, with braces; elsewhere use the token itself'
    : 'use only the token, without "Bearer" and without quotes';
  return error('bad-token', `${what} ${why}`, places, hint);
}

/** `$NAME`, which was not replaced. */
const isVariable = /^\$\{?[A-Za-z_]\w*\}?$/;

function tokenFault(token: string): string | null {
  if (isVariable.test(token)) return 'is the name of a variable that was not replaced';
  if (token === '') return 'is empty';
  if (/\s/.test(token)) return 'contains white space';
  if (/[^\x21-\x7e]/.test(token)) return 'contains characters that are not visible ASCII';
  return token.length < minSecretLength ? TOO_SHORT : null;
}

/** Redacting a shorter token would damage other text. */
const TOO_SHORT = `has fewer than ${minSecretLength} characters`;

/** Headers that the transport or idops sets. */
const reservedHeaders: ReadonlySet<string> = new Set([
  'accept',
  'connection',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
]);

/** Why a header can't carry the credentials; null if it can. Never quotes the value. */
export function headerFault(
  name: string,
  value: string,
): { readonly part: 'name' | 'value'; readonly why: string } | null {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return { part: 'name', why: 'is not the name of a header' };
  if (reservedHeaders.has(name.toLowerCase()))
    return { part: 'name', why: 'is a header that carries no credentials' };
  if (!/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value)) {
    return { part: 'value', why: 'is empty, or contains characters that are not visible ASCII' };
  }
  // After the scheme, if there is one.
  const isShort = value.slice(value.indexOf(' ') + 1).length < minSecretLength;
  return isShort ? { part: 'value', why: TOO_SHORT } : null;
}
