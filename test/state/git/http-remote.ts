import { execFileSync, spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

/** What happens to a request instead of a response. */
export type Fault = 'drop before' | 'drop after' | 'forbid';

export interface HttpRemote {
  readonly url: string;
  /** Called for each request before it is served; returns its fault. */
  fault: (method: string, path: string) => Fault | undefined | Promise<Fault | undefined>;
  close(): Promise<void>;
}

/** Serves the bare repositories of a folder with `git http-backend`, if a request has the authorization. */
export async function serveGit(
  folder: string,
  { authorization }: { readonly authorization?: string } = {},
): Promise<HttpRemote> {
  const backend = join(execFileSync('git', ['--exec-path'], { encoding: 'utf8' }).trim(), 'git-http-backend');
  const remote = { fault: (): Fault | undefined => undefined } as { fault: HttpRemote['fault'] };
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, search } = new URL(request.url ?? '', 'http://localhost');
    const fault = await remote.fault(request.method ?? '', `${pathname}${search}`);
    if (fault === 'drop before') {
      request.socket.destroy();
      return;
    }
    if (fault === 'forbid') {
      request.resume();
      response.writeHead(403, { 'content-type': 'text/plain' }).end('only Grace may push\n');
      return;
    }
    if (authorization !== undefined && request.headers.authorization !== authorization) {
      request.resume();
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
      return;
    }
    const child = spawn(backend, {
      env: {
        PATH: process.env.PATH,
        GIT_PROJECT_ROOT: folder,
        GIT_HTTP_EXPORT_ALL: '1',
        REMOTE_USER: 'somebody',
        REQUEST_METHOD: request.method,
        PATH_INFO: pathname,
        QUERY_STRING: search.slice(1),
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        ...(request.headers['content-encoding'] === undefined
          ? {}
          : { HTTP_CONTENT_ENCODING: request.headers['content-encoding'] }),
        GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    request.pipe(child.stdin);
    child.stdin.on('error', () => {});
    const parts: Buffer[] = [];
    child.stdout.on('data', (part: Buffer) => parts.push(part));
    child.once('close', () => {
      if (fault === 'drop after') {
        request.socket.destroy();
        return;
      }
      const whole = Buffer.concat(parts);
      const end = whole.indexOf('\r\n\r\n');
      let status = 200;
      for (const line of whole.subarray(0, Math.max(0, end)).toString('latin1').split('\r\n')) {
        const [, name = '', value = ''] = /^([^:]+): (.*)$/.exec(line) ?? [];
        if (name.toLowerCase() === 'status') status = Number.parseInt(value, 10);
        else if (name !== '') response.setHeader(name, value);
      }
      response.writeHead(status).end(whole.subarray(end + 4));
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return Object.assign(remote, {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  });
}
