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
  /** The header for a request that requires a scope, before each attempt. Throws a `ProblemsError` if there was never one. */
  current(scope: Scope): Promise<Credential>;
  /** Called after a 401: whether there is another header than the refused one. Throws a `ProblemsError` if it can't be renewed. */
  renew(refused: Credential, scope: Scope): Promise<boolean>;
}

export interface Token {
  readonly text: string;
  /** When to renew it, as `Date.now()`; null for when the server refuses it. */
  readonly renewAt: number | null;
  /** The requested scopes; null if the source takes none. */
  readonly scopes: ReadonlySet<string> | null;
}

export type TokenSource = (needed: ReadonlySet<Scope>) => Promise<Token>;

/** Credentials of a fixed bearer token. Throws a `ProblemsError` (`bad-token`). */
export function bearerToken(token: string): Credentials {
  const wrong = wrongInToken(token, 'the token');
  if (wrong !== null) throw new ProblemsError([wrong]);
  return fixed(headerOf({ text: token }));
}

/** Credentials of a custom header, checked by `wrongInHeader`. */
export function chosenHeader(name: string, value: string): Credentials {
  return fixed({ name: name.toLowerCase(), value });
}

function fixed(credential: Credential): Credentials {
  return { current: async () => credential, renew: async () => false };
}

/**
 * Credentials of the bearer token in a file, which is read at first use and again if the server refuses the token. Problems:
 * `token-unreadable`, `bad-token`. `shown` is the path for messages.
 */
export function tokenFile(path: string, shown: string, onSecret: OnSecret): Credentials {
  return new Renewing(async () => {
    const text = await readFile(path, 'utf8').catch((failure: unknown) => {
      const message = `the token file ${shown} can't be read: ${systemErrorText(failure)}`;
      const hint = 'check --token-file and server.auth.token_file';
      throw problemError('token-unreadable', message, hint);
    });
    return endless(text, `the token in ${shown}`);
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
  return new Renewing(async () => {
    const text = await runTokenCommand(command, options);
    return endless(text, `the output of ${basename(command.argv[0] ?? '')}`);
  }, options.onSecret);
}

function endless(text: string, what: string): Token {
  return { text: bearerText(text, what), renewAt: null, scopes: null };
}

/** Credentials of a source of tokens, shared by concurrent requests. */
export class Renewing implements Credentials {
  readonly #source: TokenSource;
  readonly #onSecret: OnSecret;
  readonly #now: () => number;
  readonly #needed = new Set<Scope>();
  #held: Token | undefined;
  #coming: Promise<Token> | undefined;

  constructor(source: TokenSource, onSecret: OnSecret, now: () => number = Date.now) {
    this.#source = source;
    this.#onSecret = onSecret;
    this.#now = now;
  }

  async current(scope: Scope): Promise<Credential> {
    this.#needed.add(scope);
    const held = this.#held;
    if (held !== undefined && this.#suits(held, scope)) return headerOf(held);
    try {
      return headerOf(await this.#obtain(scope));
    } catch (failure) {
      // The old token may still be valid, and the server's answer tells more.
      if (held === undefined) throw failure;
      return headerOf(held);
    }
  }

  async renew(refused: Credential, scope: Scope): Promise<boolean> {
    if (this.#held !== undefined && headerOf(this.#held).value !== refused.value) return true;
    return headerOf(await this.#obtain(scope)).value !== refused.value;
  }

  #suits({ renewAt, scopes }: Token, scope: Scope): boolean {
    return (scopes?.has(scope) ?? true) && (renewAt === null || this.#now() < renewAt);
  }

  async #obtain(scope: Scope): Promise<Token> {
    // A pending token may lack the scope.
    while (this.#coming !== undefined) {
      const token = await this.#coming;
      if (this.#suits(token, scope)) return token;
    }
    this.#coming = this.#source(new Set(this.#needed));
    try {
      const token = await this.#coming;
      this.#onSecret(token.text);
      this.#held = token;
      return token;
    } finally {
      this.#coming = undefined;
    }
  }
}

function headerOf({ text }: Pick<Token, 'text'>): Credential {
  return { name: 'authorization', value: `Bearer ${text}` };
}

/** A trimmed token. Throws a `ProblemsError` (`bad-token`). */
export function bearerText(text: string, what: string): string {
  const token = text.replace(/^\uFEFF/, '').trim();
  const wrong = wrongInToken(token, what);
  if (wrong !== null) throw new ProblemsError([wrong]);
  return token;
}

/** Never repeats the token: even a broken one may be close to the right one. */
export function wrongInToken(token: string, what: string, places: readonly Place[] = []): Problem | null {
  const why = whyNoToken(token);
  if (why === null) return null;
  const hint = isVariable.test(token)
    ? 'in idops.yaml write ${NAME}, with braces; elsewhere use the token itself'
    : 'use only the token, without "Bearer" and without quotes';
  return error('bad-token', `${what} ${why}`, places, hint);
}

/** `$NAME`, which neither idops nor a shell replaced. */
const isVariable = /^\$\{?[A-Za-z_]\w*\}?$/;

function whyNoToken(token: string): string | null {
  if (isVariable.test(token)) return 'is the name of a variable that was not replaced';
  if (token === '') return 'is empty';
  if (/\s/.test(token)) return 'has white space in it';
  if (/[^\x21-\x7e]/.test(token)) return 'has characters in it that are not visible ASCII';
  return token.length < minSecretLength ? tooShort : null;
}

/** It could not be redacted without damaging other words. */
const tooShort = `has fewer than ${minSecretLength} characters`;

/** Headers of the transport, and those that idops sets. */
const takenHeaders: ReadonlySet<string> = new Set([
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

/** Why a header can't carry the credentials; never repeats the value. */
export function wrongInHeader(
  name: string,
  value: string,
): { readonly part: 'name' | 'value'; readonly why: string } | null {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return { part: 'name', why: 'is not the name of a header' };
  if (takenHeaders.has(name.toLowerCase()))
    return { part: 'name', why: 'is a header that carries no credentials' };
  if (!/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value)) {
    return { part: 'value', why: 'is empty, or has characters in it that are not visible ASCII' };
  }
  // After the scheme, if there is one.
  const isShort = value.slice(value.indexOf(' ') + 1).length < minSecretLength;
  return isShort ? { part: 'value', why: tooShort } : null;
}
