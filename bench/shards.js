// Applies a project by so many shards at once, each a process of its own; ends as the first of them that fails does.
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';

const [count] = process.argv.slice(2).map(Number);
const env = { ...process.env, IDOPS_SHARD_RUN: String(process.pid) };
const cli = resolve(import.meta.dirname, '../dist/cli/main.js');
const codes = await Promise.all(
  Array.from({ length: count }, (_, index) => {
    const args = [cli, 'apply', '--yes', '--shard', `${index + 1}/${count}`];
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
    return new Promise((done) => child.once('close', (code) => done(code ?? 1)));
  }),
);
process.exitCode = Math.max(...codes);
