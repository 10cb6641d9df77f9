import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';
import { type Problem, ProblemsError } from '../../src/base/problems.js';
import { type BaseUrl, checkBaseUrl, isBaseUrl } from '../../src/server/base-url.js';
import type { TransportOptions } from '../../src/server/call.js';
import { type Connection, connect, type Writer } from '../../src/server/client.js';
import { bearerToken } from '../../src/server/credentials.js';
import type { Permit } from '../../src/server/exchange.js';
import { ServerFailure } from '../../src/server/failures.js';
import type { WriteRequest } from '../../src/server/operations.js';
import { afterwards } from '../cleanups.js';

export const token = 'secret-token.of~the+tests/1234==';

/** A request that a test server received. */
export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly socket: Socket;
}

export interface Serving {
  readonly origin: string;
  readonly received: Received[];
  readonly server: Server;
}

type Respond = (response: ServerResponse, received: Received, count: number) => void;

/** Starts a server that responds with the given function, until the test ends. */
export async function serve(respond: Respond): Promise<Serving> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = '', url = '', headers, socket } = request;
    const one = { method, url, headers, body: Buffer.concat(chunks).toString(), socket };
    received.push(one);
    respond(response, one, received.length);
  });
  return { origin: await listening(server), received, server };
}

/** Lets a server listen on a free local port until the test ends; returns its origin. */
export async function listening(server: Server | NetServer, scheme = 'http'): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterwards(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export function json(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

export interface Using extends Omit<Connection, 'writer'> {
  readonly writer: {
    /** Sends a request; the default permit always holds. */
    send(request: WriteRequest, freshUntil?: number, permit?: Permit): ReturnType<Writer['send']>;
  };
  /** The pauses between tries, in seconds; none of them actually waits. */
  readonly pauses: number[];
}

/** Connects to a base URL until the test ends. Pauses are recorded, and don't wait. */
export function use(base: string, options: Partial<TransportOptions> = {}): Using {
  const pauses: number[] = [];
  const connection = connect({
    baseUrl: usable(checkBaseUrl(base, { allowInsecureHttp: false })),
    credentials: bearerToken(token),
    concurrency: 4,
    timeout: 30,
    redact: (text) => text,
    onSecret: () => {},
    signal: new AbortController().signal,
    random: () => 0.5,
    delay: async (seconds) => {
      pauses.push(seconds);
    },
    ...options,
  });
  afterwards(() => connection.close());
  const { writer, ...rest } = connection;
  const always: Permit = { confirm: async () => {}, holds: () => true };
  return {
    ...rest,
    writer: { send: (request, freshUntil, permit = always) => writer.send(request, permit, freshUntil) },
    pauses,
  };
}

function usable(checked: BaseUrl | Problem): BaseUrl {
  if (isBaseUrl(checked)) return checked;
  throw new Error(checked.message);
}

/** The failure of a request that must fail. */
export async function failureOf(request: Promise<unknown>): Promise<ServerFailure> {
  const outcome = await request.then(
    () => 'it succeeded',
    (failure: unknown) => failure,
  );
  if (outcome instanceof ServerFailure) return outcome;
  throw new Error('expected a ServerFailure', { cause: outcome });
}

/** The first problem of work that must be refused. */
export async function problemOf(work: () => unknown): Promise<Problem> {
  try {
    await work();
  } catch (failure) {
    if (failure instanceof ProblemsError && failure.problems[0] !== undefined) return failure.problems[0];
    throw failure;
  }
  throw new Error('expected a problem');
}

export const regenerate = { operation: 'regenerateDid', params: { client_id: 'c1' } } as const;
export const rename = {
  operation: 'updateOrganization',
  params: { organization_id: 'o1' },
  body: { name: 'acme', label: null },
} as const;
export const deletion = {
  operation: 'deleteTemplate',
  params: { backend_id: 'b1', template_type: 'tx_code' },
} as const;
