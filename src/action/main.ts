import { run } from './run.js';

const controller = new AbortController();
// GitHub signals a cancelled job twice before it kills its processes; requests in flight end in between.
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => controller.abort());
process.exitCode = await run(controller.signal);
// A wait for a rate limit would keep the process alive, so it ends once the output is written.
if (controller.signal.aborted) process.stdout.write('', () => process.exit());
