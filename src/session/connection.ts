import { version } from '../base/version.js';
import type { Declared } from '../kinds/kind.js';
import { scopesOf } from '../plan/scopes.js';
import type { AuthSettings, ServerSettings } from '../project/index.js';
import type { Redactor } from '../secrets/redactor.js';
import type { NetworkOptions } from '../server/call.js';
import { type Connection, connect } from '../server/client.js';
import { clientCredentials } from '../server/client-credentials.js';
import {
  bearerToken,
  type Credentials,
  chosenHeader,
  renewing,
  tokenCommand,
  tokenFile,
} from '../server/credentials.js';
import type { Scope } from '../server/operations.js';
import type { Reader } from '../server/reader.js';
import { defaultPatience, Patience, seconds, sleepSeconds } from '../server/retry.js';

/** Seconds that one request may take. */
export const DEFAULT_TIMEOUT = 30;

/** How a server is spoken to, beside what its settings say. */
export type SendingOptions = Omit<NetworkOptions, 'tls' | 'proxy' | 'patience'>;

/**
 * Makes the connection that settings describe; nothing is sent before it is used. `declared` is what the run is about:
 * where scopes can be asked for, it is asked for those that this needs, and for others when a request requires them.
 */
export function openConnection(
  server: ServerSettings,
  declared: readonly Declared[],
  options: SendingOptions,
): Connection {
  const network = { ...options, patience: new Patience(defaultPatience, seconds) };
  return connect({
    ...network,
    baseUrl: server.address,
    tls: server.tls,
    proxy: server.proxy,
    credentials: credentialsOf(server, scopesOf(declared, server.profile), network),
  });
}

/** How a server is looked at by what plans nothing. */
export interface ReaderOptions extends Partial<Pick<SendingOptions, 'concurrency' | 'timeout'>> {
  readonly redactor: Redactor;
  readonly signal: AbortSignal;
  readonly network?: Partial<SendingOptions>;
}

/** Reads from a server for as long as something is looked at: one request at a time where nothing else is said. It can't write. */
export async function withReader<T>(
  server: ServerSettings,
  declared: readonly Declared[],
  { redactor, signal, concurrency = 1, timeout = DEFAULT_TIMEOUT, network }: ReaderOptions,
  work: (reader: Reader) => Promise<T>,
): Promise<T> {
  for (const secret of server.secrets) redactor.add(String(secret.reveal()));
  const connection = openConnection(server, declared, {
    concurrency,
    timeout,
    redact: redactor.redactEcho,
    onSecret: redactor.add,
    signal,
    version,
    ...network,
  });
  try {
    return await work(connection.reader);
  } finally {
    await connection.close();
  }
}

function credentialsOf(
  { auth, tls }: ServerSettings,
  scopes: readonly Scope[],
  options: SendingOptions & { readonly patience: Patience },
): Credentials {
  const { redact, onSecret = () => {}, signal, delay = sleepSeconds, random = Math.random } = options;
  switch (auth.way) {
    case 'token':
      return bearerToken(String(auth.token.reveal()));
    case 'token_file':
      return tokenFile(auth.path, auth.shown, onSecret);
    case 'token_command':
      return tokenCommand(auth, { redact, onSecret, signal });
    case 'header':
      return chosenHeader(auth.name, String(auth.value.reveal()));
    case 'client_credentials':
      return renewing(
        clientCredentials(clientOf(auth), scopes, {
          ...options,
          tls,
          proxy: auth.proxy,
          onSecret,
          delay,
          random,
        }),
        onSecret,
      );
  }
}

function clientOf(auth: AuthSettings & { readonly way: 'client_credentials' }) {
  return {
    address: auth.address,
    clientId: auth.clientId,
    clientSecret: String(auth.clientSecret.reveal()),
    scopes: auth.scopes,
  };
}
