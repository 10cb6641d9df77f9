import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, isIPv6 } from 'node:net';
import { portProblem } from '../port.js';
import type { ListenAddress } from './address.js';

/** An answer of a path, whatever is asked of it. */
export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** What is answered, by its path. */
export interface Paths {
  readonly [path: string]: () => Answer | Promise<Answer>;
}

export interface Listening {
  /** Where it can be asked, as `http://HOST:PORT`. */
  readonly address: string;
  close(): Promise<void>;
}

/** Milliseconds that a client may be silent, and that a request may take to come. */
const PATIENCE = 10_000;
/** Far more than those who look have. */
const CONNECTIONS = 64;

/**
 * Answers GET and HEAD on some paths. Bodies of requests aren't read, and no client can keep more than its connection, nor that for
 * long. Throws a ProblemsError (`port-unavailable`) where it can't listen there.
 */
export async function listen({ host, port }: ListenAddress, paths: Paths): Promise<Listening> {
  const server = createServer(
    {
      maxHeaderSize: 8 * 1024,
      headersTimeout: PATIENCE,
      requestTimeout: PATIENCE,
      keepAliveTimeout: PATIENCE / 2,
      connectionsCheckingInterval: 1000,
    },
    (request, response) => {
      answer(request, response, paths).catch(() => response.destroy());
    },
  );
  server.maxConnections = CONNECTIONS;
  server.setTimeout(PATIENCE);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (failure) =>
      reject(portProblem(failure, port, { host, hint: 'name another one with --listen' }) ?? failure),
    );
    server.listen(port, host, resolve);
  });
  // A connection that can't be taken, as where there are too many open files, is the client's loss alone.
  server.on('error', () => {});
  const { port: given } = server.address() as AddressInfo;
  return {
    address: `http://${isIPv6(host) ? `[${host}]` : host}:${given}`,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, paths: Paths): Promise<void> {
  const { method = '', url = '' } = request;
  // What stands in a body is nobody's business: the connection ends with the answer.
  const hasBody = request.headers['content-length'] !== undefined || request.headers['transfer-encoding'];
  if (hasBody) response.setHeader('Connection', 'close');
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('X-Content-Type-Options', 'nosniff');
  const [path = ''] = url.split('?');
  const answers = Object.hasOwn(paths, path) ? paths[path] : undefined;
  if (answers === undefined) return send(response, plain(404, 'not found\n'));
  if (method !== 'GET' && method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD');
    return send(response, plain(405, 'GET and HEAD alone\n'));
  }
  send(response, await answers());
}

function plain(status: number, body: string): Answer {
  return { status, type: 'text/plain; charset=utf-8', body };
}

/** Node leaves the body out where only the head was asked for. */
function send(response: ServerResponse, { status, type, body }: Answer): void {
  const bytes = Buffer.from(body, 'utf8');
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': bytes.length }).end(bytes);
}
