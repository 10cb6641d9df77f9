import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { lstat, mkdir, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFileName } from '../../src/base/write-file.js';
import { acquireLock } from '../../src/state/file/lock.js';
import { ids } from '../demo-ids.js';
import { cli, project, type Ran, type TestProject, trustedConfig, watch } from '../e2e/running.js';

const files = {
  'manifests/all.yaml': `kind: Organization\nname: acme\nlabel: New\n---\nkind: EmailTemplate\nbackend_id: ${ids.backend}\ntype: tx_code\ntxt_content: {file: ../bodies/tx.txt}\n`,
  'bodies/tx.txt': 'Your code: {{ code }}\n',
};
const posix = describe.skipIf(process.platform === 'win32');

async function shell(at: TestProject, line: string): Promise<Ran> {
  const args = ['-c', line.replaceAll('idops ', `"${process.execPath}" "${cli}" `)];
  const env = { PATH: process.env.PATH, IDOPS_BASE_URL: at.sandbox.url, IDOPS_TOKEN: at.sandbox.token };
  return await watch(spawn('sh', args, { cwd: at.folder, env })).ended;
}

posix('an output file', () => {
  it('is refused if two options name it, in any spelling', async () => {
    const at = await project(files);
    await mkdir(join(at.folder, 'out'));
    await writeFile(join(at.folder, 'out/old.json'), 'old');
    await symlink('out/old.json', join(at.folder, 'there.json'));
    await symlink('out', join(at.folder, 'way'));
    for (const args of [
      'plan --out s.json --format json=s.json',
      'plan --out s.json --format json=./s.json',
      'plan --format html=s.html --format markdown=out/../s.html',
      'plan --format json=there.json --format markdown=out/old.json',
      'plan --out way/new.json --format json=out/new.json',
      'validate --format json=v.json --format github=v.json',
    ]) {
      const { code, stderr } = await at.idops(args);
      expect(code, args).toBe(1);
      expect(stderr, args).toMatch(/error\[wrong-option\]: .*(is named twice|are the same file)/);
    }
    expect(at.sandbox.requests).toEqual([]);
    expect((await at.files())['out/old.json']).toBe('old');
    expect((await at.idops('plan --format json=/dev/null --format markdown=/dev/null')).code).toBe(0);
    expect((await at.idops('plan --out one.json --format json=two.json')).code).toBe(0);
  });

  it('is written to the target of a link, and the link stays', async () => {
    const at = await project(files);
    await mkdir(join(at.folder, 'out'));
    await writeFile(join(at.folder, 'out/old.json'), 'old');
    await symlink('out/old.json', join(at.folder, 'there.json'));
    await symlink('out/new.json', join(at.folder, 'dangling.json'));
    for (const name of ['there.json', 'dangling.json']) {
      expect((await at.idops(`plan --format json=${name}`)).code).toBe(0);
      expect((await lstat(join(at.folder, name))).isSymbolicLink()).toBe(true);
      expect(JSON.parse(await at.read(name)).format_version).toBe(1);
    }
    expect((await readdir(join(at.folder, 'out'))).sort()).toEqual(['new.json', 'old.json']);
  });

  it.skipIf(!existsSync('/dev/full'))(
    'may be a device, which is kept, and a full device is reported',
    async () => {
      const at = await project(files);
      expect((await at.idops('plan --format json=/dev/null')).code).toBe(0);
      await symlink('/dev/full', join(at.folder, 'full.json'));
      for (const path of ['/dev/full', 'full.json']) {
        const full = await at.refused(`plan --format json=${path}`, ['error[not-writable]', 'ENOSPC']);
        expect(full.stderr).not.toMatch(/^\s+at /m);
      }
      for (const device of ['/dev/null', '/dev/full'])
        expect((await stat(device)).isCharacterDevice()).toBe(true);
    },
  );

  it('may be a named pipe or /dev/stdout', async () => {
    const at = await project(files);
    const piped = await shell(at, 'mkfifo p; cat p > got & idops plan --format json=p >&2 && wait');
    expect(piped.code).toBe(0);
    expect(JSON.parse(await at.read('got')).format_version).toBe(1);
    expect((await lstat(join(at.folder, 'p'))).isFIFO()).toBe(true);
    const out = await shell(at, 'idops plan --format json=/dev/stdout --format text=/dev/null | cat');
    expect(out.stdout).toContain('"format_version": 1');
  });

  it.each([
    'idops.yaml',
    './manifests/../idops.yaml',
    'manifests/all.yaml',
    'link.yaml',
    'manifests/new.yaml',
    'bodies/tx.txt',
    '.idops/state.json',
    '.idops/state.json.lock',
    '.idops/runs/x.jsonl',
  ])('may not be %s', async (path) => {
    const at = await project(files);
    await symlink('manifests/all.yaml', join(at.folder, 'link.yaml'));
    const before = await at.files();
    for (const args of [
      `apply --yes --format json=${path}`,
      `plan --out ${path}`,
      `validate --format json=${path}`,
    ]) {
      await at.refused(args, 'error[output-is-input]');
    }
    expect(at.writes()).toEqual([]);
    const after = await at.files();
    for (const [name, text] of Object.entries(before)) expect(after[name]).toBe(text);
  });

  it.each([
    ['a link to the state', { l2: '.idops/state.json' }, 'l2'],
    ['a link to a link to the state', { l2: 'l3', l3: '.idops/state.json' }, 'l2'],
    ['a link in the folder of the state', { '.idops/l2': 'state.json' }, '.idops/l2'],
    ['the state in a folder that a link leads to', { lnk: '.idops' }, 'lnk/state.json'],
    ['the lock in a folder that a link leads to', { lnk: '.idops' }, 'lnk/state.json.lock'],
    ['a journal in a folder that a link leads to', { lnk: '.idops/runs' }, 'lnk/x.jsonl'],
  ] as const)('may not be %s, before or after it exists', async (_, links, path) => {
    const at = await project(files);
    await mkdir(join(at.folder, '.idops/runs'), { recursive: true });
    for (const [name, target] of Object.entries(links)) await symlink(target, join(at.folder, name));
    const refused = async () => {
      for (const args of [`plan --out ${path}`, `plan --format html=${path}`, `preview --out ${path}`]) {
        await at.refused(args, 'error[output-is-input]');
      }
    };
    await refused();
    expect(existsSync(join(at.folder, '.idops/state.json'))).toBe(false);
    expect((await at.idops('apply --yes')).code).toBe(0);
    const state = await at.read('.idops/state.json');
    await refused();
    expect(await at.read('.idops/state.json')).toBe(state);
  });

  it.each(['samples/tx_code.yaml', 'manifests/samples/tx_code.yaml', 'there.html'])(
    'may not be sample data: %s',
    async (path) => {
      const at = await project({ ...files, 'samples/tx_code.yaml': 'code: "1"\n' });
      await symlink('samples/tx_code.yaml', join(at.folder, 'there.html'));
      for (const args of [`plan --out ${path}`, `plan --format html=${path}`, `preview --out ${path}`])
        await at.refused(args, 'error[output-is-input]');
      expect(await at.read('samples/tx_code.yaml')).toBe('code: "1"\n');
    },
  );

  it('may not be the target of a state that is a link', async () => {
    const at = await project(files);
    await mkdir(join(at.folder, '.idops'));
    await mkdir(join(at.folder, 'far'));
    await symlink('../far/s.json', join(at.folder, '.idops/state.json'));
    await at.refused('plan --out far/s.json', 'error[output-is-input]');
  });

  it('may not be the plan that is applied', async () => {
    const at = await project(files);
    expect((await at.idops('plan --out plan.json')).code).toBe(0);
    const stored = await at.read('plan.json');
    for (const name of ['plan.json', './manifests/../plan.json']) {
      await at.refused(`apply plan.json --format html=${name}`, 'error[wrong-option]');
    }
    expect(await at.read('plan.json')).toBe(stored);
    expect(at.writes()).toEqual([]);
  });

  it('may not be a file that pull reads or writes, and then nothing is pulled', async () => {
    const at = await project(files);
    const before = await at.files();
    for (const path of ['manifests/all.yaml', 'bodies/tx.txt', 'idops.yaml', '.idops/state.json'])
      await at.refused(`pull --format json=${path}`, 'error[output-is-input]');
    await at.refused('pull --format json=fresh/organizations.yaml --out fresh', 'error[wrong-option]');
    expect(await at.files()).toEqual(before);
  });

  it('may not be a manifest of another environment', async () => {
    const production = 'environments:\n  production: {manifests: [production/*.yaml]}\n';
    const manifest = 'kind: Organization\nname: acme\n';
    const at = await project({
      ...files,
      'idops.yaml': `${trustedConfig}${production}`,
      'production/a.yaml': manifest,
    });
    await at.refused('plan --out production/a.yaml', 'error[output-is-input]');
    expect(await at.read('production/a.yaml')).toBe(manifest);
  });

  it('may not be the configuration, even if that is broken', async () => {
    const at = await project({ ...files, 'idops.yaml': 'version: [' });
    const ran = await at.idops('validate --format json=idops.yaml');
    expect(ran.code).toBe(1);
    expect(await at.read('idops.yaml')).toBe('version: [');
  });
});

