// The part of Auth0's Management API that auth0-deploy-cli uses for organizations. The scenario `peer` starts it.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';

const seed = JSON.parse(process.argv[2]).map(({ id, name, label }) => ({ id, name, display_name: label }));
let organizations = structuredClone(seed);
let count = 0;

function answer(method, { pathname, searchParams }, body) {
  const [, , , kind, id, list] = pathname.split('/');
  if (kind === 'organizations' && list === undefined) {
    if (method === 'PATCH') {
      return Object.assign(
        organizations.find((one) => one.id === id),
        JSON.parse(body),
      );
    }
    const [from, take] = [Number(searchParams.get('from') ?? 0), Number(searchParams.get('take') ?? 50)];
    const next = from + take < organizations.length ? { next: String(from + take) } : {};
    return { organizations: organizations.slice(from, from + take), ...next };
  }
  const name = (list ?? kind).replaceAll('-', '_');
  return { [name]: [], domains: [], enabled_connections: [], start: 0, limit: 50, total: 0 };
}

const server = createServer(
  { key: readFileSync('key.pem'), cert: readFileSync('cert.pem') },
  async (request, response) => {
    count += 1;
    let body = '';
    for await (const part of request) body += part;
    response.writeHead(200, { 'content-type': 'application/json' });
    const url = new URL(request.url ?? '/', 'https://localhost');
    response.end(JSON.stringify(answer(request.method, url, body)));
  },
);
process.on('message', (question) => {
  if (question === 'reset') {
    organizations = structuredClone(seed);
    count = 0;
  }
  process.send?.(count);
});
server.listen(0, 'localhost', () => process.send?.(server.address().port));
