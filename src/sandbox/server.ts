import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, isIPv6 } from 'node:net';
import type { Credentials } from './auth.js';
import { borutaService } from './boruta/service.js';
import { documentedService } from './documented/service.js';
import { answerWithFault } from './faults.js';
import { type Answer, bodyValue, headersOf, Refused, readRequest, send } from './http.js';
import { copyJson, isObject, type JsonObject } from './json.js';
import { allScopes, type Sandbox, type SandboxOptions, type SandboxRequestLog } from './options.js';
import { Pool } from './pool.js';
import { randomFaults } from './random-faults.js';
import { loadSeed } from './seed.js';
import { Work } from './work.js';

const defaultPageSize = 500;
// The service refuses long addresses, so the parser must accept them.
const maxHeaderSize = 1024 * 1024;
const unloggedHeaders = ['authorization', 'proxy-authorization', 'cookie'];

/** Starts an imitation of an identity server that keeps its data in memory. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const data = loadSeed(options.seed ?? 'demo');
  const credentials = credentialsOf(options);
  const { faults = {}, pageSize = defaultPageSize, host = '127.0.0.1' } = options;
  const service =
    options.profile === 'boruta'
      ? borutaService(data, credentials, { ...options, pageSize })
      : documentedService(data, credentials, pageSize);
  const pool = faults.pool === undefined ? undefined : new Pool(faults.pool);
  const randomFault = randomFaults(faults);
  const requests: SandboxRequestLog[] = [];
  let count = 0;
  let downUntil = 0;
  const restart = (ms: number): void => {
    downUntil = performance.now() + ms;
    server.closeAllConnections();
  };

  const serve = async (
    request: IncomingMessage,
    response: ServerResponse,
    entry: SandboxRequestLog,
    signal: AbortSignal,
  ): Promise<void> => {
    const drawnFault = randomFault(entry.method);
    const received = await readRequest(request, service.bodyLimit);
    // A copy, since the service may store parts of the body.
    entry.body = copyJson(bodyValue(received.body));
    const { method, path, body, number } = entry;
    const fault = (await options.intercept?.({ method, path, body, number })) ?? drawnFault;
    const interruption = fault?.kind === 'cut' || fault?.kind === 'drop' ? fault : undefined;
    const work = new Work({ signal, pool, latency: options.latency ?? 0, interruption });
    const handle = async (): Promise<Answer> => {
      // A copy, since the data may change before the answer is sent.
      const answer = copyJson(await service.handle(received, work).catch(answerOfRefusal));
      await work.finish();
      return shapeAnswer(answer, options);
    };
    const control = { handle, wait: () => work.finish(), restart, signal };
    entry.status = await answerWithFault(fault, response, control);
  };

  const server = createServer({ maxHeaderSize, requestTimeout: 0 }, (request, response) => {
    count += 1;
    const entry = logEntry(request, count);
    requests.push(entry);
    const disconnected = new AbortController();
    response.once('close', () => {
      if (!response.writableFinished) disconnected.abort();
    });
    serve(request, response, entry, disconnected.signal).catch((error: unknown) => {
      // The client disconnected, or `close` was called.
      const isGone = request.errored !== null || response.destroyed || disconnected.signal.aborted;
      if (isGone || response.headersSent) return;
      entry.status = 500;
      send(response, { status: 500, body: { code: 'SANDBOX_FAILURE', message: String(error) } });
    });
  });
  server.on('connection', (socket) => {
    if (performance.now() < downUntil) socket.resetAndDestroy();
  });
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

function credentialsOf(options: SandboxOptions): Credentials {
  const tokens = options.tokens ?? { [randomBytes(24).toString('base64url')]: allScopes };
  const [token = ''] = Object.keys(tokens);
  return {
    tokens: new Map(Object.entries(tokens)),
    expired: new Set(options.expiredTokens),
    tokenOwner: options.ownUser === undefined ? undefined : { token, user: options.ownUser },
  };
}

function logEntry(request: IncomingMessage, number: number): SandboxRequestLog {
  const headers = headersOf(request);
  for (const name of unloggedHeaders) delete headers[name];
  const { method = '', url = '' } = request;
  return { method, path: url, body: undefined, number, headers, status: null };
}

function answerOfRefusal(failure: unknown): Answer {
  if (failure instanceof Refused) return failure.answer;
  throw failure;
}

// The API document doesn't define their members, so no member is unknown.
const freeFormFields = new Set([
  ...['metadata', 'federated_metadata', 'password_hashing_opts', 'key_pair_type', 'metadata_fields'],
  ...['federated_servers', 'verifiable_credentials', 'verifiable_presentations', 'errors'],
]);

/** Omits optional fields or adds unknown ones, if the options say so. */
function shapeAnswer(answer: Answer, options: SandboxOptions): Answer {
  if (!isObject(answer.body)) return answer;
  let body: JsonObject = answer.body;
  if (options.omitOptionalFields && answer.status < 300)
    body = { data: Array.isArray(body.data) ? body.data.map(() => ({})) : {} };
  if (options.addUnknownFields) body = addUnknown(body);
  return { ...answer, body };
}

function addUnknown(object: JsonObject): JsonObject {
  const extended: JsonObject = {};
  for (const [name, value] of Object.entries(object))
    extended[name] = freeFormFields.has(name) ? value : addUnknownIn(value);
  extended.x_sandbox_unknown = { list: [1, null, { deep: true }], text: 'not in any document' };
  return extended;
}

function addUnknownIn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(addUnknownIn);
  return isObject(value) ? addUnknown(value) : value;
}

async function listen(server: Server, host: string, port: number): Promise<number> {
  server.listen(port, host);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function stop(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
