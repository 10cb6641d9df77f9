import { describe, expect, it } from 'vitest';
import type { Fields } from '../../src/base/values.js';
import { Catalog } from '../../src/kinds/catalog.js';
import { kindOf } from '../../src/kinds/index.js';
import type { DiscoverContext, DiscoveryFilters, KnownObject } from '../../src/kinds/kind.js';
import { type Parser, pages, type Template } from '../../src/server/answers.js';
import { profiles } from '../../src/server/profiles.js';
import type { Reader } from '../../src/server/reader.js';

/** A server with the given lists by path, and templates by backend and type. */
function server(
  lists: { readonly [path: string]: readonly Fields[] },
  templates: readonly string[] = [],
  {
    asked: filters = {},
    known = [],
  }: { readonly asked?: DiscoveryFilters; readonly known?: readonly KnownObject[] } = {},
): { context: DiscoverContext; read: string[] } {
  const read: string[] = [];
  const reader: Reader = {
    listOrganizations: () => Promise.reject(new Error('nobody asks for organizations')),
    showTemplate: async (backend_id, type): Promise<Template | null> => {
      read.push(`${backend_id}/${type}`);
      return templates.includes(`${backend_id}/${type}`) ? { id: 't', backend_id, type } : null;
    },
    showExtra: async <T>({ path }: { path: string }, params: object, parse: Parser<T>): Promise<T | null> => {
      read.push(path);
      const parsed = parse({ data: { id: Object.values(params)[0], name: 'shown' } });
      return 'value' in parsed ? parsed.value : null;
    },
    listExtra: async ({ path }: { path: string }) => {
      read.push(path);
      const { [path]: rows } = lists;
      return rows === undefined ? null : ({ rows } as never);
    },
  };
  const { boruta } = profiles;
  if (boruta === undefined) throw new Error('there is no such profile');
  const context: DiscoverContext = {
    reader,
    profile: boruta,
    oneByOne: false,
    hasList: () => false,
    filters,
    known,
    list: async (name) => {
      const path = `/api/${name}`;
      read.push(path);
      const rows = lists[path];
      return rows === undefined ? null : (new Catalog(rows) as never);
    },
    limit: (work) => work(),
  };
  return { context, read };
}

describe('clients', () => {
  it('are all found if the server lists them, without their secrets', async () => {
    const parsed = pages.client({
      data: [{ id: 'b', name: 'B', did: null, secret: 's3cret' }, { id: 'a' }, {}],
    });
    const rows = 'value' in parsed ? parsed.value.rows : [];
    expect(JSON.stringify(rows)).not.toContain('s3cret');
    const { context, read } = server({ '/api/clients': rows });
    const { found = [], notes } = (await kindOf('Client').discovery?.find(context)) ?? {};
    expect(found.map(({ identity, displayName, live }) => [identity.id, displayName, live.fields])).toEqual([
      ['a', null, {}],
      ['b', 'B', { did: null, name: 'B' }],
    ]);
    expect(notes).toEqual(["1 of the server's clients has no id, so idops can't list or pull it"]);
    expect(read).toEqual(['/api/clients']);
  });

  it('are only the named ones otherwise', async () => {
    const known: KnownObject[] = [
      { kind: 'Client', identity: { id: 'c' } },
      { kind: 'User', identity: { id: 'u' } },
    ];
    const { context } = server({}, [], { known });
    const { found = [], notes = [] } = (await kindOf('Client').discovery?.find(context)) ?? {};
    expect(found.map(({ identity, displayName }) => [identity.id, displayName])).toEqual([['c', 'shown']]);
    expect(notes).toHaveLength(1);
  });
});

describe('email templates', () => {
  const find = async ({ context }: ReturnType<typeof server>) =>
    ((await kindOf('EmailTemplate').discovery?.find(context))?.found ?? []).map(
      ({ identity: { backend_id, type } }) => `${backend_id}/${type}`,
    );

  it('are looked for on listed and known backends, by the known types', async () => {
    const known: KnownObject[] = [{ kind: 'EmailTemplate', identity: { backend_id: 'k', type: 'own' } }];
    const made = server({ '/api/backends': [{ id: 'l' }] }, ['l/tx_code', 'k/own', 'k/none'], { known });
    expect(await find(made)).toEqual(['k/own', 'l/tx_code']);
    expect(made.read).not.toContain('/api/users');
    expect(made.read).not.toContain('k/none');
  });

  it("are looked for on the backends of users if backends aren't listed", async () => {
    const users = [
      { id: 'u', backend: { id: 'b' } },
      { id: 'v', backend: { id: 'b' } },
      { id: 'w', backend: null },
    ];
    const made = server({ '/api/users': users }, ['b/tx_code']);
    expect(await find(made)).toEqual(['b/tx_code']);
    expect(made.read.filter((one) => one.startsWith('b/'))).toHaveLength(3);
  });

  it('are looked for only on the given backends', async () => {
    const made = server({ '/api/backends': [{ id: 'l' }] }, ['a/x', 'l/x'], {
      asked: { backend: ['a'], type: ['x'] },
    });
    expect(await find(made)).toEqual(['a/x']);
    expect(made.read).toEqual(['a/x']);
  });
});
