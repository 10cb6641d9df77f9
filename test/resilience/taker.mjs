// Takes a lock, says so, holds it for a moment and releases it: node taker.mjs LOCK_MODULE STATE
const [module, state] = process.argv.slice(2);
const { acquireLock } = await import(module);
// All begin at the same moment.
const start = Number(process.env.START);
while (Date.now() < start);
try {
  const lock = await acquireLock(state, 'apply', new Date());
  process.stdout.write(`took ${Date.now()}\n`);
  if (process.env.KEEP !== undefined) await new Promise((resolve) => setTimeout(resolve, 1500));
  await lock.release();
} catch (failure) {
  process.stdout.write(`refused ${failure.message}\n`);
}
