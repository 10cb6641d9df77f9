import { describe, expect, test } from 'vitest';
import { Catalog } from '../../src/kinds/catalog.js';
import { observe } from '../../src/plan/observe.js';
import { type Doc, ids, type Site, site } from '../boruta/site.js';
import { boruta } from './fixtures.js';

/** The progress events and requests of a plan, in chronological order. */
async function eventsOf(at: Site, ...documents: readonly Doc[]): Promise<string[]> {
  await at.declare(...documents);
  const events: string[] = [];
  at.fault = ({ path }) => {
    events.push(path.replace(/\?.*/, '').replace(/^\/api\//, ''));
    return undefined;
  };
  const progress = {
    phase: (name: string, total: number) => events.push(`${name} ${total}`),
    step: () => events.push('step'),
    end: (how?: 'failed') => events.push(how ?? 'end'),
  };
  await at.session(async (session) => session.plan(), progress);
  at.fault = undefined;
  return events;
}

const user = (id: string): Doc => ({ kind: 'User', id, group: 'staff' });
const email = { kind: 'EmailTemplate', backend_id: ids.backend, txt_content: 'text' } as const;
const template = (type: string): Doc => ({ ...email, type });
const keyPair = (id: string): Doc => ({ kind: 'KeyPair', id, public_key: 'a' });
const client = (id: string): Doc => ({ kind: 'Client', id, did_generation: 1 });
const names = ['acme', 'globex', 'initech'];
const organizations: readonly Doc[] = names.map((name) => ({ kind: 'Organization', name, label: name }));
const emails = `backends/${ids.backend}/email-templates`;

describe('progress counts the reads', () => {
  test.each(['documented', 'boruta'] as const)(
    'organizations and templates with the profile %s',
    async (profile) => {
      const at = await site({ profile, concurrency: 1 });
      expect(await eventsOf(at, ...organizations)).toEqual(['Observing 1', 'organizations', 'step', 'end']);
      const types = ['tx_code', 'reset_password_instructions'];
      const reads = types.flatMap((type) => [`${emails}/${type}`, 'step']);
      expect(await eventsOf(at, ...types.map(template))).toEqual(['Observing 2', ...reads, 'end']);
    },
  );

  test('users, key pairs and clients, if the profile reads them', async () => {
    const at = await site({ concurrency: 1 });
    const counted = (...reads: string[]) => [
      `Observing ${reads.length}`,
      ...reads.flatMap((read) => [read, 'step']),
      'end',
    ];
    // Boruta needs the whole user, so the lists that it refers to are read.
    const users = counted('organizations', `users/${ids.ada}`, `users/${ids.nobody}`);
    expect(await eventsOf(at, user(ids.ada), user(ids.nobody))).toEqual(users);
    const pairs = [ids.firstKey, ids.secondKey, ids.thirdKey].map(keyPair);
    expect(await eventsOf(at, ...pairs)).toEqual(counted('key-pairs'));
    const clients = counted(`clients/${ids.portal}`, `clients/${ids.wallet}`);
    expect(await eventsOf(at, client(ids.portal), client(ids.wallet))).toEqual(clients);
  });

  test("no users, key pairs and clients, if the profile can't read them", async () => {
    const at = await site({ profile: 'documented', concurrency: 1 });
    expect(await eventsOf(at, user(ids.ada), keyPair(ids.firstKey), client(ids.portal))).toEqual([]);
  });

  test("a key pair that the list doesn't show, with the list", async () => {
    const at = await site({ concurrency: 1 });
    const events = await eventsOf(at, keyPair(ids.firstKey), keyPair(ids.nobody));
    expect(events).toEqual(['Observing 1', 'key-pairs', `key-pairs/${ids.nobody}`, 'step', 'end']);
  });

  test('no list that was read before', async () => {
    const unasked = () => Promise.reject(new Error('nobody asked for this'));
    const told: string[] = [];
    const { live } = await observe(
      [{ kind: 'Organization', identity: { name: 'acme' } }],
      ['organizations', 'scopes'],
      {
        reader: { listOrganizations: unasked, listExtra: unasked, showTemplate: unasked, showExtra: unasked },
        profile: boruta,
        concurrency: 1,
        progress: {
          phase: (name) => told.push(name),
          step: () => told.push('step'),
          end: () => told.push('end'),
        },
        lists: {
          organizations: Promise.resolve(new Catalog([{ id: ids.acme, name: 'acme' }])),
          scopes: Promise.resolve(new Catalog([])),
        },
      },
    );
    expect([...live.values()]).toMatchObject([{ exists: true, identity: { id: ids.acme } }]);
    expect(told).toEqual([]);
  });

  test('each list with references, once', async () => {
    const at = await site({ concurrency: 1 });
    const events = await eventsOf(
      at,
      ...organizations,
      { ...user(ids.ada), organizations: ['acme'], authorized_scopes: [{ id: ids.billingRead }] },
      { ...user(ids.grace), organizations: ['acme'], roles: [{ id: ids.member }] },
      keyPair(ids.firstKey),
      keyPair(ids.secondKey),
    );
    const asked = events.filter((event) => event.includes('/') || /^[a-z-]+s$/.test(event));
    const users = [`users/${ids.ada}`, `users/${ids.grace}`];
    expect(asked.toSorted()).toEqual(['key-pairs', 'organizations', 'roles', 'scopes', ...users]);
    expect(events[0]).toBe(`Observing ${asked.length}`);
    expect(events.filter((event) => event === 'step')).toHaveLength(asked.length);
    expect(events.slice(-2)).toEqual(['step', 'end']);
  });
});
