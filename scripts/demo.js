// Demonstrates idops with the embedded sandbox: validate, plan, apply, and a second plan, which is empty.
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startSandbox } from '../dist/sandbox/index.js';

const cli = resolve('dist/cli/main.js');
// A copy, so that the demo leaves no state in the examples.
const folder = mkdtempSync(join(tmpdir(), 'idops-demo-'));
cpSync('examples', folder, { recursive: true, filter: (source) => !source.includes('.idops') });
const sandbox = await startSandbox();

/** Runs idops, and stops the demo if its exit code isn't the expected one. */
async function idops(expected, ...args) {
  console.log(`\n$ idops ${args.join(' ')}`);
  const child = spawn(process.execPath, [cli, ...args], {
    cwd: folder,
    stdio: 'inherit',
    env: { ...process.env, IDOPS_BASE_URL: sandbox.url, IDOPS_TOKEN: sandbox.token },
  });
  const code = await new Promise((done) => child.on('close', done));
  if (code !== expected) throw new Error(`idops ${args.join(' ')} ended with ${code} instead of ${expected}`);
}

try {
  await idops(0, 'validate');
  await idops(0, 'apply', '--yes');
  await idops(0, 'plan', '--detailed-exitcode');
} finally {
  await sandbox.close();
  rmSync(folder, { recursive: true, force: true });
}
