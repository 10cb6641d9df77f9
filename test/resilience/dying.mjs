// Preloaded into idops with `node --import`: counts what it does with files, and ends the process there.
//   IDOPS_DIE_AT=N           which of these events; none where it isn't given
//   IDOPS_DIE_HOW=before     before it is done (default); after it; or half, where half of the text is written first
//   IDOPS_DIE_LOG=FILE       writes the names of all events to a file, a line each
//   IDOPS_FULL_AT=N          from this event on nothing more can be written, as on a full disk
//   IDOPS_FULL_COUNT=N       how many writes fail; all where it isn't given
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const {
  IDOPS_DIE_AT,
  IDOPS_DIE_HOW = 'before',
  IDOPS_DIE_LOG,
  IDOPS_FULL_AT,
  IDOPS_FULL_COUNT,
} = process.env;
const at = Number(IDOPS_DIE_AT ?? 0);
const fullAt = Number(IDOPS_FULL_AT ?? Number.POSITIVE_INFINITY);
let failing = Number(IDOPS_FULL_COUNT ?? Number.POSITIVE_INFINITY);
const { rename, link, rm, open } = fs.promises;
const { appendFileSync } = fs;
let count = 0;

const dead = async () => {
  process.kill(process.pid, 'SIGKILL');
  await new Promise(() => {});
};

function full() {
  return Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
}

/** Counts a call, and ends the process at the one that was asked for. */
async function event(name, call, half) {
  count += 1;
  const number = count;
  if (IDOPS_DIE_LOG !== undefined) appendFileSync(IDOPS_DIE_LOG, `${name}\n`);
  const writes = half !== undefined;
  if (writes && number >= fullAt && failing > 0) {
    failing -= 1;
    await half();
    throw full();
  }
  if (number !== at) return await call();
  if (IDOPS_DIE_HOW === 'half' && writes) await half();
  if (IDOPS_DIE_HOW === 'after') await call();
  return await dead();
}

const handle = await open(new URL(import.meta.url));
const prototype = Object.getPrototypeOf(handle);
await handle.close();
const originals = {};
for (const name of ['appendFile', 'writeFile', 'datasync', 'sync']) originals[name] = prototype[name];
for (const name of ['appendFile', 'writeFile']) {
  prototype[name] = function (text, ...rest) {
    return event(
      name,
      () => originals[name].call(this, text, ...rest),
      () => originals[name].call(this, String(text).slice(0, Math.floor(String(text).length / 2)), ...rest),
    );
  };
}
for (const name of ['datasync', 'sync']) {
  prototype[name] = function () {
    return event(name, () => originals[name].call(this));
  };
}
for (const [name, original] of Object.entries({ rename, link, rm })) {
  fs.promises[name] = (...args) => event(name, () => original(...args));
}
syncBuiltinESMExports();
