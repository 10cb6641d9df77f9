import { execFileSync, fork } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { organizations } from '../projects.js';

const version = '8.44.0';

/** The same change by auth0-deploy-cli, with a server that responds as Auth0 does. */
export async function measure(bench) {
  if (bench.quick) return;
  const { files, seed } = organizations(1000, 100);
  const server = await bench.server({ seed });
  const cwd = bench.project(files);
  const before = () => rmSync(join(cwd, '.idops'), { recursive: true, force: true });
  const idops = bench.idops(['apply', '--yes'], { cwd, server, before });

  const folder = bench.project({
    'package.json': '{}',
    'tenant.yaml': JSON.stringify({
      organizations: seed.organizations.map(({ name, label }, index) => ({
        name,
        display_name: index % 10 === 0 ? `${label}, renamed` : label,
      })),
    }),
  });
  execFileSync('npm', ['install', '--silent', `auth0-deploy-cli@${version}`], { cwd: folder });
  const options = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=localhost'];
  const names = ['-addext', 'subjectAltName=DNS:localhost', '-keyout', 'key.pem', '-out', 'cert.pem'];
  execFileSync('openssl', ['req', ...options, ...names], { cwd: folder, stdio: 'ignore' });
  const auth0 = fork(resolve('bench/auth0.js'), [JSON.stringify(seed.organizations)], { cwd: folder });
  const ask = (question) => {
    const answer = new Promise((done) => auth0.once('message', done));
    if (question !== undefined) auth0.send(question);
    return answer;
  };
  const port = await ask();
  const program = {
    args: [join(folder, 'node_modules/auth0-deploy-cli/lib/index.js'), 'import', '-i', 'tenant.yaml'],
    cwd: folder,
    env: {
      AUTH0_DOMAIN: `localhost:${port}`,
      AUTH0_ACCESS_TOKEN: 'token',
      AUTH0_INCLUDED_ONLY: '["organizations"]',
      NODE_EXTRA_CA_CERTS: join(folder, 'cert.pem'),
    },
    server: { reset: () => ask('reset'), count: () => ask('count'), requests: async () => [] },
  };
  try {
    await bench.compare({
      name: `auth0-deploy-cli ${version}, import 100 of 1,000 changes`,
      against: 'idops apply',
      program,
      floor: () => idops,
      repeats: 1,
    });
  } finally {
    auth0.kill();
  }
}
