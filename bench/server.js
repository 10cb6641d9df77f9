// The sandbox's process. serving.js starts it, and sends it one command after another.
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { startSandbox } from '../dist/sandbox/index.js';

const [file, options] = process.argv.slice(2);
const { answersWrites = Number.POSITIVE_INFINITY, ...given } = JSON.parse(options);
let answered = answersWrites;
const undone = [];
/** The paths whose writes are counted; by default all. */
let counted = { has: () => true };
let seed = JSON.parse(readFileSync(file, 'utf8'));
const sandbox = await startSandbox({ ...given, seed, intercept });
findSoon(sandbox.data);
const writes = () => sandbox.requests.filter(({ method }) => method !== 'GET').length;

/**
 * The sandbox searches its lists linearly, where a real server has an index, and with many objects this would dominate.
 * Requests arrive roughly in the order of the lists, so a search from the last position is fast.
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

/** After the given number of writes, holds all further ones without executing them, so that kills are reproducible. */
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
