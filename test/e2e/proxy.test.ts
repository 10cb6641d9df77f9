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

/** Leads every name to this machine, which idops doesn't know, since it asks for nothing local through a proxy. */
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

/** Puts a certificate of a private authority before a sandbox, and a proxy on the way to it that wants credentials. */
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
    /** What the proxy was asked for: each host and credentials once. */
    asked: () => [
      ...new Set(asked.map(({ url, headers }) => `${url} ${headers['proxy-authorization'] ?? 'as nobody'}`)),
    ],
  };
}

it('the built command gives the proxy, and nobody else, the credentials in its address', async () => {
  const { begin, sandbox } = await project(files);
  const { asked, env, host, proxy } = await behindProxy(sandbox);
  const proxied = { https_proxy: `http://ada:p%40ss@${proxy}` };
  const { code, stdout } = await begin(['plan'], { env: { ...env, ...proxied } }).ended;
  expect(stdout).toContain('Plan: 1 to update, 0 to delete, 0 to regenerate, 0 unchanged.');
  expect(code).toBe(0);
  expect(asked()).toEqual([`${host} ${right}`]);
  expect(sandbox.requests.map(({ headers }) => headers['proxy-authorization'])).toEqual([undefined]);
});

it('the built action reaches a server behind a proxy, and GitHub past it', async () => {
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
