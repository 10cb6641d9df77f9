import { connect } from 'node:net';
import { createServer } from 'node:tls';
import { expect, it } from 'vitest';
import type { Sandbox } from '../../src/sandbox/index.js';
import { pullRequest, workspace } from '../action/running.js';
import { issue } from '../server/certificates.js';
import { proxying } from '../server/proxying.js';
import { listening } from '../server/serving.js';
import { config, project } from './running.js';

const authority = issue('private authority');
const { cert, key } = issue('server', { issuer: authority, hosts: ['id.example.com'] });
const right = `Basic ${Buffer.from('ada:p@ss').toString('base64')}`;

/** Resolves every name to this machine. idops doesn't notice, and so uses the proxy, which it doesn't use for local addresses. */
const resolves = `--import "data:text/javascript,${encodeURIComponent(
  `import dns from 'node:dns';
   dns.lookup = (name, options, done) =>
     options.all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4);`,
)}"`;

const files = {
  'idops.yaml': config.replace('  auth:', '  tls: {ca_file: ca.pem}\n  auth:'),
  'ca.pem': authority.cert,
  'manifests/a.yaml': 'kind: Organization\nname: acme\nlabel: ACME Corporation\n',
};

/** A TLS server with a certificate of a private authority in front of the sandbox, and a proxy that requires credentials. */
async function behindProxy(sandbox: Sandbox) {
  const server = createServer({ cert, key }, (socket) => {
    const there = connect(Number(new URL(sandbox.url).port), '127.0.0.1');
    there.pipe(socket).pipe(there);
    there.on('error', () => socket.destroy());
    socket.on('error', () => there.destroy());
  });
  const { port } = new URL(await listening(server, 'https'));
  const { asked, proxy } = await proxying(`https://127.0.0.1:${port}`, ({ headers }) =>
    headers['proxy-authorization'] === right ? 200 : 407,
  );
  const host = `id.example.com:${port}`;
  return {
    host,
    proxy: new URL(proxy.origin).host,
    env: { IDOPS_BASE_URL: `https://${host}`, NODE_OPTIONS: resolves },
    /** The hosts and credentials that the proxy received, without duplicates. */
    asked: () => [
      ...new Set(asked.map(({ url, headers }) => `${url} ${headers['proxy-authorization'] ?? 'as nobody'}`)),
    ],
  };
}

it("the command sends the credentials in the proxy's address only to the proxy", async () => {
  const { begin, sandbox } = await project(files);
  const { asked, env, host, proxy } = await behindProxy(sandbox);
  const proxied = { https_proxy: `http://ada:p%40ss@${proxy}` };
  const { code, stdout } = await begin(['plan'], { env: { ...env, ...proxied } }).ended;
  expect(stdout).toContain('Plan: 1 to update, 0 to delete, 0 to regenerate, 0 unchanged.');
  expect(code).toBe(0);
  expect(asked()).toEqual([`${host} ${right}`]);
  expect(sandbox.requests.map(({ headers }) => headers['proxy-authorization'])).toEqual([undefined]);
});

it('the action reaches a server through a proxy, and GitHub directly', async () => {
  const site = await workspace(files);
  const { asked, env, host, proxy } = await behindProxy(site.sandbox);
  const proxied = { https_proxy: `http://ada:p%40ss@${proxy}` };
  const { code, log, outputs } = await site.run(
    {},
    { ...pullRequest(), apart: true, env: { ...env, ...proxied } },
  );
  expect(code, log).toBe(0);
  expect(outputs.update).toBe('1');
  expect(asked()).toEqual([`${host} ${right}`]);
});
