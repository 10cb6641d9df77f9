import { run } from './run.js';

const controller = new AbortController();
// GitHub sends both signals to a cancelled job before it kills the process. Until then, requests in flight can finish.
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => controller.abort());
process.exitCode = await run(controller.signal);
// A wait for a rate limit would keep the process running, so exit when the output is written.
if (controller.signal.aborted) process.stdout.write('', () => process.exit());
