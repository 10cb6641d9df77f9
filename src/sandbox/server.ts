import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, isIPv6 } from 'node:net';
import type { Credentials } from './auth.js';
import { borutaService } from './boruta/service.js';
import { documentedService } from './documented/service.js';
import { answerWithFault } from './faults.js';
import { type Answer, bodyValue, readCall, type Service, send } from './http.js';
import { copyJson } from './json.js';
import {
  allScopes,
  type Intercept,
  type Sandbox,
  type SandboxOptions,
  type SandboxRequestLog,
} from './options.js';
import { Pool } from './pool.js';
import { randomFaults } from './random-faults.js';
import { loadSeed } from './seed.js';
import { shapeAnswer } from './shape.js';
import { Work } from './work.js';

const defaultPageSize = 500;
// The service refuses long addresses, not the parser.
const maxHeaderSize = 1024 * 1024;
const notLogged = new Set(['authorization', 'proxy-authorization', 'cookie']);

/** Starts a test double of the server on the loopback interface, with its data in memory. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const data = loadSeed(options.seed ?? 'demo');
  const credentials = credentialsOf(options);
  const { faults: { pool } = {}, pageSize = defaultPageSize } = options;
  const requests: SandboxRequestLog[] = [];
  let count = 0;
  let downUntil = 0;

  const house: House = {
    service:
      options.profile === 'boruta'
        ? borutaService(data, credentials, { ...options, pageSize })
        : documentedService(data, credentials, pageSize),
    options,
    pool: pool === undefined ? undefined : new Pool(pool),
    chance: randomFaults(options.faults ?? {}),
    restart: (ms) => {
      downUntil = performance.now() + ms;
      server.closeAllConnections();
    },
  };
  const server = createServer({ maxHeaderSize, requestTimeout: 0 }, (request, response) => {
    count += 1;
    const entry = logEntry(request, count);
    requests.push(entry);
    const gone = new AbortController();
    response.once('close', () => {
      if (!response.writableFinished) gone.abort();
    });
    serve(request, response, entry, house, gone.signal).catch((error: unknown) => {
      // The client is gone, or `close` was called.
      if (request.errored !== null || response.headersSent || response.destroyed || gone.signal.aborted)
        return;
      entry.status = 500;
      send(response, { status: 500, body: { code: 'SANDBOX_FAILURE', message: String(error) } });
    });
  });
  server.on('connection', (socket) => {
    if (performance.now() < downUntil) socket.resetAndDestroy();
  });
  const host = options.host ?? '127.0.0.1';
  const port = await listen(server, host, options.port ?? 0);
  let closed: Promise<void> | undefined;
  return {
    url: `http://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    token: credentials.tokens.keys().next().value ?? '',
    requests,
    data,
    snapshot: () => copyJson(data),
    close: () => {
      closed ??= stop(server);
      return closed;
    },
  };
}

/** What all requests share. */
interface House {
  service: Service;
  options: SandboxOptions;
  pool: Pool | undefined;
  chance: (method: string) => Intercept | undefined;
  restart(ms: number): void;
}

function credentialsOf(options: SandboxOptions): Credentials {
  const tokens = options.tokens ?? { [randomBytes(24).toString('base64url')]: allScopes };
  const [token = ''] = Object.keys(tokens);
  return {
    tokens: new Map(Object.entries(tokens)),
    expired: new Set(options.expiredTokens),
    own: options.ownUser === undefined ? undefined : { token, user: options.ownUser },
  };
}

function logEntry(request: IncomingMessage, number: number): SandboxRequestLog {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined && !notLogged.has(name)) headers[name] = String(value);
  const { method = '', url = '' } = request;
  return { method, path: url, body: undefined, number, headers, status: null };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  entry: SandboxRequestLog,
  { service, options, pool, chance, restart }: House,
  signal: AbortSignal,
): Promise<void> {
  const chanced = chance(entry.method);
  const call = await readCall(request, service.bodyLimit);
  // A copy, since the server may keep parts of the body as its data.
  entry.body = copyJson(bodyValue(call.body));
  const { method, path, body, number } = entry;
  const fault = (await options.intercept?.({ method, path, body, number })) ?? chanced;
  const breach = fault?.kind === 'cut' || fault?.kind === 'drop' ? fault : undefined;
  const doing = new Work({ signal, pool, latency: options.latency ?? 0, breach });
  const work = async (): Promise<Answer> => {
    // A copy, since the data may change while the answer waits.
    const answer = copyJson(await service.handle(call, doing));
    await doing.finish();
    return shapeAnswer(answer, options);
  };
  entry.status = await answerWithFault(fault, response, {
    work,
    idle: () => doing.finish(),
    restart,
    signal,
  });
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
