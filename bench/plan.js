// How long planning takes, in multiples of what starting Node takes on the same machine.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startSandbox } from '../dist/sandbox/index.js';

const cli = resolve('dist/cli/main.js');
const objects = Number(process.argv[2] ?? 1000);
const rounds = 5;

const organizations = Array.from({ length: objects }, (_, index) => ({
  id: `id-${index}`,
  name: `organization ${index}`,
  label: `label ${index}`,
}));
const none = { users: [], backends: [], templates: [], keyPairs: [], clients: [], scopes: [], roles: [] };
const sandbox = await startSandbox({ seed: { ...none, organizations } });
const folder = mkdtempSync(join(tmpdir(), 'idops-bench-'));
mkdirSync(join(folder, 'manifests'));
writeFileSync(join(folder, 'idops.yaml'), 'version: 1\n');
writeFileSync(
  join(folder, 'manifests', 'all.yaml'),
  organizations
    .map(({ name, label }, index) => {
      const declared = index % 10 === 0 ? `new ${label}` : label;
      return `kind: Organization\nname: ${name}\nlabel: ${declared}\n`;
    })
    .join('---\n'),
);

/** Milliseconds that a run of Node takes: the least of some, since only noise makes it longer. */
async function time(args) {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round += 1) {
    const start = performance.now();
    const child = spawn(process.execPath, args, {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, IDOPS_BASE_URL: sandbox.url, IDOPS_TOKEN: sandbox.token },
    });
    const code = await new Promise((done) => child.on('close', done));
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`);
    best = Math.min(best, performance.now() - start);
  }
  return best;
}

try {
  const node = await time(['-e', '0']);
  const measures = {
    'idops --version': [cli, '--version'],
    'idops validate': [cli, 'validate', '--quiet'],
    'idops plan': [cli, 'plan', '--quiet'],
    'idops plan --format json': [cli, 'plan', '--quiet', '--format', 'json'],
  };
  console.log(`${objects} organizations, in multiples of \`node -e 0\`:`);
  for (const [name, args] of Object.entries(measures)) {
    console.log(`${((await time(args)) / node).toFixed(1).padStart(6)}  ${name}`);
  }
} finally {
  await sandbox.close();
  rmSync(folder, { recursive: true, force: true });
}
