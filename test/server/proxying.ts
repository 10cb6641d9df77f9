import { createServer, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { ProxyServer } from '../../src/server/proxy.js';
import { listening } from './serving.js';

/** A proxy that connects to `target`, whatever host is requested. */
export async function proxying(target: string, answer: (request: IncomingMessage) => number = () => 200) {
  const asked: IncomingMessage[] = [];
  const server = createServer((_, response) => response.writeHead(400).end());
  server.on('connect', (request, socket) => {
    asked.push(request);
    socket.on('error', () => {});
    const status = answer(request);
    if (status === 0) {
      socket.destroy();
      return;
    }
    if (status < 0) return;
    if (status !== 200) {
      socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
      return;
    }
    const there = connect(Number(new URL(target).port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      there.pipe(socket).pipe(there);
    });
    there.on('error', () => socket.destroy());
  });
  const origin = await listening(server);
  const proxy: ProxyServer = { origin, variable: 'https_proxy', authorization: null };
  return { asked, proxy, server };
}
