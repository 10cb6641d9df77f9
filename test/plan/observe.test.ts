import { expect, test } from 'vitest';
import { ids, site } from '../boruta/site.js';

test.each([
  ['key pairs are one list and many steps', ids.secondKey],
  ['a key pair that the list does not show is no step more', ids.nobody],
])('progress ends where it was said to end: %s', async (_, second) => {
  const at = await site();
  await at.declare(
    { kind: 'KeyPair', id: ids.firstKey, is_default: true },
    { kind: 'KeyPair', id: second, is_default: false },
    { kind: 'User', id: ids.ada, organizations: ['acme'] },
    { kind: 'Organization', name: 'acme' },
  );
  let total = 0;
  let steps = 0;
  const progress = {
    phase: (_name: string, size: number) => {
      total += size;
    },
    step: () => {
      steps += 1;
    },
    end: () => {},
  };
  await at.session(async (session) => session.plan(), progress);
  expect(total).toBe(4);
  expect(steps).toBe(total);
});
