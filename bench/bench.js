// What a scenario works with: folders, servers, and comparing idops with its floors in rounds.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { write } from './projects.js';
import { run } from './run.js';
import { serve } from './serving.js';

/** The built command. */
export const cli = resolve('dist/cli/main.js');
const floor = resolve('bench/floor.js');
export const concurrency = 10;

/** What every process pays before it does anything: subtracted for the ratio beyond the start-up. */
const empty = { idops: { args: [cli, '--version'] }, floor: { args: ['-e', '0'] } };

/**
 * @typedef {import('./run.js').Program & { before?: () => unknown }} Program `before` is done each time, and isn't measured.
 *
 * @typedef {object} Job What a floor does, as floor.js has it; `sends` names what idops just sent.
 * @property {boolean} [sends]
 * @property {string} [folder]
 * @property {string[]} [texts]
 *
 * @typedef {object} Comparison
 * @property {string} name
 * @property {Program} program What idops does.
 * @property {import('./serving.js').Server} [server] The one that is asked.
 * @property {number} [necessary] How many requests there have to be.
 * @property {number} [inFlight] At once, of idops as of the floor. Default: idops' own default.
 * @property {Record<string, Job | Program>} floors By what they are called.
 * @property {boolean} [start] Only the start is measured, so that nothing may be loaded before it.
 * @property {number} [repeats] Where it takes long: fewer than usual.
 * @property {{ whole?: number, beyond?: number, memory?: number }} [most] What is aimed at, against the first of the floors.
 */

/** Removes a folder into which what was killed just now may still write: a process that ends can't wait for that otherwise. */
function removeAll(folder) {
  for (let left = 50; ; left -= 1) {
    try {
      return rmSync(folder, { recursive: true, force: true });
    } catch (failure) {
      if (failure.code !== 'ENOTEMPTY' || left === 0) throw failure;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    }
  }
}

export class Bench {
  #repeats;
  #told;
  #folder = mkdtempSync(join(tmpdir(), 'idops-bench-'));
  #servers = [];
  #children = new Set();
  #number = 0;
  #remove = () => {
    for (const child of this.#children) child.kill('SIGKILL');
    removeAll(this.#folder);
  };

  /** @param {{ quick: boolean, repeats: number | undefined, told: (result: object) => void }} options */
  constructor({ quick, repeats, told }) {
    this.quick = quick;
    this.#repeats = repeats;
    this.#told = told;
    process.once('exit', this.#remove);
  }

  /** A size: the full one, or the one of a quick run. */
  size(full, small) {
    return this.quick ? small : full;
  }

  /** A new folder with these files. */
  project(files) {
    this.#number += 1;
    const folder = join(this.#folder, `project-${this.#number}`);
    mkdirSync(folder);
    write(folder, files);
    return folder;
  }

  /** Starts a sandbox, which lives as long as the scenario. */
  async server(options) {
    const server = await serve(this.#folder, options);
    this.#servers.push(server);
    return server;
  }

  /** The command, run in a project, against a server where it has one. */
  idops(args, { cwd, server, before }) {
    const env = server === undefined ? {} : { IDOPS_BASE_URL: server.url, IDOPS_TOKEN: server.token };
    return { args: [cli, ...args], cwd, env, before };
  }

  /** Starts a program beside the scenario, which outlives neither it nor the suite. */
  start({ args, cwd, env }) {
    const child = spawn(process.execPath, args, {
      cwd,
      env: { PATH: process.env.PATH, ...env },
      stdio: 'ignore',
    });
    this.#children.add(child);
    child.once('exit', () => this.#children.delete(child));
    return child;
  }

  /**
   * Runs idops once, to see what it sends and as a warm-up, then idops and its floors in turn. In a quick run the first
   * run is the measured one.
   * @param {Comparison} comparison
   */
  async compare({
    name,
    program,
    server,
    necessary,
    inFlight = concurrency,
    floors,
    start = false,
    repeats = 5,
    most = {},
  }) {
    const count = this.#repeats ?? (this.quick ? 1 : repeats);
    const sent = [];
    const idops = async (usage) => {
      await server?.reset();
      await program.before?.();
      const taken = await run(program, this.#folder, { usage });
      if (server !== undefined) sent.push(await server.count());
      return taken;
    };
    const first = await idops(true);
    const requests = server === undefined ? [] : await server.requests();
    const programs = Object.entries(floors).map(([called, job], index) => {
      const made = 'args' in job ? job : this.#floor(`floor-${index}`, job, { server, requests, inFlight });
      return [called, made];
    });
    const rounds = [];
    for (let round = 0; round < count; round += 1) {
      const taken = { empty: {}, floors: {} };
      if (!start && !this.quick) {
        for (const [side, nothing] of Object.entries(empty)) {
          taken.empty[side] = await run(nothing, this.#folder, { usage: false });
        }
      }
      for (const [called, made] of programs) {
        await server?.reset();
        await made.before?.();
        taken.floors[called] = await run(made, this.#folder, { usage: !start });
      }
      rounds.push({ ...taken, idops: this.quick && round === 0 ? first : await idops(!start) });
    }
    const memory = start ? { startMemory: first.rss } : {};
    const asked = server === undefined ? {} : { sent: [...new Set(sent)], necessary };
    this.#told({ name, most, ...asked, ...memory, rounds });
  }

  #floor(name, { sends = false, ...rest }, { server, requests, inFlight }) {
    const file = join(this.#folder, `${name}.json`);
    const work = sends
      ? {
          url: server.url,
          token: server.token,
          concurrency: inFlight,
          requests: requests.map(({ body, ...request }) =>
            body === undefined ? request : { ...request, body: JSON.stringify(body) },
          ),
        }
      : {};
    writeFileSync(file, JSON.stringify({ ...rest, ...work }));
    return { args: [floor, file] };
  }

  /** Ends what the scenario started and removes what it wrote. */
  async end() {
    await Promise.all(this.#servers.map((server) => server.close()));
    process.off('exit', this.#remove);
    this.#remove();
  }
}
