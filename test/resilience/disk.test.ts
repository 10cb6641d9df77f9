import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fileRuns } from '../../src/state/file/runs.js';
import { afterwards, temporaryFolder } from '../cleanups.js';
import { ids } from '../demo-ids.js';
import { config, project } from '../e2e/running.js';
import { fillUp, manifest, onFullDisk, readAll } from './full-disk.js';

const users = Array.from(
  { length: 6 },
  (_, index) => `kind: User\nid: ${ids.ada.slice(0, -2)}${10 + index}\ngroup: g\n`,
);
describe('a disk that becomes full', () => {
  it('at any event: everything sent is recorded, and the next apply converges', async () => {
    const { refused, midway } = await fillUp(6);
    expect(refused).toBeGreaterThan(0);
    expect(midway).toBeGreaterThan(1);
  });

  it("and has space again: lines after one that didn't fit can be read", async () => {
    for (const event of [6, 12, 18]) {
      const at = await project(manifest);
      const { code } = await onFullDisk(event, () => at.idops('apply --yes --concurrency 6'), 1);
      expect(code).toBe(1);
      await readAll(at);
      const next = await at.idops('apply --yes');
      expect(next.code, next.stderr).toBe(0);
      expect((await at.idops('plan --detailed-exitcode')).code).toBe(0);
    }
  });
});

const canMount = ((): boolean => {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  const probe = spawnSync('sh', [
    '-c',
    'd=$(mktemp -d) && mount -t tmpfs -o size=16k tmpfs "$d" && umount "$d"',
  ]);
  return probe.status === 0;
})();

/** A file system with a few pages. */
async function smallDisk(kilobytes: number): Promise<string> {
  const folder = await temporaryFolder('disk');
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kilobytes}k`, 'tmpfs', folder]);
  afterwards(() => spawnSync('umount', ['-l', folder]));
  return folder;
}

const stateIn = (disk: string) => ({ 'idops.yaml': `${config}state: {path: ${join(disk, 'state.json')}}\n` });

describe.skipIf(!canMount)('a small disk', () => {
  it('is refused before the first request if it is full', async () => {
    const disk = await smallDisk(16);
    spawnSync('sh', ['-c', `head -c 100000 /dev/zero > ${join(disk, 'filler')}`]);
    const { refused, sandbox } = await project({ ...manifest, ...stateIn(disk) });
    await refused('apply --yes', ['error[not-writable]', 'ENOSPC']);
    expect(sandbox.requests).toEqual([]);
    expect(await readdir(disk)).toEqual(['filler']);
  });

  it('leaves readable state and journals if it becomes full during apply', async () => {
    for (const kilobytes of [24, 32, 40, 52]) {
      const disk = await smallDisk(kilobytes);
      const many = { 'manifests/all.yaml': [manifest['manifests/all.yaml'], ...users].join('---\n') };
      const at = await project({ ...many, ...stateIn(disk) });
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

  it('is refused before the first request if it is read-only, but a plan works', async () => {
    const disk = await smallDisk(64);
    await mkdir(join(disk, 'runs'));
    const at = await project({ ...manifest, ...stateIn(disk) });
    expect((await at.idops('apply --yes')).code).toBe(0);
    await at.write({ 'manifests/all.yaml': 'kind: Organization\nname: acme\nlabel: Newer\n' });
    execFileSync('mount', ['-o', 'remount,ro', disk]);
    const before = at.sandbox.requests.length;
    await at.refused('apply --yes', ['error[not-writable]', 'EROFS']);
    expect(at.sandbox.requests).toHaveLength(before);
    expect((await at.idops('plan --detailed-exitcode')).code).toBe(2);
  });
});

describe('an unwritable place', () => {
  it('for the journals is refused before any change', async () => {
    const at = await project({ ...manifest, '.idops/runs': 'a file' });
    await at.refused('apply --yes', '.idops/runs');
    expect(at.writes()).toEqual([]);
  });

  it('for the state is refused before the first request', async () => {
    const at = await project({ ...manifest, '.idops': 'a file' });
    await at.refused('apply --yes', 'error[not-writable]');
    expect(at.sandbox.requests).toEqual([]);
  });

  it.skipIf(process.getuid?.() === 0)('without permission is refused', async () => {
    const at = await project(manifest);
    await mkdir(join(at.folder, '.idops'), { mode: 0o500 });
    await at.refused('apply --yes', 'EACCES');
    expect(at.sandbox.requests).toEqual([]);
  });
});