posix('standard output', () => {
  it.skipIf(!existsSync('/dev/full')).each(['plan', '--help', 'schema', '--version'])(
    'that is full ends %s with a message and exit code 1',
    async (args) => {
      const at = await project(files);
      const { code, stderr } = await shell(at, `idops ${args} > /dev/full`);
      expect(code).toBe(1);
      expect(stderr).toContain("standard output can't be written");
      expect(stderr).not.toMatch(/^\s+at |node:/m);
    },
  );

  it.each(['schema', '--help', 'plan'])('that is closed ends %s quietly', async (args) => {
    const at = await project(files);
    const { stderr } = await shell(at, `idops --quiet ${args} | true`);
    expect(stderr).toBe('');
  });
});

posix('files that only their owner may read', () => {
  const mode = async (at: TestProject, path: string): Promise<number> =>
    (await stat(join(at.folder, path))).mode & 0o777;

  it('are state, journal, lock and stored plan, and the folders created for them', async () => {
    const at = await project(files);
    expect((await at.idops('plan --out kept/plan.json --format html=report.html')).code).toBe(0);
    expect((await at.idops('apply --yes')).code).toBe(0);
    const held = await acquireLock(join(at.folder, '.idops/state.json'), 'apply', new Date());
    const [run] = await readdir(join(at.folder, '.idops/runs'));
    for (const path of [
      'kept/plan.json',
      '.idops/state.json',
      '.idops/state.json.lock',
      `.idops/runs/${run}`,
    ]) {
      expect([path, await mode(at, path)]).toEqual([path, 0o600]);
    }
    for (const path of ['kept', '.idops', '.idops/runs'])
      expect([path, await mode(at, path)]).toEqual([path, 0o700]);
    expect(await mode(at, 'report.html')).toBe(0o666 & ~process.umask());
    await held.release();
  });
});

