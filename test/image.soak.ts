import { execFileSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { DockerfileParser, type Instruction } from 'dockerfile-ast';
import { afterAll, describe, expect, it } from 'vitest';

const text = await readFile('Dockerfile', 'utf8');
const instructions = DockerfileParser.parse(text).getInstructions();
const starts = instructions.flatMap((one, at) => (one.getKeyword() === 'FROM' ? [at] : []));
const [, second = instructions.length] = starts;
const [packing, image] = [instructions.slice(0, second), instructions.slice(second)];

const argumentsOf = (one: Instruction): string => one.getArgumentsContent() ?? '';
const of = (stage: readonly Instruction[], keyword: string): string[] =>
  stage.filter((one) => one.getKeyword() === keyword).map(argumentsOf);

const made: string[] = [];
afterAll(async () => {
  for (const folder of made) await rm(folder, { recursive: true, force: true });
});

/** The files and folders of the build context, according to `.dockerignore`. */
async function context(): Promise<string[]> {
  const lines = (await readFile('.dockerignore', 'utf8')).split('\n').filter((line) => !/^(#|$)/.test(line));
  const [first, ...others] = lines;
  expect([first, others.at(-1)]).toEqual(['*', '**/.idops']);
  return others.slice(0, -1).map((line) => {
    expect(line).toMatch(/^![\w.-]+$/);
    return line.slice(1);
  });
}

/**
 * Runs the first stage in a folder that acts as the root, with this machine's Node and npm. The packages of this checkout
 * replace those of the first `npm ci`.
 */
async function packed(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'idops-image-'));
  made.push(root);
  const names = await context();
  const below = (path: string): string => path.replaceAll(/(?<![\w.])\/(?=(?:src|tmp|out)\b)/g, `${root}/`);
  let cwd = root;
  await mkdir(join(root, 'tmp'));
  for (const one of packing) {
    const [keyword, given] = [one.getKeyword(), argumentsOf(one)];
    if (keyword === 'WORKDIR') {
      cwd = below(given);
      await mkdir(cwd, { recursive: true });
    } else if (keyword === 'COPY') {
      const asked = given.split(' ').slice(0, -1);
      for (const name of asked.includes('.') ? names : asked)
        await cp(name, join(cwd, name), { recursive: true, filter: (path) => basename(path) !== '.idops' });
    } else if (keyword === 'RUN' && given === 'npm ci --ignore-scripts') {
      await symlink(resolve('node_modules'), join(cwd, 'node_modules'));
    } else if (keyword === 'RUN') {
      const env = { ...process.env, npm_config_prefer_offline: 'true', npm_config_audit: 'false' };
      execFileSync('sh', ['-ec', below(given)], { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] });
    } else expect(keyword).toBe('FROM');
  }
  return join(root, 'out');
}

describe('the image', () => {
  it('pins one version of Node, runs unprivileged without a shell, and copies one folder', () => {
    const bases = [...of(packing, 'FROM'), ...of(image, 'FROM')];
    const [, version = ''] = /^(node:\d+\.\d+\.\d+-slim) AS package$/.exec(bases[0] ?? '') ?? [];
    expect(bases).toEqual([`${version} AS package`, version]);
    expect(image.map((one) => one.getKeyword())).toEqual([
      'FROM',
      'RUN',
      'RUN',
      'COPY',
      'USER',
      'WORKDIR',
      'ENTRYPOINT',
    ]);
    expect(of(image, 'COPY')).toEqual(['/out /usr/local']);
    expect(text.match(/^COPY --from=.*$/gm)).toEqual(['COPY --from=package /out /usr/local']);
    expect(of(image, 'USER')).toEqual(['1000:1000']);
    expect(JSON.parse(of(image, 'ENTRYPOINT')[0] ?? '')).toEqual(['idops']);
    // Only npm's and yarn's own files are removed, before idops is installed.
    expect(of(image, 'RUN')[0]).toMatch(/ install .* git && /);
    expect(of(image, 'RUN')[1]).toMatch(
      /^rm -rf (\/opt\/yarn-\*|\/usr\/local\/[\w/]+)( \/usr\/local\/[\w/]+)*$/,
    );
  });

  it('contains the package and its locked dependencies, and its command runs', async () => {
    const out = await packed();
    const place = join(out, 'lib/node_modules/idops');
    const [{ files }] = JSON.parse(
      execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }),
    ) as [{ files: { path: string }[] }];
    const there = (await readdir(place, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(place.length + 1));
    // Names of chunks contain hashes, which depend on the folder of the build.
    const named = (paths: readonly string[]): string[] =>
      paths.map((path) => path.replace(/-[A-Z0-9]{8}(?=\.js)/, '')).sort();
    expect(named(there.filter((path) => !path.startsWith('node_modules/')))).toEqual(
      named(files.map(({ path }) => path)),
    );
    const { packages } = JSON.parse(await readFile('package-lock.json', 'utf8')) as {
      packages: { [path: string]: { dev?: boolean; devOptional?: boolean; optional?: boolean } };
    };
    const needed = Object.entries(packages).flatMap(([path, { dev, devOptional, optional }]) =>
      path === '' || dev || devOptional || optional ? [] : [path],
    );
    const installed = there.filter((path) =>
      /^(node_modules\/(@[^/]+\/)?[^/@]+\/)+package\.json$/.test(path),
    );
    const paths = installed.map((path) => path.slice(0, -'/package.json'.length));
    // Optional packages depend on the platform; development packages must be missing.
    const left = paths.filter((path) => !needed.includes(path));
    expect(left.filter((path) => packages[path]?.optional !== true || packages[path]?.dev === true)).toEqual(
      [],
    );
    expect(paths.filter((path) => needed.includes(path)).sort()).toEqual(needed.sort());
    const idops = (...args: string[]): string =>
      execFileSync(process.execPath, [join(out, 'bin/idops'), ...args], {
        encoding: 'utf8',
        cwd: resolve('examples'),
        stdio: ['ignore', 'pipe', 'ignore'],
      });
    const { version } = JSON.parse(await readFile('package.json', 'utf8'));
    expect(idops('--version').trim()).toBe(version);
    expect(idops('validate')).toContain('objects are valid');
    // The GitLab job finds its script here.
    expect(there).toContain('examples/gitlab/gitlab.mjs');
  });
});
