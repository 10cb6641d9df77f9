import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Intercept } from '../../src/sandbox/index.js';
import { project, sure } from '../e2e/running.js';
import { ids } from '../sandbox/asking.js';

const acme = 'kind: Organization\nname: acme\nlabel: New\n';
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** The address of a server that answers as it is told. */
async function answering(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('a response header that is sent twice', () => {
  it.each(['Retry-After', 'Content-Type', 'Location', 'Date', 'X-Request-Id'])(
    'is no internal error: %s',
    async (name) => {
      let asked = 0;
      const url = await answering((_, response) => {
        asked += 1;
        const again = name === 'Retry-After' && asked === 1;
        const values = name === 'Retry-After' ? ['0', '1'] : ['application/json', 'text/html'];
        response.writeHead(again ? 429 : 200, { [name]: values });
        response.end(JSON.stringify({ data: [{ id: ids.acme, name: 'acme', label: 'Old' }] }));
      });
      const at = await project({ 'idops.yaml': sure, 'manifests/all.yaml': acme });
      const ran = await at.idops('plan', { env: { IDOPS_BASE_URL: url } });
      expect(ran.stderr).not.toContain('internal');
      expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining('1 to update') });
      expect(asked).toBeGreaterThan(0);
    },
  );
});

describe('a POST whose answer leaves open what was done', () => {
  const generation = (number: number) => ({
    'idops.yaml': sure,
    'manifests/all.yaml': `kind: Client\nid: ${ids.portal}\ndid_generation: ${number}\n`,
  });

  it.each([301, 302, 303, 307, 308, 400, 401, 403, 404, 408, 409, 422, 499, 500, 503])(
    'is sent once with %d, and again by nobody where it may have been done',
    async (status) => {
      let answer: Intercept | undefined;
      const at = await project(generation(1), {
        intercept: ({ method }) => (method === 'POST' ? answer : undefined),
      });
      expect((await at.idops('apply --yes')).code).toBe(0);
      await at.write(generation(2));
      const closed = [400, 401, 403, 404, 422].includes(status);
      answer = { kind: 'answer', status, headers: { location: '/elsewhere' }, body: { message: 'no' } };
      const ran = await at.idops('apply --yes --format json');
      expect(ran.code).toBe(1);
      expect(JSON.parse(ran.stdout).results).toMatchObject([{ status: closed ? 'failed' : 'unknown' }]);
      expect(at.writes()).toHaveLength(1);
      answer = undefined;
      const next = await at.idops('apply --yes');
      expect(next.code).toBe(closed ? 0 : 1);
      expect(at.writes()).toHaveLength(closed ? 2 : 1);
    },
  );
});
