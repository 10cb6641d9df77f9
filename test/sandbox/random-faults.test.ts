import { expect, test } from 'vitest';
import type { Intercept } from '../../src/sandbox/index.js';
import { randomFaults } from '../../src/sandbox/random-faults.js';
import { ids } from '../demo-ids.js';
import { start } from './api.js';

function draw(faults: Parameters<typeof randomFaults>[0], method: string, count = 2_000): Intercept[] {
  const chance = randomFaults(faults);
  return Array.from({ length: count }, () => chance(method)).filter((fault) => fault !== undefined);
}

test('without a probability there is no fault', () => {
  expect(draw({ pool: 2, staleScopes: true, seed: 1 }, 'PATCH')).toEqual([]);
});

test('the same seed gives the same faults', () => {
  const faults = { cut: 0.1, 500: 0.1, 503: 0.1, reset: 0.1, seed: 7 };
  expect(draw(faults, 'PATCH')).toEqual(draw(faults, 'PATCH'));
  expect(draw(faults, 'PATCH')).not.toEqual(draw({ ...faults, seed: 8 }, 'PATCH'));
});

test('a probability is how often the fault occurs', () => {
  for (const name of ['cut', 500, 503, 'reset', 'restart'] as const) {
    const { length } = draw({ [name]: 0.25, seed: 3 }, 'PATCH');
    expect(length).toBeGreaterThan(400);
    expect(length).toBeLessThan(600);
  }
});

test('cut affects only PATCH, after each of the steps', () => {
  expect(draw({ cut: 1, seed: 1 }, 'GET')).toEqual([]);
  const steps = draw({ cut: 1, seed: 1 }, 'PATCH').map((fault) => (fault.kind === 'cut' ? fault.step : null));
  expect([...new Set(steps)].sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
});

test('reset happens before the work and after it', () => {
  const resets = draw({ reset: 1, seed: 1 }, 'GET').map((fault) => fault.kind === 'reset' && fault.when);
  expect(new Set(resets)).toEqual(new Set(['before', 'after']));
});

test('500 and 503 are responses, and 503 does nothing', async () => {
  const failing = await start({ faults: { 500: 1 } });
  expect((await failing.ask('GET', '/api/organizations')).status).toBe(500);
  const away = await start({ faults: { 503: 1 } });
  const before = away.sandbox.snapshot();
  const answer = await away.ask('PATCH', `/api/organizations/${ids.acme}`, { organization: { name: 'new' } });
  expect(answer.status).toBe(503);
  expect(away.sandbox.snapshot()).toEqual(before);
});

test('intercept precedes random faults', async () => {
  const { ask } = await start({ faults: { 503: 1 }, intercept: () => ({ kind: 'answer', status: 418 }) });
  expect((await ask('GET', '/api/organizations')).status).toBe(418);
});
