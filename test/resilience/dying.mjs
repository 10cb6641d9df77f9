// Preloaded into idops with `node --import`: counts what it does with files, and ends the process there.
//   IDOPS_DIE_AT=N           which of these events; none where it isn't given
//   IDOPS_DIE_HOW=before     before it is done (default); after it; or half, where half of the text is written first
import { onFileEvents } from './file-events.mjs';

const { IDOPS_DIE_AT, IDOPS_DIE_HOW = 'before' } = process.env;
const at = Number(IDOPS_DIE_AT ?? 0);
let count = 0;

onFileEvents(async (_name, call, halves) => {
  count += 1;
  if (count !== at) return await call();
  if (IDOPS_DIE_HOW === 'half') await halves?.first();
  if (IDOPS_DIE_HOW === 'after') await call();
  process.kill(process.pid, 'SIGKILL');
  return await new Promise(() => {});
});
