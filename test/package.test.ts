import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

interface Packed {
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

/** The package as npm would publish it; this needs no network. */
const [packed] = JSON.parse(
  execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }),
) as [Packed];
const paths = packed.files.map(({ path }) => path);

/** Every file of the package matches one of these, and each of these matches a file. */
const contents = [
  /^(package\.json|README\.md|CHANGELOG\.md|CONTRIBUTING\.md|LICENSE)$/,
  // The library, unbundled, with types.
  /^dist\/index\.(js|d\.ts)$/,
  /^dist\/(apply|base|kinds|mail|manifests|plan|project|pull|report|sandbox|secrets|server|session|state|yaml)\/([\w-]+\/)*[\w-]+\.(js|d\.ts)$/,
  // The bundled command, with the licences of its dependencies.
  /^dist\/cli\/main\.js$/,
  // Files that main.js loads.
  /^dist\/cli\/(program|output)\.js$/,
  /^dist\/cli\/[\w-]+-[A-Z0-9]{8}\.js$/,
  /^dist\/cli\/[\w-]+\.js\.LEGAL\.txt$/,
  /^schemas\/(manifest|config|plan|run|pull|list|watch|problems)\.schema\.json$/,
  /^docs\/README\.md$/,
  /^docs\/plan\.svg$/,
  /^docs\/(tutorial|how-to|reference|explanation)\/[\w-]+\.md$/,
  /^examples\/([\w.-]+\/)*[\w.-]+\.(ya?ml|txt|html|ts|mjs)$/,
];

describe('the package', () => {
  it('contains exactly the expected files', () => {
    expect(paths.filter((path) => !contents.some((content) => content.test(path)))).toEqual([]);
    for (const content of contents) {
      expect(
        paths.some((path) => content.test(path)),
        String(content),
      ).toBe(true);
    }
  });

  it('has no source maps, and no module that refers to one', () => {
    const asking = paths
      .filter((path) => path.endsWith('.js'))
      .filter((path) => /^\/\/# sourceMappingURL=/m.test(readFileSync(path, 'utf8')));
    expect(asking).toEqual([]);
  });

  it('has each file that its pages link to', () => {
    const pages = paths.filter((path) => path.endsWith('.md') && path !== 'CHANGELOG.md');
    const linked = pages.flatMap((page) =>
      [...readFileSync(page, 'utf8').matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)/g)].map(([, link = '']) =>
        join(page, '..', link),
      ),
    );
    expect(linked.length).toBeGreaterThan(50);
    const isThere = (link: string) => paths.some((path) => path === link || path.startsWith(join(link, '/')));
    expect(linked.filter((link) => !isThere(link))).toEqual([]);
  });

  it('is no larger than CONTRIBUTING says', () => {
    const page = readFileSync('CONTRIBUTING.md', 'utf8');
    const [, whole, tarball] = /at most ([\d.]+) MB, ([\d.]+) MB as a tarball/.exec(page) ?? [];
    expect(packed.unpackedSize).toBeLessThanOrEqual(Number(whole) * 1e6);
    expect(packed.size).toBeLessThanOrEqual(Number(tarball) * 1e6);
  });

  it('has every file that its package.json names', () => {
    const { bin, exports, types } = JSON.parse(readFileSync('package.json', 'utf8'));
    const named: string[] = [types, ...Object.values(bin), ...Object.values(exports)].flatMap((one) =>
      typeof one === 'object' && one !== null ? Object.values(one) : [one],
    );
    for (const file of named.map((one) => join(one)).filter((one) => !one.includes('*'))) {
      expect(paths, file).toContain(file);
    }
  });

  it('has every module that another one imports', () => {
    const asked = paths
      .filter((path) => path.startsWith('dist/') && /\.(js|d\.ts)$/.test(path))
      .flatMap((path) =>
        [
          ...readFileSync(path, 'utf8').matchAll(/^(?:import|export)\b[^;'"`]*?['"](\.{1,2}\/[^'"]+)['"]/gm),
        ].map(([, module = '']) => join(path, '..', module)),
      );
    expect(asked.length).toBeGreaterThan(500);
    expect(asked.filter((path) => !paths.includes(path))).toEqual([]);
  });
});

describe('package-lock.json', () => {
  interface Locked {
    readonly integrity?: string;
    readonly resolved?: string;
    readonly link?: boolean;
    readonly inBundle?: boolean;
  }
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    readonly packages: { readonly [path: string]: Locked };
  };
  const downloaded = Object.entries(packages).filter(
    ([path, { link, inBundle }]) => path !== '' && link !== true && inBundle !== true,
  );

  it('has an integrity hash for each downloaded package, and names no registry', () => {
    expect(downloaded.length).toBeGreaterThan(400);
    const unsure = downloaded.filter(([, { integrity = '' }]) => !/^sha512-[\w+/]{86}==$/.test(integrity));
    expect(unsure.map(([path]) => path)).toEqual([]);
    const elsewhere = downloaded.filter(([, { resolved }]) => resolved !== undefined);
    expect(elsewhere.map(([path]) => path)).toEqual([]);
  });
});

describe('a program that uses the package', () => {
  const run = (program: string): string =>
    execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });

  it('starts the sandbox from its own entry point', () => {
    const program = `
      import { startSandbox } from 'idops/sandbox';
      const sandbox = await startSandbox();
      const headers = { authorization: 'Bearer ' + sandbox.token };
      const answer = await fetch(sandbox.url + '/api/organizations', { headers });
      await sandbox.close();
      console.log(answer.status);`;
    expect(run(program)).toBe('200\n');
  });

  it('finds the sandbox nowhere else', () => {
    expect(run("console.log(Object.keys(await import('idops')).join())")).not.toContain('startSandbox');
  });

  it('loads its schemas, and no internal module', () => {
    const read = `
      import schema from 'idops/schemas/manifest.schema.json' with { type: 'json' };
      console.log(typeof schema.$schema);
      console.log(await import('idops/dist/session/open.js').catch(({ code }) => code));`;
    expect(run(read)).toBe('string\nERR_PACKAGE_PATH_NOT_EXPORTED\n');
  });
});
