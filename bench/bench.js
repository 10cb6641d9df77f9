// What scenarios use: folders, servers, and comparisons of a program with one that does only the necessary work.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { write } from './projects.js';
import { run } from './run.js';
import { serve } from './serving.js';

/** The built command. */
export const cli = resolve('dist/cli/main.js');
const bare = resolve('bench/floor.js');
const concurrency = 10;

/**
 * @typedef {import('./run.js').Program & { server?: import('./serving.js').Server, before?: () => unknown }} Program `before` is
 *   called each time, and isn't measured.
 *
 * @typedef {object} Row The ratios of a comparison, one for each round.
 * @property {string} name
 * @property {string} against
 * @property {number[]} time Of wall time.
 * @property {number[]} processor Of processor time, over all threads.
 * @property {number} [memory] The program's peak memory, in MB.
 * @property {number[]} [sent] The number of requests that it sent.
 */

export class Bench {
  #repeats;
  #folder = mkdtempSync(join(tmpdir(), 'idops-bench-'));
  #servers = [];
  #number = 0;
  #remove = () => rmSync(this.#folder, { recursive: true, force: true });
  /** @type {Row[]} */
  rows = [];

  /** @param {{ quick: boolean, repeats: number }} options */
  constructor({ quick, repeats }) {
    this.quick = quick;
    this.#repeats = repeats;
    process.once('exit', this.#remove);
  }

  /** The size of an input: full, or that of a quick run. */
  size(full, small) {
    return this.quick ? small : full;
  }

  /** A new folder with the given files. */
  project(files) {
    this.#number += 1;
    const folder = join(this.#folder, `project-${this.#number}`);
    mkdirSync(folder);
    write(folder, files);
    return folder;
  }

  /** Starts a sandbox that runs until the scenario ends. */
  async server(options) {
    const server = await serve(this.#folder, options);
    this.#servers.push(server);
    return server;
  }

  /** The idops command in a project, with a server if it needs one. */
  idops(args, { cwd, server, before }) {
    const env = server === undefined ? {} : { IDOPS_BASE_URL: server.url, IDOPS_TOKEN: server.token };
    return { args: [cli, ...args], cwd, env, server, before };
  }

  /** A program that only sends requests with 10 in flight, parses a folder of YAML, and reads files. */
  floor({ server, requests = [], folder, texts }) {
    const file = join(this.project({}), 'job.json');
    const sent = requests.map(({ body, ...request }) =>
      body === undefined ? request : { ...request, body: JSON.stringify(body) },
    );
    const { url, token } = server ?? {};
    writeFileSync(file, JSON.stringify({ url, token, concurrency, requests: sent, folder, texts }));
    return { args: [bare, file], server };
  }

  /** Runs a program once. */
  async taken({ server, before, ...program }) {
    await server?.reset();
    await before?.();
    return await run(program, this.#folder);
  }

  /** Calls `round` for each round, which returns its ratios. Several rounds start with a warm-up. */
  async rounds({ name, against, repeats = this.#repeats }, round) {
    const row = { name, against, time: [], processor: [], memory: 0 };
    const number = this.quick ? 1 : repeats;
    if (number > 1) await round();
    for (let left = number; left > 0; left -= 1) {
      const { time, processor, memory = 0 } = await round();
      row.time.push(time);
      row.processor.push(processor);
      row.memory = Math.max(row.memory, memory);
    }
    this.rows.push(row);
    console.error(`    ${name}`);
    return row;
  }

  /**
   * Compares a program with the floor that `floor` returns for the requests of the program.
   * @param {{ name: string, against: string, program: Program, floor: (requests: object[]) => Program, repeats?: number }} comparison
   */
  async compare({ program, floor, ...named }) {
    const sent = [];
    let beside;
    const row = await this.rounds(named, async () => {
      const own = await this.taken(program);
      if (program.server !== undefined) sent.push(await program.server.count());
      beside ??= floor((await program.server?.requests()) ?? []);
      const other = await this.taken(beside);
      return { time: own.ms / other.ms, processor: own.cpu / other.cpu, memory: own.rss };
    });
    if (sent.length > 0) row.sent = [...new Set(sent)];
  }

  /** Stops the scenario's servers, and removes its files. */
  async end() {
    await Promise.all(this.#servers.map((server) => server.close()));
    process.off('exit', this.#remove);
    this.#remove();
  }
}
