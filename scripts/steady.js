// Runs the gate N times beside two busy loops for each core, and lists every test that ever failed:
// `node scripts/steady.js 5`. The Node that runs this script runs the tests.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative } from 'node:path';

const runs = Number(process.argv[2] ?? 5);
const folder = mkdtempSync(join(tmpdir(), 'idops-steady-'));
const busy = Array.from({ length: 2 * availableParallelism() }, () =>
  spawn(process.execPath, ['--eval', 'for (;;);'], { stdio: 'ignore' }),
);
process.once('exit', () => {
  for (const child of busy) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(name, () => process.exit(1));

/** Runs the gate once; returns the number of tests and the failed ones. */
async function run(number) {
  const report = join(folder, `${number}.json`);
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--reporter=json', `--outputFile.json=${report}`];
  const child = spawn(process.execPath, vitest, { stdio: ['ignore', 'ignore', 'inherit'] });
  const code = await new Promise((done) => child.once('close', done));
  const { numTotalTests, testResults } = JSON.parse(readFileSync(report, 'utf8'));
  const failed = testResults.flatMap(({ name, message, assertionResults }) => {
    const file = relative(process.cwd(), name);
    const tests = assertionResults.filter(({ status }) => status === 'failed');
    if (tests.length === 0 && message) return [`${file}: ${message}`];
    return tests.map(({ fullName }) => `${file}: ${fullName}`);
  });
  if (code !== 0 && failed.length === 0) failed.push(`vitest ended with ${code}`);
  return { tests: numTotalTests, failed };
}

const failures = new Map();
console.log(`Node ${process.version}, ${availableParallelism()} cores, ${busy.length} busy loops\n`);
console.log('| run | minutes | tests | failed |\n|---|---|---|---|');
for (let number = 1; number <= runs; number += 1) {
  const begun = performance.now();
  const { tests, failed } = await run(number);
  console.log(
    `| ${number} | ${((performance.now() - begun) / 60_000).toFixed(1)} | ${tests} | ${failed.length} |`,
  );
  for (const name of failed) failures.set(name, (failures.get(name) ?? 0) + 1);
}
for (const [name, times] of failures) console.log(`\nfailed in ${times} of ${runs} runs: ${name}`);
process.exit(failures.size === 0 ? 0 : 1);
