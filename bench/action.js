// How long the action takes from its start to its comment, in multiples of what the command's plan takes.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startSandbox } from '../dist/sandbox/index.js';

const objects = Number(process.argv[2] ?? 100);
const rounds = 10;
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
    .map(({ name, label }) => `kind: Organization\nname: ${name}\nlabel: ${label}\n`)
    .join('---\n'),
);
const own = { repo: { id: 1, full_name: 'acme/identity' } };
const pull = { number: 1, head: { ...own, sha: 'abc123' }, base: { ...own, ref: 'main' } };
writeFileSync(join(folder, 'event.json'), JSON.stringify({ pull_request: pull }));

let comments = 0;
const github = createServer((request, response) => {
  request.resume().on('end', () => {
    if (request.method === 'POST') comments += 1;
    response.writeHead(request.method === 'POST' ? 201 : 200, { 'content-type': 'application/json' });
    response.end(request.method === 'POST' ? '{"id":1}' : '[]');
  });
});
await new Promise((done) => github.listen(0, '127.0.0.1', done));

const env = {
  ...process.env,
  IDOPS_BASE_URL: sandbox.url,
  IDOPS_TOKEN: sandbox.token,
  INPUT_COMMAND: 'plan',
  INPUT_COMMENT: 'true',
  'INPUT_GITHUB-TOKEN': 'none',
  GITHUB_API_URL: `http://127.0.0.1:${github.address().port}`,
  GITHUB_EVENT_NAME: 'pull_request',
  GITHUB_EVENT_PATH: join(folder, 'event.json'),
  GITHUB_REPOSITORY: 'acme/identity',
  GITHUB_WORKSPACE: folder,
  RUNNER_TEMP: folder,
};

/** Milliseconds that a run of Node takes: the least of some, since only noise makes it longer. */
async function time(args) {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round += 1) {
    const start = performance.now();
    const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'], env });
    const code = await new Promise((done) => child.on('close', done));
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`);
    best = Math.min(best, performance.now() - start);
  }
  return best;
}

try {
  const node = await time(['-e', '0']);
  const plan = await time([resolve('dist/cli/main.js'), 'plan', '--quiet']);
  const action = await time([resolve('dist/action.js')]);
  if (comments !== rounds) throw new Error(`${comments} comments in ${rounds} runs`);
  const show = (ratio) => ratio.toFixed(2).padStart(6);
  console.log(`${objects} unchanged organizations, from start to comment:`);
  console.log(`${show(action / (node + plan))}  of starting node and the plan of the command (at most 1.5)`);
  console.log(`${show(action / plan)}  of the plan of the command`);
} finally {
  await sandbox.close();
  github.close();
  rmSync(folder, { recursive: true, force: true });
}
