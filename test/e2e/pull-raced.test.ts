import { rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFileName } from '../../src/base/write-file.js';
import { ids } from '../demo-ids.js';
import { signal } from './in-process.js';
import { project, refused, trustedConfig } from './running.js';

const manifest = `kind: Organization
id: ${ids.acme}
label: old
---
kind: EmailTemplate
backend_id: ${ids.backend}
type: tx_code
txt_content: {file: ../b/x.txt}
`;
const files = { 'idops.yaml': trustedConfig, 'manifests/a.yaml': manifest, 'b/x.txt': 'old' };

/** A project where `meanwhile` runs before the template's response. */
async function raced(meanwhile: (folder: string) => Promise<unknown>) {
  let folder = '';
  const at = await project(files, {
    intercept: async ({ path }) => {
      if (path.includes('/email-templates/')) await meanwhile(folder);
      return undefined;
    },
  });
  folder = at.folder;
  return at;
}

const linked = (path: string) => rename(path, `${path}.old`).then(() => symlink('x.txt.old', path));

describe('a change of files while the server is read', () => {
  it.each([
    ['a body is edited', 'b/x.txt', (path: string) => writeFile(path, 'precious')],
    ['a body is removed', 'b/x.txt', (path: string) => rm(path)],
    ['a body becomes a link', 'b/x.txt', linked],
    ['a manifest is removed', 'manifests/a.yaml', (path: string) => rm(path)],
  ])('%s: nothing is written, and the change is reported', async (_, which, change) => {
    let after: Awaited<ReturnType<typeof at.files>> = {};
    const at = await raced(async (folder) => {
      await change(join(folder, which)).catch(() => {});
      after = await at.files();
    });
    const said = /error\[(?:file-moved|output-is-input)\]: (?:b\/x\.txt|manifests\/a\.yaml) /;
    await refused(at.idops('pull --type tx_code --force'), said);
    expect(await at.files()).toEqual(after);
  });

  it('that is an interruption exits with 130 and writes nothing, even in the last response', async () => {
    const at = await raced(async () => signal('SIGINT'));
    const ended = await at.idops('pull --type tx_code --force');
    expect(ended).toMatchObject({ code: 130, stdout: '' });
    expect(ended.stderr).toContain('error[interrupted]');
    expect(await at.files()).toEqual(files);
  });
});

describe('the files of a pull', () => {
  it('are written all or not at all, and partial files of a killed pull are removed', async () => {
    const left = temporaryFileName().replace(/^\.idops-\d+/, '.idops-999999999');
    const at = await project({ ...files, [`b/${left}`]: 'half' });
    await at.write({ 'manifests/emails': 'no folder' });
    await refused(at.idops(`pull --backend ${ids.backend} --force`), 'error[not-writable]');
    expect(await at.read('b/x.txt')).toBe('old');
    expect(await at.read('manifests/a.yaml')).toBe(manifest);
    expect(Object.keys(await at.files()).filter((path) => path.endsWith('.tmp'))).toEqual([]);
  });

  it("are not written if their folder can't be created", async () => {
    const at = await project({ ...files, afile: 'x' });
    await refused(at.idops('pull --out afile/below'), 'error[not-writable]: afile/below');
  });
});
