import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { SandboxRequest } from '../../src/sandbox/index.js';
import { gate } from '../e2e/gate.js';
import { journals, project } from '../e2e/running.js';
import { ids } from '../sandbox/asking.js';

const labels = ['acme', 'globex', 'initech', 'umbrella'];
const manifest = {
  'manifests/all.yaml': [
    ...labels.map((name) => `kind: Organization\nname: ${name}\nlabel: New\n`),
    `kind: User\nid: ${ids.ada}\ngroup: staff\n`,
    `kind: Client\nid: ${ids.portal}\ndid_generation: 1\n`,
  ].join('---\n'),
};

/** Holds the first writes back until it is told. */
function writesHeld(inFlight: number) {
  const { came, open, intercept } = gate(inFlight);
  return {
    came,
    open,
    intercept: ({ method }: SandboxRequest) => (method === 'GET' ? undefined : intercept()),
  };
}

/** What a signal does in this process, whose listener for it is the command's. */
function signalled(name: 'SIGINT' | 'SIGTERM'): void {
  process.listeners(name).at(-1)?.(name);
}

describe('an apply that is interrupted', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)(
    'by %s ends all that is in flight, and the next one does the rest',
    async (signal) => {
      const { came, open, intercept } = writesHeld(2);
      const at = await project(manifest, { intercept });
      const running = at.idops('apply --yes --concurrency 2');
      await came;
      signalled(signal);
      open();
      const { code, stdout } = await running;
      expect(code).toBe(130);
      expect(stdout).toContain('2 applied');
      expect(at.writes()).toHaveLength(2);
      const files = await at.files();
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

  it('twice ends at once, and the next one settles what was in flight', async () => {
    let writes = 0;
    const at = await project(manifest, {
      // The work is done, and its answer never comes.
      intercept: ({ method }) =>
        method !== 'GET' && ++writes <= 2 ? { kind: 'stall', when: 'after' } : undefined,
    });
    const running = at.begin(['apply', '--yes', '--concurrency', '2']);
    while (at.sandbox.data.organizations.filter(({ label }) => label === 'New').length < 2) await turn();
    // Signals that come at once count as one, so it gets them until it is gone.
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
    expect(next.stderr).toContain('had not ended: 0 of its answers were taken into the state');
    expect(next.stderr).toContain('Organization/acme: was done, as reading it back shows');
    expect((await at.idops('plan --detailed-exitcode')).code).toBe(0);
    // What the first run changed is known to it, so that it can be undone.
    const [journal = ''] = journals(await at.files()).sort();
    const undone = await at.idops(`undo ${journal.replace(/^.*\//, '').replace('.jsonl', '')} --yes`);
    expect(undone.code).toBe(0);
    expect(at.sandbox.data.organizations[0]?.label).toBe('ACME Corp');
  });

  it('while a regeneration is under way does not send it again', async () => {
    const { came, open, intercept } = gate();
    const at = await project(
      { 'manifests/all.yaml': `kind: Client\nid: ${ids.portal}\ndid_generation: 1\n` },
      { intercept: ({ method }) => (method === 'POST' ? intercept() : undefined) },
    );
    expect((await at.idops('apply --yes')).code).toBe(0);
    await at.write({ 'manifests/all.yaml': `kind: Client\nid: ${ids.portal}\ndid_generation: 2\n` });
    const running = at.begin(['apply', '--yes']);
    await came;
    running.child.kill('SIGKILL');
    await running.ended;
    open();
    const posts = () => at.writes().filter((write) => write.startsWith('POST')).length;
    const next = await at.idops('apply --yes');
    expect(next.code).toBe(1);
    expect(next.stderr).toContain('nobody can tell');
    expect(posts()).toBe(1);
  });
});
