import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { fileRuns } from '../../src/state/file/runs.js';
import { stateSchema } from '../../src/state/state.js';
import { ids } from '../demo-ids.js';
import { project, type Ran, type TestProject } from '../e2e/running.js';
import { onFileEvents } from './file-events.mjs';

export const manifest = {
  'manifests/all.yaml': [
    'kind: Organization\nname: acme\nlabel: New\n',
    'kind: Organization\nname: globex\nlabel: New\n',
    `kind: User\nid: ${ids.ada}\ngroup: staff\n`,
    `kind: User\nid: ${ids.grace}\ngroup: staff\n`,
    `kind: KeyPair\nid: ${ids.secondKey}\nis_default: true\n`,
    `kind: EmailTemplate\nbackend_id: ${ids.backend}\ntype: tx_code\ntxt_content: new {{ code }}\n`,
  ].join('---\n'),
};

/** Reads the state and every journal, if they exist. */
export async function readAll({ folder }: TestProject): Promise<void> {
  const idops = join(folder, '.idops');
  if (existsSync(join(idops, 'state.json'))) {
    stateSchema.parse(JSON.parse(await readFile(join(idops, 'state.json'), 'utf8')));
  }
  const runs = join(idops, 'runs');
  const store = fileRuns(runs);
  for (const name of await store.list()) await store.read(name);
}

/** Runs a command on a disk that accepts only half of a write, from the nth event on. */
export async function onFullDisk(
  at: number,
  run: () => Promise<Ran>,
  count = Number.POSITIVE_INFINITY,
): Promise<Ran> {
  let events = 0;
  let failing = count;
  const release = onFileEvents(async (_, call, halves) => {
    events += 1;
    if (halves === undefined || events < at || failing === 0) return await call();
    failing -= 1;
    await halves.first();
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  });
  return await run().finally(release);
}

/**
 * Makes the disk full at every `step`th event. Expects that everything sent is recorded, and that the next apply
 * converges. Returns how many runs were refused, and how many ended midway.
 */
export async function fillUp(step: number): Promise<{ refused: number; midway: number }> {
  let refused = 0;
  let midway = 0;
  for (let event = 1; event < 40; event += step) {
    const at = await project(manifest);
    const { code, stdout, stderr } = await onFullDisk(event, () => at.idops('apply --yes --concurrency 2'));
    if (code === 0) break;
    expect(code, stderr).toBe(1);
    expect(stderr).toContain('the disk is full (ENOSPC)');
    // Several lines that fail for the same reason are reported once.
    expect(stderr).not.toMatch(/(the disk is full \(ENOSPC\)); \1/);
    await readAll(at);
    if (at.writes().length === 0) {
      refused += 1;
      expect(stderr).toMatch(/error\[(not-writable|run-ended-early)\]/);
    } else {
      midway += 1;
      expect(stderr).toMatch(/error\[(state-not-saved|run-ended-early)\]/);
      // The result reports what was sent.
      const applied = Number(/Applied: (\d+) applied/.exec(stdout)?.[1]);
      expect(applied).toBe(at.writes().length);
    }
    // The journal contains what was sent, with the object before it.
    const runs = join(at.folder, '.idops', 'runs');
    const [name] = await fileRuns(runs).list();
    const lines = name === undefined ? [] : ((await fileRuns(runs).read(name))?.lines ?? []);
    expect(lines.filter(({ type }) => type === 'sending').length).toBeGreaterThanOrEqual(at.writes().length);
    const next = await at.idops('apply --yes');
    expect(next.code, next.stderr).toBe(0);
    expect((await at.idops('plan --detailed-exitcode')).code).toBe(0);
    expect(Object.keys(await at.files()).filter((path) => /lock|\.tmp/.test(path))).toEqual([]);
  }
  return { refused, midway };
}
