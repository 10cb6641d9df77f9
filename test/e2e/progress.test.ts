import { describe, expect, test } from 'vitest';
import { gate } from './gate.js';
import { project, sure } from './running.js';
import { sit } from './terminal.js';

const users = Array.from({ length: 5 }, (_, index) => `kind: User\nid: user-${index}\ngroup: staff\n`);
const files = { 'idops.yaml': sure, 'manifests/all.yaml': users.join('---\n') };

describe('in a terminal', () => {
  test('Ctrl-C says what it waits for, and what was not sent in one line', async () => {
    const { came, open, intercept } = gate();
    const made = await project(files, { intercept });
    const at = sit(made, ['apply', '--yes', '--concurrency', '1']);
    await came;
    at.type('\u0003');
    await at.shown('Finishing 1 in flight; a second Ctrl-C ends at once and leaves them open.');
    open();
    expect(await at.ended).toBe(130);
    expect(at.screen()).toContain('- 4 interrupted before it was sent');
    expect(made.writes()).toHaveLength(1);
  });

  test('a second Ctrl-C says what it leaves open', async () => {
    const { came, intercept } = gate();
    const made = await project(files, { intercept });
    const at = sit(made, ['apply', '--yes', '--concurrency', '1']);
    await came;
    at.type('\u0003');
    await at.shown('Finishing 1 in flight');
    at.type('\u0003');
    expect(await at.ended).toBe(130);
    expect(at.screen()).toContain('Ended at once. Left open: User/user-0; the next plan');
  });

  test('retries and failures are seen as they happen', async () => {
    const { came, open, intercept } = gate();
    let asked = 0;
    const refused = { code: 'UNPROCESSABLE_ENTITY', message: 'no', errors: { group: ['is taken'] } };
    const made = await project(files, {
      intercept: async ({ method, path }) => {
        if (method === 'GET') return undefined;
        if (path.endsWith('user-0')) {
          asked += 1;
          return asked === 1 ? { kind: 'answer', status: 503 } : undefined;
        }
        return path.endsWith('user-1') ? { kind: 'answer', status: 422, body: refused } : await intercept();
      },
    });
    const at = sit(made, ['apply', '--yes', '--concurrency', '1'], { columns: 160 });
    await at.shown('retrying, attempt 2 of 4: answered 503 (service unavailable)');
    await came;
    await at.shown('✗ User/user-1 failed: update a user: PATCH /api/users/user-1 answered 422');
    open();
    expect(await at.ended).toBe(1);
  });
});
