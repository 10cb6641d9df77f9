import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { startSandbox } from '../../src/sandbox/index.js';
import { taken, userFields } from '../kinds/generating/boruta.js';
import { often } from '../often.js';
import { comparable, type Doc, ids, restore, type SiteOptions, site, todo } from './site.js';

const runs = 15;

function documents(profile: 'documented' | 'boruta'): fc.Arbitrary<Doc[]> {
  const user = fc
    .tuple(fc.constantFrom(ids.ada, ids.grace), userFields(profile))
    .map(([id, fields]): Doc => ({ kind: 'User', id, whole: ['metadata'], ...fields }));
  const organization = fc
    .tuple(
      fc.constantFrom(ids.acme, ids.globex, ids.umbrella),
      fc.record({ name: taken, label: fc.option(taken) }, { requiredKeys: [] }),
    )
    .map(([id, fields]): Doc => ({ kind: 'Organization', id, ...fields }));
  const template = fc
    .tuple(
      fc.constantFrom('confirmation_instructions', 'reset_password_instructions', 'tx_code'),
      fc.oneof(
        fc.record({ txt_content: taken, html_content: taken }, { requiredKeys: [] }),
        fc.constant({ state: 'absent' }),
      ),
    )
    .map(([type, fields]): Doc => ({ kind: 'EmailTemplate', backend_id: ids.backend, type, ...fields }));
  const keyPair = fc
    .constantFrom(ids.firstKey, ids.secondKey, ids.thirdKey)
    .map((id): Doc => ({ kind: 'KeyPair', id, is_default: true }));
  return fc
    .tuple(
      fc.uniqueArray(fc.oneof(user, organization, template), {
        maxLength: 5,
        selector: ({ kind, id, type }) => `${kind}/${String(id ?? type)}`,
      }),
      fc.option(keyPair),
    )
    .map(([many, pair]) => (pair === null ? many : [...many, pair]));
}

async function converges(options: SiteOptions & { profile: 'documented' | 'boruta' }): Promise<void> {
  await fc.assert(
    fc.asyncProperty(documents(options.profile), documents(options.profile), async (first, second) => {
      const at = await site(options);
      for (const declared of [first, second]) {
        if (declared.length === 0) continue;
        const before = at.sandbox.snapshot();
        const ran = await at.apply(...declared);
        expect(ran.results.filter(({ status }) => status !== 'applied')).toEqual([]);
        expect(todo(await at.plan())).toEqual([]);
        if (ran.run === null || options.profile !== 'boruta') continue;
        // What can be undone is as it was, and then done again.
        const undone = await at.undo(ran.run);
        expect(undone.left).toEqual([]);
        expect(comparable(at.sandbox.snapshot())).toEqual(comparable(before));
        await at.apply();
      }
      await at.sandbox.close();
    }),
    { numRuns: often(runs) },
  );
}

test('boruta: apply, nothing is left to do, undo, all is as it was', async () => {
  await converges({ profile: 'boruta' });
});

test('documented: apply, nothing is left to do', async () => {
  await converges({ profile: 'documented' });
});

test('whatever breaks on the way, a second apply without faults converges', async () => {
  const at = await site({ concurrency: 4 });
  const seed = at.sandbox.snapshot();
  const faults = fc.array(
    fc.constantFrom(
      null,
      { kind: 'answer', status: 500, body: {} } as const,
      { kind: 'replace', status: 500, body: {} } as const,
      { kind: 'answer', status: 422, body: {} } as const,
      { kind: 'answer', status: 403, body: {} } as const,
    ),
    { minLength: 1, maxLength: 6 },
  );
  await fc.assert(
    fc.asyncProperty(documents('boruta'), faults, async (declared, given) => {
      fc.pre(declared.length > 0);
      restore(at, seed);
      const left = [...given];
      at.fault = ({ method }) => (method === 'GET' ? undefined : (left.shift() ?? undefined));
      const broken = await at.apply(...declared);
      at.fault = undefined;
      const good = broken.results.every(({ status }) => status === 'applied');
      if (good) expect(todo(await at.plan())).toEqual([]);
      const mended = await at.apply();
      expect(mended.results.every(({ status }) => status === 'applied')).toBe(true);
      const wanted = await reference(seed, declared);
      expect(comparable(at.sandbox.snapshot())).toEqual(wanted);
    }),
    { numRuns: often(runs) },
  );
});

/** What a run without any fault makes of the data. */
async function reference(
  seed: Awaited<ReturnType<typeof startSandbox>>['data'],
  declared: Doc[],
): Promise<object> {
  const at = await site({ seed });
  await at.apply(...declared);
  const end = comparable(at.sandbox.snapshot());
  await at.sandbox.close();
  return end;
}
