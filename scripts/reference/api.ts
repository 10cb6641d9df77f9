import { kinds } from '../../src/kinds/index.js';
import type { DiscoverContext, Kind } from '../../src/kinds/kind.js';
import { awaitLists, type PendingLists, readListOnce } from '../../src/kinds/references.js';
import { operations } from '../../src/server/operations.js';
import { profiles } from '../../src/server/profiles.js';
import type { Reader } from '../../src/server/reader.js';
import { code, table } from './blocks.js';

const all = ['list', 'get', 'create', 'update', 'delete'] as const;
const pages = ['get', 'update', 'delete'] as const;
type Verb = (typeof all)[number];

/** The rows of Boruta's router: what it offers for each resource, and what else. */
const router: readonly {
  readonly path: string;
  readonly has: readonly Verb[];
  readonly others?: readonly string[];
}[] = [
  { path: '/api/scopes', has: all },
  { path: '/api/roles', has: all },
  { path: '/api/organizations', has: all },
  { path: '/api/backends', has: all },
  { path: '/api/backends/:id/email-templates', has: pages },
  { path: '/api/identity-providers', has: all },
  { path: '/api/identity-providers/:id/templates', has: pages },
  { path: '/api/clients', has: all, others: ['regenerate_did', 'regenerate_key_pair'] },
  { path: '/api/users', has: all },
  { path: '/api/key-pairs', has: all, others: ['rotate'] },
  { path: '/api/configuration/error-templates', has: pages },
  { path: '/api/configuration', has: ['list'] },
  { path: '/api/upstreams', has: all },
  { path: '/api/logs', has: ['list'] },
];

const methods: { readonly [verb in Verb]: string } = {
  list: 'GET',
  get: 'GET',
  create: 'POST',
  update: 'PATCH',
  delete: 'DELETE',
};

/** A path whose parameters have no names. */
const bare = (path: string): string => path.replaceAll(/:\w+/g, ':id');

/** `GET /api/scopes` and so on: all that idops sends to a Boruta. */
async function sent(): Promise<ReadonlySet<string>> {
  const found = new Set(Object.values(operations).map(({ method, path }) => `${method} ${bare(path)}`));
  for (const kind of kinds) for (const path of await readsOf(kind)) found.add(`GET ${bare(path)}`);
  return found;
}

/** The paths that a kind reads to find objects, and to look at one of them. */
async function readsOf(kind: Kind): Promise<ReadonlySet<string>> {
  const { boruta: profile } = profiles;
  if (profile === undefined) throw new Error('no profile for a Boruta');
  const paths = new Set<string>();
  const id = '10000000-0000-4000-8000-000000000001';
  const row = { id, name: 'one', username: 'one', type: 'one' };
  const reader = {
    async listOrganizations() {
      paths.add(operations.listOrganizations.path);
      return { rows: [row], totalPages: 1 };
    },
    async showTemplate() {
      paths.add(operations.showTemplate.path);
      return null;
    },
    async showExtra({ path }: { path: string }) {
      paths.add(path);
      return null;
    },
    async listExtra({ path }: { path: string }) {
      paths.add(path);
      return { rows: [row] };
    },
  } as unknown as Reader;
  const lists: PendingLists = {};
  const context = {
    reader,
    profile,
    oneByOne: true,
    hasList: () => false,
    filters: {},
    known: [],
    list: (name) => readListOnce(lists, name, { reader, profile }),
    limit: (read) => read(),
  } satisfies DiscoverContext as DiscoverContext;
  await kind.discovery?.find(context);
  const identity = { id, name: 'one', backend_id: id, identity_provider_id: id, type: 'one' };
  await kind.observe([{ kind: kind.name, identity }] as never, context);
  await awaitLists(lists);
  return paths;
}

/** What makes the table of the router's rows. */
export async function apiMakers() {
  const done = await sent();
  const cell = (path: string, has: readonly Verb[], verb: Verb): string => {
    if (!has.includes(verb)) return '';
    const whole = verb === 'list' || verb === 'create' ? path : `${path}/:id`;
    return done.has(`${methods[verb]} ${whole}`) ? 'yes' : 'no';
  };
  const rows = router.map(({ path, has, others = [] }) => [
    code(path),
    ...all.map((verb) => cell(path, has, verb)),
    others.map((one) => `${one} (${done.has(`POST ${path}/:id/${one}`) ? 'yes' : 'no'})`).join(', ') ||
      'none',
  ]);
  return { api: () => table(['path', ...all, 'others'], rows) };
}
