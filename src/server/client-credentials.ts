import * as z from 'zod';
import { oneLine } from '../base/escape.js';
import { type ProblemCode, type ProblemsError, problemError } from '../base/problems.js';
import { version } from '../base/version.js';
import { readJson, secretTextsIn } from './answers.js';
import type { BaseUrl } from './base-url.js';
import type { NetworkOptions } from './call.js';
import type { TlsSettings } from './connections.js';
import { parseToken, type Token, type TokenSource } from './credentials.js';
import { type ExchangeOutcome, statusAndReason } from './exchange.js';
import { shortReason, whyNotConnected } from './failures.js';
import { messageIn } from './messages.js';
import type { Scope } from './operations.js';
import type { ProxyServer } from './proxy.js';
import {
  defaultRetries,
  isTransientFailure,
  pauseBefore,
  type RetryBudget,
  retryAfterSeconds,
  sleepSeconds,
} from './retry.js';

/** An OAuth 2.0 client (RFC 6749, section 4.4). */
export interface ClientCredentials {
  readonly address: BaseUrl;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The scopes to request; null for those that the operations need. */
  readonly scopes: readonly string[] | null;
}

export interface TokenNetwork extends Omit<NetworkOptions, 'concurrency' | 'rate' | 'maxAnswerBytes'> {
  readonly tls: TlsSettings;
  readonly proxy: ProxyServer | null;
  readonly patience: RetryBudget;
  readonly now?: () => number;
}

const maxBytes = 2 ** 20;

const tokenAnswer = z.object({
  access_token: z.string(),
  token_type: z.string().nullish(),
  expires_in: z.union([z.number(), z.string().regex(/^\d+$/).transform(Number)]).nullish(),
});

/**
 * A source of tokens by client credentials. Throws a `ProblemsError`: `token-refused`, or `token-unavailable` if the token address
 * can't be reached or returns no token.
 */
export function clientCredentials(
  client: ClientCredentials,
  initial: readonly Scope[],
  network: TokenNetwork,
): TokenSource {
  return async (needed) => {
    const scopes = client.scopes ?? [...new Set([...initial, ...needed])].sort();
    const outcome = await requestToken(client, scopes, network);
    // A client with configured scopes can't get others.
    return readToken(client, outcome, client.scopes === null ? new Set(scopes) : null, network);
  };
}

async function requestToken(
  client: ClientCredentials,
  scopes: readonly string[],
  network: TokenNetwork,
): Promise<ExchangeOutcome> {
  const { signal, patience, retries = defaultRetries, delay = sleepSeconds, random = Math.random } = network;
  for (let attempt = 1; ; attempt++) {
    const began = performance.now();
    const outcome = await requestTokenOnce(client, scopes, network);
    network.onAttempt?.({
      operation: null,
      method: 'POST',
      path: client.address.href,
      ...statusAndReason(outcome),
      milliseconds: performance.now() - began,
      attempt,
    });
    if (!isTransientFailure(outcome) || attempt > retries || signal.aborted) return outcome;
    const retryAfter = outcome.status === null ? null : retryAfterSeconds(outcome.headers);
    const pause = pauseBefore(attempt + 1, retryAfter, random);
    if (!patience.take(pause)) return outcome;
    const { status } = outcome;
    const why =
      status === null
        ? shortReason({ kind: outcome.sent ? 'lost' : 'unreachable', status, reason: outcome.reason })
        : shortReason({ kind: 'refused', status });
    network.onRetry?.({
      attempt: attempt + 1,
      of: retries + 1,
      why: `the token address: ${why}`,
      ...(retryAfter === null ? {} : { wait: pause }),
    });
    await delay(pause, signal);
    if (signal.aborted) return outcome;
  }
}

async function requestTokenOnce(
  { address, clientId, clientSecret }: ClientCredentials,
  scopes: readonly string[],
  { tls, proxy, timeout, onSecret }: TokenNetwork,
): Promise<ExchangeOutcome> {
  const form = new URLSearchParams({ grant_type: 'client_credentials' });
  if (scopes.length > 0) form.set('scope', scopes.join(' '));
  const pair = `${formEncoded(clientId)}:${formEncoded(clientSecret)}`;
  const basic = Buffer.from(pair).toString('base64');
  // A server may echo these in a message.
  for (const secret of [basic, pair, `${clientId}:${clientSecret}`]) onSecret(secret);
  const { exchangeOnce } = await import('./connections.js');
  return await exchangeOnce(
    { origin: address.origin, tls, proxy },
    {
      origin: address.origin,
      method: 'POST',
      path: address.prefix || '/',
      headers: {
        authorization: `Basic ${basic}`,
        accept: 'application/json',
        'accept-encoding': 'identity',
        'content-type': 'application/x-www-form-urlencoded',
        'user-agent': `idops/${version}`,
      },
      body: form.toString(),
    },
    { timeout, maxBytes },
  );
}

/** RFC 6749, section 2.3.1. */
function formEncoded(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}

function readToken(
  { address }: ClientCredentials,
  outcome: ExchangeOutcome,
  scopes: ReadonlySet<string> | null,
  network: TokenNetwork,
): Token {
  const { redact, onSecret, timeout, proxy, now = Date.now } = network;
  const problem = (code: ProblemCode, message: string, hint?: string): ProblemsError =>
    problemError(code, `the token address ${address.href} ${message}`, hint);
  if (outcome.status === null) {
    const why = outcome.sent
      ? `gave no answer (${outcome.reason})`
      : `could not be reached: ${whyNotConnected({ reason: outcome.reason, timeout, proxy: proxy?.origin })}`;
    throw problem('token-unavailable', why);
  }
  const { status, body, incompleteReason } = outcome;
  const document = incompleteReason === null ? readJson(body) : { wrong: incompleteReason };
  if ('value' in document) for (const secret of secretTextsIn(document.value)) onSecret(secret);
  if (status < 200 || status > 299) {
    const serverMessage = 'value' in document ? messageIn(document.value) : null;
    const text = `answered ${status}${serverMessage === null ? '' : `: ${oneLine(redact(serverMessage))}`}`;
    if (isTransientFailure(outcome)) {
      const retryAfter = retryAfterSeconds(outcome.headers);
      const wait = retryAfter === null ? '' : `; it asks to wait ${retryAfter} s`;
      throw problem('token-unavailable', `${text}${wait}`, 'try again later');
    }
    const hint = 'check client_id, client_secret, and the scopes that this client may have';
    if (status >= 400 && status < 500) throw problem('token-refused', text, hint);
    throw problem('token-unavailable', text, 'check token_url');
  }
  const parsed = 'value' in document ? tokenAnswer.safeParse(document.value) : undefined;
  if (parsed?.success !== true) {
    throw problem('token-unavailable', `answered ${status} without a token`, 'check token_url');
  }
  const { access_token, token_type, expires_in } = parsed.data;
  onSecret(access_token);
  if (token_type != null && token_type.toLowerCase() !== 'bearer') {
    throw problem('token-unavailable', 'gave a token that is not a bearer token');
  }
  return {
    text: parseToken(access_token, `the token from ${address.href}`),
    renewAt: expires_in == null ? null : now() + renewAfter(expires_in) * 1000,
    scopes,
  };
}

/** Seconds until a renewal: before the expiry, since clocks differ and requests take time. */
function renewAfter(lifetime: number): number {
  return Math.max(lifetime - 30, lifetime / 2);
}
