import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { fileRuns } from '../../src/state/file/runs.js';
import { stateSchema } from '../../src/state/state.js';
import { project, type Ran, type TestProject } from '../e2e/running.js';
import { ids } from '../sandbox/asking.js';
import { onFileEvents } from './file-events.mjs';

const users = Array.from(
  { length: 6 },
  (_, index) => `kind: User\nid: ${ids.ada.slice(0, -2)}${10 + index}\ngroup: g\n`,
);
const manifest = {
  'manifests/all.yaml': [
    'kind: Organization\nname: acme\nlabel: New\n',
    'kind: Organization\nname: globex\nlabel: New\n',
    `kind: User\nid: ${ids.ada}\ngroup: staff\n`,
    `kind: User\nid: ${ids.grace}\ngroup: staff\n`,
    `kind: KeyPair\nid: ${ids.secondKey}\nis_default: true\n`,
    `kind: EmailTemplate\nbackend_id: ${ids.backend}\ntype: tx_code\ntxt_content: new {{ code }}\n`,
  ].join('---\n'),
};

/** The state and every journal, which must be readable; none of either is fine. */
async function readAll({ folder }: TestProject): Promise<void> {
  const idops = join(folder, '.idops');
  if (existsSync(join(idops, 'state.json'))) {
    stateSchema.parse(JSON.parse(await readFile(join(idops, 'state.json'), 'utf8')));
  }
  const runs = join(idops, 'runs');
  const store = fileRuns(runs);
  for (const name of await store.list()) await store.read(name);
}

