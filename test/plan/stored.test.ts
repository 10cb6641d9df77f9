import { describe, expect, it } from 'vitest';
import { type Fields, Sensitive } from '../../src/base/values.js';
import type { Change, Plan } from '../../src/plan/plan.js';
import { isStoredPlan, parseStoredPlan, type StoredPlan, seal, staleness } from '../../src/plan/stored.js';
import { changeOf, fieldOf, planOf } from '../report/plans.js';

const options = { targets: [], kinds: [], prune: false, assert: false };
const same = (text: string): string => text;

async function stored(plan: Plan, redactName = same): Promise<StoredPlan> {
  const { server, environment, createdAt, digest } = plan;
  const apply = await seal(plan, options, redactName);
  return {
    format_version: 1,
    server,
    environment,
    created_at: createdAt,
    digest,
    apply: { ...apply, whole: '' },
  };
}

/** The messages about a stored plan that differs from the present one. */
async function stale(before: Plan, now: Plan): Promise<string[]> {
  const problems = await staleness(await stored(before), now);
  for (const problem of problems) expect(problem.code).toBe('stale-plan');
  return problems.map(({ message }) => message);
}

function organization(name: string, label: string, parts: Partial<Change> = {}, before: Fields = {}): Change {
  return changeOf({
    address: `Organization/${name}`,
    requests: [{ operation: 'updateOrganization', params: { organization_id: name }, body: { label } }],
    apply: { ...changeOf().apply, key: `Organization/id-${name}`, before },
    ...parts,
  });
}

describe('a stored plan', () => {
  it('is valid if everything is unchanged', async () => {
    const plan = planOf([organization('acme', 'New'), organization('globex', 'New')]);
    expect(await stale(plan, plan)).toEqual([]);
  });

  it('is stale for another server or environment', async () => {
    const plan = planOf([organization('acme', 'New')]);
    expect(await stale(plan, { ...plan, server: 'https://other.example.com' })).toEqual([
      expect.stringContaining('it is for https://id.example.com, and this is https://other.example.com'),
    ]);
    expect(await stale(plan, { ...plan, environment: 'production' })).toEqual([
      expect.stringContaining('it is for the environment none, and this is production'),
    ]);
    expect(await stale({ ...plan, environment: 'production' }, plan)).toEqual([
      expect.stringContaining('it is for the environment production, and this is none'),
    ]);
  });

  it('is stale if an object was added or removed', async () => {
    const [acme, globex] = [organization('acme', 'New'), organization('globex', 'New')];
    expect(await stale(planOf([acme, globex]), planOf([acme]))).toEqual([
      'stale plan: Organization/globex is no longer in it',
    ]);
    expect(await stale(planOf([acme]), planOf([acme, globex]))).toEqual([
      'stale plan: Organization/globex is new in it',
    ]);
  });

  it('is stale if the live value, the action or the declaration differs, and reports the first of them', async () => {
    const of = (label: string, parts: Partial<Change>, before: Fields): Plan =>
      planOf([organization('acme', label, parts, before)]);
    const plan = of('New', {}, { label: 'Old' });
    expect(await stale(plan, of('Newer', { action: 'adopt' }, { label: 'Older' }))).toEqual([
      'stale plan: Organization/acme was changed on the server, or its record was',
    ]);
    expect(await stale(plan, of('Newer', { action: 'adopt' }, { label: 'Old' }))).toEqual([
      'stale plan: Organization/acme was update in it, and is adopt now',
    ]);
    expect(await stale(plan, of('Newer', {}, { label: 'Old' }))).toEqual([
      'stale plan: Organization/acme is declared differently now',
    ]);
  });

  it("is stale if an object exists now and didn't, or if the recorded generation differs", async () => {
    const of = (parts: Partial<Change['apply']>): Plan => {
      const change = organization('acme', 'New');
      return planOf([{ ...change, apply: { ...change.apply, ...parts } }]);
    };
    const changed = ['stale plan: Organization/acme was changed on the server, or its record was'];
    expect(await stale(of({ existed: false }), of({ existed: true }))).toEqual(changed);
    expect(await stale(of({ generation: 1 }), of({ generation: 2 }))).toEqual(changed);
  });

  it('is not stale because of the order inside sets', async () => {
    const of = (...ids: readonly string[]): Plan =>
      planOf([
        changeOf({
          kind: 'User',
          apply: { ...changeOf().apply, before: { roles: ids.map((id) => ({ id })) } },
        }),
      ]);
    expect(await stale(of('1', '2'), of('2', '1'))).toEqual([]);
    expect(await stale(of('1', '2'), of('1', '3'))).toHaveLength(1);
  });

  it('is stale because of its digest if nothing else differs', async () => {
    const plan = planOf([organization('acme', 'New')]);
    expect(await stale(plan, { ...plan, digest: 'sha256:other' })).toEqual([
      'stale plan: its digest differs now',
    ]);
    expect(await stale(plan, { ...plan, digest: 'sha256:other', environment: 'x' })).toEqual([
      expect.not.stringContaining('digest'),
    ]);
  });

  it('identifies an object by id if its name contains a credential', async () => {
    const plan = planOf([organization('hush', 'New')]);
    const kept = await stored(plan, (text) => text.replaceAll('hush', '(sensitive)'));
    expect(JSON.stringify(kept.apply)).not.toContain('Organization/hush');
    expect(kept.apply.objects[0]?.address).toBe('Organization/id-(sensitive)');
    const named = planOf([
      organization('hush', 'New', { apply: { ...changeOf().apply, key: 'Organization/1' } }),
    ]);
    const byId = await stored(named, (text) => text.replaceAll('hush', '(sensitive)'));
    expect(byId.apply.objects[0]?.address).toBe('Organization/1');
    expect(await staleness(byId, named)).toEqual([]);
  });
});

