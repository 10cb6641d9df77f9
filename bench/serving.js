// Runs the sandbox in its own process, so that it doesn't share a thread with the measured program.
import { fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/**
 * @typedef {object} Sent A request that the server received.
 * @property {string} method
 * @property {string} path
 * @property {unknown} [body]
 */

/**
 * @typedef {object} Server
 * @property {string} url
 * @property {string} token
 * @property {() => Promise<void>} reset Restores the data, and forgets the requests.
 * @property {() => Promise<number>} count The number of requests.
 * @property {() => Promise<Sent[]>} requests
 * @property {(writes: number) => Promise<void>} reaches Resolves when the given number of writes has arrived.
 * @property {(paths: string[], after: number) => Promise<void>} holds Executes the given number of writes to these paths, and
 *   holds further ones until `goOn`. Resolves when the first write is held.
 * @property {() => Promise<string[]>} undone The path of each held write.
 * @property {() => Promise<void>} goOn
 * @property {() => Promise<Record<string, number>>} groups The number of users in each group.
 * @property {() => Promise<void>} keep Makes `reset` restore the present data.
 * @property {() => Promise<void>} close
 */

/**
 * @param {string} folder The folder for its seed.
 * @param {import('../dist/sandbox/index.js').SandboxOptions & { answersWrites?: number }} options With `answersWrites`, it
 *   executes only that number of writes until `keep`.
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
