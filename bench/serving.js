// The sandbox in a process of its own, so that it doesn't share a processor's thread with what is measured.
import { fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/**
 * @typedef {object} Sent A request as the server got it.
 * @property {string} method
 * @property {string} path
 * @property {unknown} [body]
 */

/**
 * @typedef {object} Server
 * @property {string} url
 * @property {string} token
 * @property {() => Promise<void>} reset Puts the data back to what it was, and forgets the requests.
 * @property {() => Promise<number>} count How many requests there were.
 * @property {() => Promise<Sent[]>} requests
 * @property {(writes: number) => Promise<void>} reaches Resolves when so many requests that write have come.
 * @property {(paths: string[], after: number) => Promise<void>} holds Answers and does so many requests that write to one of these
 *   paths, and no more until `goOn`. Resolves when the first has come that isn't answered.
 * @property {() => Promise<string[]>} undone The paths of those that it didn't answer, one for each.
 * @property {() => Promise<void>} goOn
 * @property {() => Promise<Record<string, number>>} groups How many users are in each group.
 * @property {() => Promise<void>} keep Takes the data as it is for what `reset` puts back.
 * @property {() => Promise<void>} close
 */

/**
 * @param {string} folder Where its seed is written.
 * @param {import('../dist/sandbox/index.js').SandboxOptions & { answersWrites?: number }} options With `answersWrites` it
 *   answers and does so many requests that write, until `keep`, and no more.
 * @returns {Promise<Server>}
 */
export async function serve(folder, { seed, ...options }) {
  const file = join(folder, 'seed.json');
  writeFileSync(file, JSON.stringify(seed));
  const child = fork(resolve('bench/server.js'), [file, JSON.stringify(options)], {
    serialization: 'advanced',
  });
  const ask = (question, ...given) =>
    new Promise((done, failed) => {
      const gone = (code) => failed(new Error(`the server ended with ${code}`));
      child.once('exit', gone);
      child.once('message', (answer) => {
        child.off('exit', gone);
        done(answer);
      });
      if (question !== undefined) child.send([question, ...given]);
    });
  const { url, token } = await ask();
  return {
    url,
    token,
    reset: () => ask('reset'),
    count: () => ask('count'),
    requests: () => ask('requests'),
    reaches: (writes) => ask('reaches', writes),
    holds: (paths, after) => ask('holds', paths, after),
    undone: () => ask('undone'),
    goOn: () => ask('goOn'),
    keep: () => ask('keep'),
    groups: () => ask('groups'),
    close: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise((done) => child.once('exit', done));
      child.kill();
      await ended;
    },
  };
}
