import { STATUS_CODES } from 'node:http';
import { type AddressInfo, createServer, isIPv6, type Socket } from 'node:net';
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

/** Milliseconds that a connection lasts at most. */
const PATIENCE = 10_000;
/** Far more than those who look have. */
const CONNECTIONS = 64;
/** Bytes that a request may have before its body. */
const HEAD = 8 * 1024;
const END = '\r\n\r\n';

/**
 * Answers GET and HEAD on some paths, one request a connection. What comes behind its head isn't looked at, and no client can keep
 * more than its connection, nor that for long. Throws a ProblemsError (`port-unavailable`) where it can't listen there.
 */
export async function listen({ host, port }: ListenAddress, paths: Paths): Promise<Listening> {
  const open = new Set<Socket>();
  // Node's own server of HTTP makes a request and a response of all that a client sends before the first answer is out.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const patience = setTimeout(() => socket.destroy(), PATIENCE);
    socket.on('close', () => {
      clearTimeout(patience);
      open.delete(socket);
    });
    // What becomes of a client is its own affair.
    socket.on('error', () => {});
    open.add(socket);
    // Whoever asks now is answered at once; the oldest one has had the most time to ask.
    const [oldest] = open;
    if (open.size > CONNECTIONS && oldest !== undefined) {
      open.delete(oldest);
      oldest.destroy();
    }
    onHead(socket, (head) => {
      answer(head, paths).then(
        (bytes) => {
          socket.write(bytes);
          socket.destroySoon();
        },
        () => socket.destroy(),
      );
    });
  });
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
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

/** Gives what a client sends up to the first empty line, or null where that is too long; from then on nothing more is read. */
function onHead(socket: Socket, done: (head: string | null) => void): void {
  let text = '';
  const take = (chunk: string): void => {
    const from = Math.max(0, text.length - END.length);
    text += chunk;
    const end = text.indexOf(END, from);
    // What begins otherwise, as TLS does, may never have an empty line.
    const isOther = !/^[A-Z]/.test(text);
    if (end < 0 && text.length <= HEAD && !isOther) return;
    socket.off('data', take).off('end', ended).pause();
    const length = end < 0 ? text.length : end;
    done(length > HEAD ? null : text.slice(0, length));
  };
  const ended = (): void => {
    socket.destroy();
  };
  socket.setEncoding('latin1').on('data', take).on('end', ended);
}

/** The whole answer to a request, of which this is the head. */
async function answer(head: string | null, paths: Paths): Promise<Buffer> {
  if (head === null) return message(plain(431, 'too much before the body\n'));
  const [first = ''] = head.split('\r\n', 1);
  const [, method, target = ''] = /^([A-Z-]+) (\S+) HTTP\/1\.[01]$/.exec(first) ?? [];
  if (method === undefined) return message(plain(400, 'no request\n'));
  // As for a proxy, it may name the host too.
  const [, path = ''] = /^(?:https?:\/\/[^/?#]*)?([^?#]*)/i.exec(target) ?? [];
  const answers = Object.hasOwn(paths, path) ? paths[path] : undefined;
  if (answers === undefined) return message(plain(404, 'not found\n'), method);
  if (method === 'GET' || method === 'HEAD') return message(await answers(), method);
  return message(plain(405, 'GET and HEAD alone\n'), method, ['Allow: GET, HEAD']);
}

function plain(status: number, body: string): Answer {
  return { status, type: 'text/plain; charset=utf-8', body };
}

/** An answer as it is sent. */
function message({ status, type, body }: Answer, method = 'GET', more: readonly string[] = []): Buffer {
  const bytes = Buffer.from(body, 'utf8');
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...more,
    `Date: ${new Date().toUTCString()}`,
    `Content-Type: ${type}`,
    `Content-Length: ${bytes.length}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    'Connection: close',
  ];
  const head = Buffer.from(`${lines.join('\r\n')}${END}`, 'latin1');
  return method === 'HEAD' ? head : Buffer.concat([head, bytes]);
}
