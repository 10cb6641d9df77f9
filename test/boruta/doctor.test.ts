import { createServer } from 'node:http';
import { describe, expect, test } from 'vitest';
import { kinds } from '../../src/kinds/index.js';
import { loadProject } from '../../src/project/index.js';
import { startSandbox } from '../../src/sandbox/index.js';
import { createRedactor } from '../../src/secrets/redactor.js';
import { type Diagnosis, diagnose } from '../../src/server/diagnose.js';
import type { Scope } from '../../src/server/operations.js';
import { profiles } from '../../src/server/profiles.js';
import { withReader } from '../../src/session/connection.js';
import { listening } from '../server/serving.js';
import { type Site, type SiteOptions, site } from './site.js';

const scopes: readonly Scope[] = ['clients:manage:all', 'users:manage:all', 'identity-providers:manage:all'];

/** Runs the doctor's checks of a site's server, or of another address. */
async function examine(at: Site, address = at.sandbox.url, token = at.sandbox.token): Promise<Diagnosis> {
  const project = await loadProject({
    cwd: at.folder,
    variables: { IDOPS_TOKEN: token, IDOPS_BASE_URL: address },
  });
  const server = await project.server();
  const options = {
    redactor: createRedactor(),
    signal: new AbortController().signal,
    network: { delay: () => Promise.resolve() },
  };
  const { profile } = server;
  return await withReader(server, [], options, (reader) =>
    diagnose({ reader, baseUrl: address, profile, isConfigured: true, needed: scopes }),
  );
}

function marks({ checks }: Diagnosis): { [name: string]: string } {
  return Object.fromEntries(checks.map(({ name, status }) => [name, status]));
}

const fine = {
  address: 'ok',
  tls: 'ok',
  credentials: 'ok',
  'scope clients:manage:all': 'ok',
  'scope users:manage:all': 'ok',
  'scope identity-providers:manage:all': 'ok',
  profile: 'ok',
};

describe('which profile fits', () => {
  const fits: readonly [SiteOptions, string, { [name: string]: string }][] = [
    [{ profile: 'boruta', idopsProfile: 'boruta' }, 'boruta', {}],
    [
      { profile: 'documented', idopsProfile: 'documented' },
      'documented',
      { 'scope clients:manage:all': 'warn' },
    ],
    [{ profile: 'boruta', idopsProfile: 'documented' }, 'boruta', { profile: 'fail' }],
    [
      { profile: 'documented', idopsProfile: 'boruta' },
      'documented',
      { profile: 'fail', 'scope clients:manage:all': 'warn' },
    ],
  ];
  test.each(fits)('%j', async (options, name, marked) => {
    const at = await site(options);
    const diagnosis = await examine(at);
    expect(diagnosis.matchingProfile).toBe(name);
    expect(marks(diagnosis)).toEqual({ ...fine, ...marked });
    expect(at.sandbox.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  test('without the scope for key pairs, an unknown path identifies it', async () => {
    const at = await site({ tokens: { secret: ['users:manage:all', 'identity-providers:manage:all'] } });
    const diagnosis = await examine(at);
    expect(diagnosis.matchingProfile).toBe('boruta');
    expect(marks(diagnosis)).toEqual({ ...fine, 'scope clients:manage:all': 'fail' });
  });
});

test('each missing scope is named', async () => {
  const at = await site({ tokens: { secret: [] } });
  const { checks } = await examine(at);
  const failed = checks.filter(({ status }) => status === 'fail').map(({ name }) => name);
  expect(failed.sort()).toEqual(scopes.map((scope) => `scope ${scope}`).sort());
});

test('a wrong token fails once, and its echo is not shown', async () => {
  const at = await site();
  const diagnosis = await examine(at, at.sandbox.url, 'wrong-token-0815');
  expect(marks(diagnosis)).toEqual({ address: 'ok', tls: 'ok', credentials: 'fail' });
  expect(JSON.stringify(diagnosis)).not.toContain('wrong-token-0815');
});

describe('an address without a fitting server', () => {
  test('no server listens', async () => {
    const gone = await startSandbox();
    await gone.close();
    const at = await site();
    expect(marks(await examine(at, gone.url))).toEqual({ address: 'fail' });
  });

  test('another kind of server answers', async () => {
    const server = createServer((_, response) => response.end('<html></html>'));
    const at = await site();
    expect(marks(await examine(at, await listening(server)))).toEqual({ address: 'fail' });
  });

  test('the server answers everything with an empty body', async () => {
    const server = createServer((_, response) => {
      response.setHeader('content-type', 'application/json');
      response.end('{"data":[]}');
    });
    const at = await site();
    const { checks, matchingProfile } = await examine(at, await listening(server));
    expect(matchingProfile).toBeNull();
    expect(checks).toContainEqual({
      name: 'profile',
      status: 'warn',
      message: expect.stringContaining('answers 2xx for an unknown path'),
      hint: expect.stringContaining('base_url'),
    });
    expect(checks.filter(({ status, hint }) => status !== 'ok' && hint === null)).toEqual([]);
  });

  test('a port speaks http instead of https', async () => {
    const at = await site();
    const diagnosis = await examine(at, at.sandbox.url.replace('http:', 'https:'));
    expect(marks(diagnosis)).toEqual({ address: 'ok', tls: 'fail' });
  });
});

test('every profile with its own reads has signs to detect it', () => {
  for (const { name, signs } of Object.values(profiles)) {
    const reads = kinds.filter(({ traits }) => traits[name].read !== undefined);
    expect(signs === null).toBe(reads.length === 0);
  }
});
