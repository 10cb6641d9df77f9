import { describe, expect, it } from 'vitest';
import { journals, project, type TestProject } from '../e2e/running.js';
import { ids } from '../sandbox/asking.js';

const labels = ['acme', 'globex', 'initech', 'umbrella'];
const manifest = {
  'manifests/all.yaml': [
    ...labels.map((name) => `kind: Organization\nname: ${name}\nlabel: New\n`),
    `kind: User\nid: ${ids.ada}\ngroup: staff\n`,
    `kind: Client\nid: ${ids.portal}\ndid_generation: 1\n`,
  ].join('---\n'),
};

/** A server that holds the first writes back until it is told. */
async function held(
  inFlight: number,
  when: 'before' | 'after' = 'before',
): Promise<{ at: TestProject; came: Promise<void>; open: () => void }> {
  let come = (): void => {};
  let open = (): void => {};
  const came = new Promise<void>((done) => {
    come = done;
  });
  const opened = new Promise<void>((done) => {
    open = done;
  });
  let writes = 0;
  const at = await project(manifest, {
    intercept: async ({ method }) => {
      if (method === 'GET') return undefined;
      writes += 1;
      if (when === 'after') {
        // The work is done, and its answer never comes.
        if (writes === inFlight) setTimeout(come, 100);
        return writes <= inFlight ? { kind: 'stall', when: 'after' } : undefined;
      }
      if (writes === inFlight) come();
      await opened;
      return undefined;
    },
  });
  return { at, came, open: () => open() };
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 150));

describe('an apply that is interrupted', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)(
    'by %s ends all that is in flight, and the next one does the rest',
    async (signal) => {
      const { at, came, open } = await held(2);
      const running = at.begin(['apply', '--yes', '--concurrency', '2']);
      await came;
      running.child.kill(signal);
      await pause();
      open();
      const { code, stdout } = await running.ended;
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
    const { at, came, open } = await held(2, 'after');
    const running = at.begin(['apply', '--yes', '--concurrency', '2']);
    await came;
    running.child.kill('SIGINT');
    await pause();
    running.child.kill('SIGINT');
    const { code, signal } = await running.ended;
    expect(code ?? signal).toBe('SIGINT');
    open();
    await pause();
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
    const { at, came, open } = await held(6);
    await at.write({ 'manifests/all.yaml': manifest['manifests/all.yaml'] });
    open();
    expect((await at.idops('apply --yes')).code).toBe(0);
    await at.write({ 'manifests/all.yaml': `kind: Client\nid: ${ids.portal}\ndid_generation: 2\n` });
    const running = at.begin(['apply', '--yes']);
    await came;
    running.child.kill('SIGKILL');
    await running.ended;
    const posts = () => at.writes().filter((write) => write.startsWith('POST')).length;
    const next = await at.idops('apply --yes');
    expect(next.code).toBe(next.stderr.includes('nobody can tell') ? 1 : 0);
    expect(posts()).toBe(1);
  });
});