describe('a file', () => {
  const message = (text: string): string => {
    const read = parseStoredPlan(text, 'plan.json');
    if (isStoredPlan(read)) throw new Error('it was taken');
    expect(read.code).toBe('plan-unreadable');
    return read.message;
  };

  it.each<[string, Partial<Change>]>([
    ['that is to be another', { fields: [fieldOf({ path: 'label', sensitive: true })] }],
    ['that stays', { apply: { ...changeOf().apply, expected: { label: new Sensitive('hunter2hunter2') } } }],
    [
      'of a change that is blocked',
      { action: 'blocked', apply: { ...changeOf().apply, managed: ['label'] } },
    ],
  ])('has no unsalted hash of a live secret %s', async (_, parts) => {
    const before = { label: 'hunter2hunter2', name: 'acme' };
    const change = organization('acme', 'New', parts, before);
    const [sealed, elsewhere, other] = await Promise.all(
      [
        planOf([{ ...change, apply: { ...change.apply, before } }]),
        {
          ...planOf([{ ...change, apply: { ...change.apply, before } }]),
          server: 'https://other.example.com',
        },
        planOf([{ ...change, apply: { ...change.apply, before: { ...before, label: 'hunter3hunter3' } } }]),
      ].map(async (plan) => (await seal(plan, options, same)).objects[0]?.observed),
    );
    // The hash is salted with the server's address, so it differs between servers.
    expect(sealed).not.toBe(elsewhere);
    expect(sealed).not.toBe(other);
  });

  it('has the same hash of a public value everywhere', async () => {
    const plan = planOf([organization('acme', 'New', {}, { label: 'Old' })]);
    const [here, there] = await Promise.all(
      [plan, { ...plan, server: 'https://other.example.com' }].map(
        async (one) => (await seal(one, options, same)).objects[0]?.observed,
      ),
    );
    expect(here).toBe(there);
  });

  it('is read as a stored plan', async () => {
    const plan = await stored(planOf([organization('acme', 'New')]));
    const read = parseStoredPlan(JSON.stringify({ ...plan, more: 1 }), 'plan.json');
    expect(isStoredPlan(read)).toBe(true);
    expect(read).toMatchObject(plan);
  });

  const none = 'it is not a plan that was stored with --out';
  const shown = '{"format_version":1,"server":"s","environment":null,"created_at":"x","digest":"d"';
  const apply = '{"targets":[],"kinds":[],"prune":0,"assert":false,"objects":[]}';
  it.each([
    ['{', 'it is not JSON'],
    ['{"format_version": 2}', 'it has format 2, this idops knows format 1'],
    ['[]', none],
    ['null', none],
    ['{"format_version": "2"}', `${none} (see format_version)`],
    // The JSON of a plan that wasn't stored lacks the member `apply`.
    [`${shown}}`, `${none} (see apply)`],
    [`${shown},"apply":${apply}}`, `${none} (see apply.prune)`],
  ])('that is %s is refused', (text, reason) => {
    expect(message(text)).toBe(`plan.json can't be used: ${reason}`);
  });
});