describe('a disk that gets full', () => {
  /** Runs a command on a disk that takes half a write and nothing more, from the nth thing done with files on. */
  async function full(at: number, run: () => Promise<Ran>, count = Number.POSITIVE_INFINITY): Promise<Ran> {
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

  it('anywhere: nothing is sent that is not recorded, and the next apply converges', async () => {
    let refused = 0;
    let midway = 0;
    for (let event = 1; event < 40; event += 2) {
      const at = await project(manifest);
      const { code, stdout, stderr } = await full(event, () => at.idops('apply --yes --concurrency 2'));
      if (code === 0) break;
      expect(code, stderr).toBe(1);
      expect(stderr).toContain('the disk is full (ENOSPC)');
      // Several lines that fail by one cause are no reason to say it several times.
      expect(stderr).not.toMatch(/(the disk is full \(ENOSPC\)); \1/);
      await readAll(at);
      if (at.writes().length === 0) {
        refused += 1;
        expect(stderr).toMatch(/error\[(not-writable|run-ended-early)\]/);
      } else {
        midway += 1;
        expect(stderr).toMatch(/error\[(state-not-saved|run-ended-early)\]/);
        // What was sent is told.
        const applied = Number(/Applied: (\d+) applied/.exec(stdout)?.[1]);
        expect(applied).toBe(at.writes().length);
      }
      // What was sent is in the journal, with the object as it was.
      const runs = join(at.folder, '.idops', 'runs');
      const [name] = await fileRuns(runs).list();
      const lines = name === undefined ? [] : ((await fileRuns(runs).read(name))?.lines ?? []);
      expect(lines.filter(({ type }) => type === 'sending').length).toBeGreaterThanOrEqual(
        at.writes().length,
      );
      const next = await at.idops('apply --yes');
      expect(next.code, next.stderr).toBe(0);
      expect((await at.idops('plan --detailed-exitcode')).code).toBe(0);
      expect(Object.keys(await at.files()).filter((path) => /lock|\.tmp/.test(path))).toEqual([]);
    }
    expect(refused).toBeGreaterThan(2);
    expect(midway).toBeGreaterThan(4);
  });

  it('and has room again: what came after a line that did not fit can be read', async () => {
    for (let event = 6; event < 22; event += 3) {
      const at = await project(manifest);
      const { code } = await full(event, () => at.idops('apply --yes --concurrency 6'), 1);
      expect(code).toBe(1);
      await readAll(at);
      const next = await at.idops('apply --yes');
      expect(next.code, next.stderr).toBe(0);
      expect((await at.idops('plan --detailed-exitcode')).code).toBe(0);
    }
  });
});

const mounts: string[] = [];
const canMount = ((): boolean => {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  const probe = spawnSync('sh', [
    '-c',
    'd=$(mktemp -d) && mount -t tmpfs -o size=16k tmpfs "$d" && umount "$d"',
  ]);
  return probe.status === 0;
})();

afterEach(async () => {
  for (const folder of mounts.splice(0)) {
    spawnSync('umount', ['-l', folder]);
    await rm(folder, { recursive: true, force: true });
  }
});

/** A file system of its own, a few pages large. */
async function smallDisk(kilobytes: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'idops-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kilobytes}k`, 'tmpfs', folder]);
  mounts.push(folder);
  return folder;
}

const config = (state: string): string =>
  `version: 1\nserver: {base_url: "\${IDOPS_BASE_URL}", auth: {token: "\${IDOPS_TOKEN}"}}\nstate: {path: ${state}}\n`;

describe.skipIf(!canMount)('a small disk', () => {
  it('that is full is refused before the first request', async () => {
    const disk = await smallDisk(16);
    spawnSync('sh', ['-c', `head -c 100000 /dev/zero > ${join(disk, 'filler')}`]);
    const { idops, sandbox } = await project({ ...manifest, 'idops.yaml': config(join(disk, 'state.json')) });
    const { code, stderr } = await idops('apply --yes');
    expect(code).toBe(1);
    expect(stderr).toContain('error[not-writable]');
    expect(stderr).toContain('ENOSPC');
    expect(sandbox.requests).toEqual([]);
    expect(await readdir(disk)).toEqual(['filler']);
  });

  it('that gets full on the way leaves a state and journals that can be read', async () => {
    for (const kilobytes of [24, 32, 40, 52]) {
      const disk = await smallDisk(kilobytes);
      const many = { 'manifests/all.yaml': [manifest['manifests/all.yaml'], ...users].join('---\n') };
      const at = await project({ ...many, 'idops.yaml': config(join(disk, 'state.json')) });
      for (let index = 0; index < users.length; index += 1) {
        const [ada] = at.sandbox.data.users;
        if (ada !== undefined) {
          at.sandbox.data.users.push({ ...structuredClone(ada), id: `${ids.ada.slice(0, -2)}${10 + index}` });
        }
      }
      const { code, stderr } = await at.idops('apply --yes');
      if (code === 0) continue;
      expect(code).toBe(1);
      expect(stderr).toContain('ENOSPC');
      for (const name of await readdir(join(disk, 'runs')).catch(() => [])) {
        await fileRuns(join(disk, 'runs')).read(name.replace('.jsonl', ''));
      }
      execFileSync('mount', ['-o', 'remount,size=10m', disk]);
      const next = await at.idops('apply --yes');
      expect(next.code, next.stderr).toBe(0);
      expect((await at.idops('plan --detailed-exitcode')).code).toBe(0);
    }
  });

  it('that can only be read is refused before the first request, and planned from', async () => {
    const disk = await smallDisk(64);
    await mkdir(join(disk, 'runs'));
    const at = await project({ ...manifest, 'idops.yaml': config(join(disk, 'state.json')) });
    expect((await at.idops('apply --yes')).code).toBe(0);
    await at.write({ 'manifests/all.yaml': 'kind: Organization\nname: acme\nlabel: Newer\n' });
    execFileSync('mount', ['-o', 'remount,ro', disk]);
    const before = at.sandbox.requests.length;
    const { code, stderr } = await at.idops('apply --yes');
    expect(code).toBe(1);
    expect(stderr).toContain('error[not-writable]');
    expect(stderr).toContain('EROFS');
    expect(at.sandbox.requests).toHaveLength(before);
    expect((await at.idops('plan --detailed-exitcode')).code).toBe(2);
  });
});

describe('a place that can not be written', () => {
  it('as the folder of the journals is refused before anything is written to the server', async () => {
    const at = await project({ ...manifest, '.idops/runs': 'a file' });
    const { code, stderr } = await at.idops('apply --yes');
    expect(code).toBe(1);
    expect(stderr).toContain('.idops/runs');
    expect(at.writes()).toEqual([]);
  });

  it('as the folder of the state is refused before the first request', async () => {
    const at = await project({ ...manifest, '.idops': 'a file' });
    const { code, stderr } = await at.idops('apply --yes');
    expect(code).toBe(1);
    expect(stderr).toContain('error[not-writable]');
    expect(at.sandbox.requests).toEqual([]);
  });

  it.skipIf(process.getuid?.() === 0)('as a folder without permission is refused', async () => {
    const at = await project(manifest);
    await mkdir(join(at.folder, '.idops'), { mode: 0o500 });
    const { code, stderr } = await at.idops('apply --yes');
    expect(code).toBe(1);
    expect(stderr).toContain('EACCES');
    expect(at.sandbox.requests).toEqual([]);
  });

  it('a state is for its owner alone', async () => {
    const at = await project(manifest);
    await at.idops('apply --yes');
    const [run] = await readdir(join(at.folder, '.idops', 'runs'));
    for (const path of ['state.json', `runs/${run}`]) {
      expect((await stat(join(at.folder, '.idops', path))).mode & 0o777).toBe(0o600);
    }
  });
});