describe('a partial file of a killed run', () => {
  it('is removed by the next run, which keeps other files', async () => {
    const at = await project(files);
    const dead = spawnSync('true').pid;
    const mine = temporaryFileName();
    const left = mine.replace(`-${process.pid}-`, `-${dead}-`);
    const elsewhere = left.replace(/-[0-9a-f]{8}-/, '-00000000-');
    const old = elsewhere.replace(/[0-9a-f]{12}(?=\.tmp$)/, '0123456789ab');
    const other = '.0123456789ab.tmp';
    const folder = join(at.folder, '.idops');
    await mkdir(folder);
    for (const name of [mine, left, elsewhere, old, other, 'notes.tmp']) {
      await writeFile(join(folder, name), 'half');
    }
    for (const name of [old, other]) await utimes(join(folder, name), 0, 0);
    // A process other than this one, which owns `mine` and still runs.
    expect((await at.begin(['apply', '--yes']).ended).code).toBe(0);
    const there = (await readdir(folder)).filter((name) => name.endsWith('.tmp')).sort();
    expect(there).toEqual([mine, elsewhere, other, 'notes.tmp'].sort());
    await rm(folder, { recursive: true });
  });

  it('is removed next to a report', async () => {
    const at = await project(files);
    const left = temporaryFileName().replace(`-${process.pid}-`, `-${spawnSync('true').pid}-`);
    await writeFile(join(at.folder, left), 'half');
    expect((await at.idops('plan --format html=plan.html')).code).toBe(0);
    expect(existsSync(join(at.folder, left))).toBe(false);
    expect(await readFile(join(at.folder, 'plan.html'), 'utf8')).toMatch(/^<!doctype html>/i);
  });
});
