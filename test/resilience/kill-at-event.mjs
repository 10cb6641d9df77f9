// Preloaded into idops with `node --import`: counts its file events, and kills the process at one of them.
//   IDOPS_DIE_AT=N           the number of the event; default: none
//   IDOPS_DIE_HOW=before     before the event (default), after it, or after half of a write
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
