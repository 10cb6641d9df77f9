import type { Declared } from '../kinds/kind.js';
import { scopesOf } from '../plan/observe.js';
import type { ServerSettings } from '../project/index.js';
import type { Redactor } from '../secrets/redactor.js';
import type { NetworkOptions } from '../server/call.js';
import { type Connection, connect } from '../server/client.js';
import { clientCredentials } from '../server/client-credentials.js';
import {
  bearerToken,
  type Credentials,
  headerCredentials,
  RenewingCredentials,
  tokenCommand,
  tokenFile,
} from '../server/credentials.js';
import type { Scope } from '../server/operations.js';
import type { Reader } from '../server/reader.js';
import { RetryBudget } from '../server/retry.js';

/** Seconds that one request may take. */
export const DEFAULT_TIMEOUT = 30;

/** How many requests may be under way at once. */
export const DEFAULT_CONCURRENCY = 10;

export type SendingOptions = Omit<NetworkOptions, 'tls' | 'proxy' | 'patience'>;

export interface ReaderOptions {
  readonly concurrency?: number | undefined;
  readonly timeout?: number | undefined;
  readonly redactor: Redactor;
  readonly signal: AbortSignal;
  readonly network?: Partial<SendingOptions>;
}

/**
 * Creates a connection; sends nothing yet. `declared` are the objects of the run: a fetched token has the scopes that they need, and further
 * scopes when a request requires them. By default one request is sent at a time.
 */
export function openConnection(
  server: ServerSettings,
  declared: readonly Declared[],
  { redactor, signal, concurrency = 1, timeout = DEFAULT_TIMEOUT, network }: ReaderOptions,
): Connection {
  for (const secret of server.secrets) redactor.add(String(secret.reveal()));
  const options = {
    concurrency,
    timeout,
    redact: redactor.redactEcho,
    onSecret: redactor.add,
    signal,
    patience: new RetryBudget(),
    ...network,
  };
  return connect({
    ...options,
    baseUrl: server.address,
    tls: server.tls,
    proxy: server.proxy,
    credentials: credentialsOf(server, scopesOf(declared, server.profile), options),
  });
}

/** Calls `work` with a reader, which can't write, and closes the connection. */
export async function withReader<T>(
  server: ServerSettings,
  declared: readonly Declared[],
  options: ReaderOptions,
  work: (reader: Reader) => Promise<T>,
): Promise<T> {
  const connection = openConnection(server, declared, options);
  try {
    return await work(connection.reader);
  } finally {
    await connection.close();
  }
}

function credentialsOf(
  { auth, tls }: ServerSettings,
  scopes: readonly Scope[],
  options: SendingOptions & { readonly patience: RetryBudget },
): Credentials {
  const { redact, onSecret, signal } = options;
  switch (auth.way) {
    case 'token':
      return bearerToken(String(auth.token.reveal()));
    case 'token_file':
      return tokenFile(auth.path, auth.shown, onSecret);
    case 'token_command':
      return tokenCommand(auth, { redact, onSecret, signal });
    case 'header':
      return headerCredentials(auth.name, String(auth.value.reveal()));
    case 'client_credentials':
      return new RenewingCredentials(
        clientCredentials({ ...auth, clientSecret: String(auth.clientSecret.reveal()) }, scopes, {
          ...options,
          tls,
          proxy: auth.proxy,
        }),
        onSecret,
      );
  }
}
