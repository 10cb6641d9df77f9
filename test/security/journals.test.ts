import { spawnSync } from 'node:child_process';
import { link, mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { journals, project, type TestProject } from '../e2e/running.js';

const name = '20990101T000000Z-aaaaaa';

describe.skipIf(process.platform === 'win32')('an invalid file among the journals', () => {
  const kinds: readonly [string, (at: TestProject, path: string) => Promise<unknown>, string][] = [
    ['a named pipe', async (_, path) => spawnSync('mkfifo', [path]), 'it is a named pipe'],
    ['a link to a device', async (_, path) => await symlink('/dev/zero', path), 'it is a device'],
    ['a folder', async (_, path) => await mkdir(path), 'it is a folder'],
    [
      'a hard link to a journal',
      async (at, path) => await link(join(at.folder, journals(await at.files())[0] ?? ''), path),
      'line 1 does not name this run',
    ],
  ];

  it.each(kinds)('%s is neither waited for nor removed by the runs commands', async (_, make, why) => {
    const at = await project({ 'manifests/all.yaml': 'kind: Organization\nname: acme\nlabel: One\n' });
    expect((await at.idops('apply --yes')).code).toBe(0);
    await make(at, join(at.folder, '.idops/runs', `${name}.jsonl`));
    const before = await at.files();
    for (const args of [
      'runs',
      `runs show ${name}`,
      `runs settle ${name} Client/x --done --yes`,
      'runs prune --keep-last 0 --yes',
    ]) {
      await at.refused(args, ['error[journal-unreadable]', why]);
    }
    expect(await at.files()).toEqual(before);
  });
});
