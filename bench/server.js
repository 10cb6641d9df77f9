// The sandbox's process: started by serving.js, which asks it one thing after another.
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { startSandbox } from '../dist/sandbox/index.js';

const [file, options] = process.argv.slice(2);
const { answersWrites = Number.POSITIVE_INFINITY, ...given } = JSON.parse(options);
let answered = answersWrites;
const undone = [];
/** Whose writes these are: those of all, or of these paths. */
let counted = { has: () => true };
let seed = JSON.parse(readFileSync(file, 'utf8'));
const sandbox = await startSandbox({ ...given, seed, intercept });
findSoon(sandbox.data);
const writes = () => sandbox.requests.filter(({ method }) => method !== 'GET').length;

/**
 * The sandbox looks through its lists from their beginning, where a real server has an index: with many objects nothing but
 * that would be measured. Requests come about in the order of the lists, so looking on from the last place finds soon.
 */
function findSoon(data) {
  for (const list of Object.values(data)) {
    let last = 0;
    const find = (is) => {
      for (let step = 0; step < list.length; step += 1) {
        const at = (last + step) % list.length;
        if (!is(list[at])) continue;
        last = at;
        return list[at];
      }
      return undefined;
    };
    Object.defineProperty(list, 'find', { value: find, configurable: true });
  }
}

/** Leaves all writes after the given number unanswered and undone, so that a kill finds the same each time. */
function intercept({ method, path }) {
  if (answered === Number.POSITIVE_INFINITY || method === 'GET' || !counted.has(path)) return undefined;
  answered -= 1;
  if (answered >= 0) return undefined;
  undone.push(path);
  return { kind: 'stall', when: 'before' };
}

const answers = {
  reset: () => {
    if (writes() > 0)
      for (const [kind, objects] of Object.entries(structuredClone(seed))) sandbox.data[kind] = objects;
    findSoon(sandbox.data);
    sandbox.requests.length = 0;
    return null;
  },
  count: () => sandbox.requests.length,
  requests: () =>
    sandbox.requests.map(({ method, path, body }) => ({
      method,
      path,
      ...(body === undefined ? {} : { body }),
    })),
  reaches: async (number) => {
    while (writes() < number) await wait(2);
    return null;
  },
  holds: async (paths, after) => {
    counted = new Set(paths);
    answered = after;
    while (answered >= 0) await wait(2);
    return null;
  },
  groups: () => {
    const counts = {};
    for (const { group } of sandbox.data.users) counts[group] = (counts[group] ?? 0) + 1;
    return counts;
  },
  undone: () => undone,
  goOn: () => {
    answered = Number.POSITIVE_INFINITY;
    return null;
  },
  keep: () => {
    seed = sandbox.snapshot();
    answered = Number.POSITIVE_INFINITY;
    return null;
  },
};

process.on('message', async ([question, ...more]) => process.send(await answers[question](...more)));
process.on('disconnect', () => process.exit());
process.send({ url: sandbox.url, token: sandbox.token });
