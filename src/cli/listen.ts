import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, isIPv6, type Socket } from 'node:net';
import { type ProblemsError, problemError } from '../base/problems.js';
import { systemErrorText } from '../base/system-errors.js';
import type { ListenAddress } from './option-values.js';

export interface HttpResponse {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

export interface Routes {
  readonly [path: string]: () => HttpResponse | Promise<HttpResponse>;
}

const MAX_TIME = 10_000;
const MAX_CONNECTIONS = 64;

/** Answers GET and HEAD, one request for each connection. Throws a ProblemsError (`port-unavailable`) if it can't listen there. */
export async function listen({ host, port }: ListenAddress, paths: Routes) {
  const open = new Set<Socket>();
  const answered = new WeakSet<Socket>();
  const server = createServer(
    {
      maxHeaderSize: 8 * 1024,
      headersTimeout: MAX_TIME,
      requestTimeout: MAX_TIME,
      connectionsCheckingInterval: 1000,
    },
    (request, response) => {
      const { socket } = request;
      // Ignores further requests on the connection.
      if (answered.has(socket)) return;
      answered.add(socket);
      socket.pause();
      answer(request, response, paths).catch(() => response.destroy());
    },
  );
  server.on('connection', (socket) => {
    const timer = setTimeout(() => socket.destroy(), MAX_TIME);
    socket.once('close', () => {
      clearTimeout(timer);
      open.delete(socket);
    });
    open.add(socket);
    // At the limit, a new connection replaces the oldest one.
    const [oldest] = open;
    if (open.size > MAX_CONNECTIONS) oldest?.destroy();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (failure) =>
      reject(portProblem(failure, port, { host, hint: 'name another one with --listen' }) ?? failure),
    );
    server.listen(port, host, resolve);
  });
  // An error while accepting a connection, as with too many open files, affects only that client.
  server.on('error', () => {});
  const { port: given } = server.address() as AddressInfo;
  return {
    /** `http://HOST:PORT` */
    address: `http://${isIPv6(host) ? `[${host}]` : host}:${given}`,
    async close(): Promise<void> {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, paths: Routes): Promise<void> {
  const { method = '', url = '' } = request;
  response.setHeader('Connection', 'close');
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('X-Content-Type-Options', 'nosniff');
  // The request target may be absolute, as for a proxy.
  const [, path = ''] = /^(?:https?:\/\/[^/?#]*)?([^?#]*)/i.exec(url) ?? [];
  const answers = Object.hasOwn(paths, path) ? paths[path] : undefined;
  if (answers === undefined) return send(response, plain(404, 'not found\n'));
  if (method !== 'GET' && method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD');
    return send(response, plain(405, 'only GET and HEAD\n'));
  }
  send(response, await answers());
}

function plain(status: number, body: string): HttpResponse {
  return { status, type: 'text/plain; charset=utf-8', body };
}

/** Node omits the body for HEAD. */
function send(response: ServerResponse, { status, type, body }: HttpResponse): void {
  const bytes = Buffer.from(body, 'utf8');
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': bytes.length }).end(bytes);
}

const listening = new Set(['bind', 'getaddrinfo', 'listen']);

/** A problem if a failure means that a server can't listen on a port; otherwise undefined. */
export function portProblem(
  failure: unknown,
  port: number,
  {
    host,
    hint = 'name another one with --port, or leave it out for a free one',
  }: { readonly host?: string; readonly hint?: string } = {},
): ProblemsError | undefined {
  if (!(failure instanceof Error && 'syscall' in failure && listening.has(String(failure.syscall))))
    return undefined;
  const where = host === undefined ? '' : ` of ${host}`;
  return problemError(
    'port-unavailable',
    `port ${port}${where} can't be used: ${systemErrorText(failure)}`,
    hint,
    failure,
  );
}
