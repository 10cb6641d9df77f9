import { run } from './run.js';

const controller = new AbortController();
// A cancelled job is told so twice before its processes are killed: what is in flight ends in between.
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => controller.abort());
process.exitCode = await run(controller.signal);
// What waits for a limit of GitHub to pass would keep it up: what was printed is out before that.
if (controller.signal.aborted) process.stdout.write('', () => process.exit());
