import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ids } from '../demo-ids.js';
import { holdWrites } from '../e2e/gate.js';
import { journals, project } from '../e2e/running.js';

const labels = ['acme', 'globex', 'initech', 'umbrella'];
const manifest = {
  'manifests/all.yaml': [
    ...labels.map((name) => `kind: Organization\nname: ${name}\nlabel: New\n`),
    `kind: User\nid: ${ids.ada}\ngroup: staff\n`,
    `kind: Client\nid: ${ids.portal}\ndid_generation: 1\n`,
  ].join('---\n'),
};

describe('an interrupted apply', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)(
    'by %s finishes and records what is in flight, and the next apply does the rest',
    async (signal) => {
      const { arrived, open, intercept } = holdWrites(2);
      const at = await project(manifest, { intercept });
      const running = at.begin(['apply', '--yes', '--concurrency', '2']);
      await arrived;
      running.child.kill(signal);
      await running.waitFor('Finishing 2 in flight');
      open();
      const { code, stdout } = await running.ended;
      expect(code).toBe(130);
      expect(stdout).toContain('Interrupted');
      expect(stdout).toContain('Applied: 2 applied, 4 skipped.');
      expect(at.writes()).toHaveLength(2);
      const files = await at.files();
      expect(Object.keys(JSON.parse(files['.idops/state.json'] ?? '').resources)).toHaveLength(2);
      expect(Object.keys(files).filter((path) => path.includes('lock'))).toEqual([]);
      const [journal = ''] = journals(files);
      expect(JSON.parse(files[journal]?.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
        type: 'end',
        interrupted: true,
      });
      expect((await at.idops('runs')).stdout).toContain('(interrupted)');
      const next = await at.idops('apply --yes');
      expect(next.code).toBe(0);
      expect(next.stderr).not.toContain('had not ended');
      expect(at.writes()).toHaveLength(5);
      expect((await at.idops('plan --detailed-exitcode')).code).toBe(0);
    },
  );

  it('twice ends immediately, and the next apply settles what was in flight', async () => {
    let writes = 0;
    const at = await project(manifest, {
      // The change is made, and its response never arrives.
      intercept: ({ method }) =>
        method !== 'GET' && ++writes <= 2 ? { kind: 'stall', when: 'after' } : undefined,
    });
    const running = at.begin(['apply', '--yes', '--concurrency', '2']);
    while (at.sandbox.data.organizations.filter(({ label }) => label === 'New').length < 2) await turn();
    // Pending signals count as one, so they are repeated until the process ends.
    while (running.child.exitCode === null && running.child.signalCode === null) {
      running.child.kill('SIGINT');
      await turn();
    }
    const { code, signal } = await running.ended;
    expect(code ?? signal).toBe('SIGINT');
    const shown = await at.idops('runs');
    expect(shown.stdout).toContain('2 without an answer (unfinished)');
    const next = await at.idops('apply --yes');
    expect(next.code).toBe(0);
    expect(next.stderr).toContain('took over the lock of apply');
    expect(next.stderr).toContain('had not ended: none of its answers were taken into the state');
    expect(next.stderr).toContain('Organization/acme: was done, as reading it back shows');
    expect((await at.idops('plan --detailed-exitcode')).code).toBe(0);
    // The first run's changes are settled, so that it can be undone.
    const [journal = ''] = journals(await at.files()).sort();
    const undone = await at.idops(`undo ${journal.replace(/^.*\//, '').replace('.jsonl', '')} --yes`);
    expect(undone.code).toBe(0);
    expect(at.sandbox.data.organizations[0]?.label).toBe('ACME Corp');
  });
});
