// Takes and releases a lock on command, a line each: node lock-taker.mjs LOCK_MODULE
// Responds to `take STATE` with `took`, or `refused` and the reason, and to `release` with `released`.
import { createInterface } from 'node:readline';

const { acquireLock } = await import(process.argv[2]);
const say = (text) => process.stdout.write(`${text.replaceAll('\n', ' ')}\n`);
let lock;
say('ready');
for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'release') {
    await lock?.release();
    lock = undefined;
    say('released');
    continue;
  }
  try {
    lock = await acquireLock(line.slice('take '.length), 'apply', new Date());
    say('took');
  } catch (failure) {
    say(`refused ${failure.message}`);
  }
}
