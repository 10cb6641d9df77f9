import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plan } from '../../src/plan/plan.js';
import { loadProject } from '../../src/project/index.js';
import {
  type Sandbox,
  type SandboxProfile,
  type SandboxRequest,
  type SandboxSeed,
  startSandbox,
} from '../../src/sandbox/index.js';
import { openSession } from '../../src/session/open.js';
import { fileRuns } from '../../src/state/file/runs.js';
import type { SendingLine } from '../../src/state/journal.js';
import { stateSchema } from '../../src/state/state.js';
import { comparable } from '../boruta/site.js';
import { ids } from '../demo-ids.js';
import { filesIn, type Ran } from '../e2e/running.js';
import type { How } from './images.js';
import { copyOf, type Image, run, type Stage, surroundings } from './stages.js';

const cli = resolve('dist/cli/main.js');
const preload = pathToFileURL(resolve('test/resilience/kill-at-event.mjs')).href;

/** Where the process of a run is killed. */
export type Kill = FileKill | ServerKill;

/** At the nth file event: before it, after it, or after half of it. */
interface FileKill {
  readonly event: number;
  readonly how: How;
}

/** At the nth write on the server, of several in flight: before it is done, or after it and before the response. */
interface ServerKill {
  readonly write: number;
  readonly work: 'before' | 'after';
}

export interface Outcome {
  /** What is wrong, a sentence each; empty if nothing is. */
  readonly wrong: readonly string[];
  /** How many regenerations a person had to settle. */
  readonly settled: number;
}

/** What an unfinished run left, and the server that continues. */
interface Left {
  readonly folder: string;
  readonly sandbox: Sandbox;
  /** How often the server regenerated each client's DID. */
  readonly regenerated: ReadonlyMap<string, number>;
}

/** Sets up what a run left. */
export async function setUp(on: Stage, image: Image): Promise<Left> {
  const regenerated = new Map(image.regenerated);
  const intercept = async ({ method, path }: SandboxRequest) => {
    if (method === 'POST') regenerated.set(path, (regenerated.get(path) ?? 0) + 1);
    return undefined;
  };
  const sandbox = await startSandbox({ profile: on.profile, seed: image.server, intercept });
  return { folder: await copyOf(image, sandbox.url), sandbox, regenerated };
}

/** Kills the process of a second run. Throws if the process ends otherwise. */
export async function killProcess(on: Stage, kill: Kill): Promise<Left> {
  let child: ChildProcess | undefined;
  let ended: Promise<unknown> | undefined;
  let writes = 0;
  const regenerated = new Map<string, number>();
  const intercept = async ({ method, path }: SandboxRequest) => {
    if (method === 'GET') return undefined;
    writes += 1;
    const work = 'write' in kill && writes === kill.write ? kill.work : undefined;
    if (work !== undefined) {
      child?.kill('SIGKILL');
      await ended;
    }
    if (method === 'POST' && work !== 'before') regenerated.set(path, (regenerated.get(path) ?? 0) + 1);
    return work === undefined ? undefined : ({ kind: 'reset', when: work } as const);
  };
  const sandbox = await startSandbox({ profile: on.profile, seed: on.first.server, intercept });
  const folder = await copyOf(on.first, sandbox.url);
  const { cwd, env } = surroundings(folder, sandbox);
  const byFile = 'event' in kill;
  const killAt = byFile ? { IDOPS_DIE_AT: String(kill.event), IDOPS_DIE_HOW: kill.how } : {};
  const args = ['apply', '--yes', '--concurrency', byFile ? '1' : '10'];
  const run = spawn(process.execPath, ['--import', preload, cli, ...args], {
    cwd,
    env: { ...env, ...killAt },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  child = run;
  let stderr = '';
  run.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const ending = once(run, 'close');
  ended = ending;
  const [, signal] = await ending;
  if (signal !== 'SIGKILL') throw new Error(`the run ended by itself: ${stderr}`);
  return { folder, sandbox, regenerated };
}

/** The files of a project, without what differs each time: whole lines, and whether a line is cut off. */
export async function shapeOf({ folder }: { readonly folder: string }): Promise<string[]> {
  const files = Object.entries(await filesIn(join(folder, '.idops')));
  return files
    .map(([path, text]) => {
      const name = path.replace(/\d{8}T\d{6}Z?-\w+/, 'RUN').replace(/\.idops-.+\.tmp/, 'TEMPORARY');
      const torn = text === '' || text.endsWith('\n') ? '' : ', and a part of one';
      return `${name}: ${text.split('\n').length - 1} lines${torn}`;
    })
    .sort();
}

/** Runs again after a killed run, and checks the result. */
export async function rerun(on: Stage, left: Left): Promise<Outcome> {
  const { folder, sandbox, regenerated } = left;
  const wrong: string[] = [];
  const check = (what: string, good: boolean): void => {
    if (!good) wrong.push(what);
  };
  try {
    wrong.push(...(await unreadable(folder, true)));
    const locked = existsSync(join(folder, '.idops', 'state.json.lock'));

    const second = await run(folder, sandbox, ['apply', '--yes']);
    check(
      `no word of the lock: ${second.stderr}`,
      !locked || second.stderr.includes('took over the lock of apply'),
    );
    wrong.push(...(await unreadable(folder, false)));
    const settled = second.code === 0 ? 0 : await settleAll(folder, sandbox, second, regenerated, wrong);

    const { plan, unfinished } = await look(folder, sandbox);
    check(
      `it has not converged: ${plan.changes.map(({ address, action, reason }) => `${address} ${action} ${reason}`)}`,
      plan.changes.every(({ action }) => action === 'unchanged'),
    );
    check(`a run is still unfinished: ${unfinished}`, unfinished.length === 0);
    check(
      'the server is not as it should be',
      JSON.stringify(lasting(sandbox.snapshot())) === JSON.stringify(lasting(on.wanted)),
    );
    check(`regenerated ${[...regenerated.values()]}`, regenerated.size === 2);
    check(
      `regenerated more than once: ${JSON.stringify([...regenerated])}`,
      [...regenerated.values()].every((times) => times === 1),
    );
    wrong.push(...(await missingImages(folder, on.first.server, on.profile)));
    const locks = (await readdir(join(folder, '.idops'))).filter(
      (name) => name.includes('lock') && name === 'state.json.lock',
    );
    check(`left behind: ${locks}`, locks.length === 0);
    return { wrong, settled };
  } catch (failure) {
    // The place of the kill is reported together with what is wrong.
    return { wrong: [...wrong, String(failure)], settled: 0 };
  } finally {
    await sandbox.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** A plan made in this process, and the unfinished runs. */
async function look(folder: string, { url, token }: Sandbox): Promise<{ plan: Plan; unfinished: string[] }> {
  const variables = { IDOPS_BASE_URL: url, IDOPS_TOKEN: token };
  const session = await openSession(await loadProject({ cwd: folder, variables }));
  try {
    const plan = await session.plan();
    const runs = join(folder, '.idops', 'runs');
    const contents = await Promise.all(
      (await fileRuns(runs).list()).map((name) => fileRuns(runs).read(name)),
    );
    return { plan, unfinished: contents.flatMap((one) => (one === null || one.ended ? [] : [one.run.run])) };
  } finally {
    await session.close();
  }
}

/** What is unreadable in state and journals; right after a kill, a last line may be cut off. */
async function unreadable(folder: string, torn: boolean): Promise<string[]> {
  const wrong: string[] = [];
  const runs = join(folder, '.idops', 'runs');
  try {
    stateSchema.parse(JSON.parse(await readFile(join(folder, '.idops', 'state.json'), 'utf8')));
    for (const name of await fileRuns(runs).list()) {
      const text = await readFile(join(runs, `${name}.jsonl`), 'utf8');
      const content = await fileRuns(runs).read(name);
      if (!torn && content !== null && !text.endsWith('\n')) wrong.push(`${name} ends in a torn line`);
    }
  } catch (failure) {
    wrong.push(`unreadable: ${failure}`);
  }
  return wrong;
}

/** Settles regenerations with unknown outcome, as a person does, and returns how many there were. */
async function settleAll(
  folder: string,
  sandbox: Sandbox,
  { stderr, stdout }: Ran,
  regenerated: ReadonlyMap<string, number>,
  wrong: string[],
): Promise<number> {
  const posts = sandbox.requests.filter(({ method }) => method === 'POST').length;
  const { plan } = await look(folder, sandbox);
  const blocked = plan.changes.filter(({ action }) => action === 'blocked');
  if (blocked.length === 0) wrong.push(`apply failed: ${stderr}${stdout}`);
  for (const { address, kind, reason } of blocked) {
    const cutOff = /run (\S+) sent a regeneration/.exec(reason ?? '')?.[1];
    if (kind !== 'Client' || cutOff === undefined) {
      wrong.push(`${address} is blocked: ${reason}`);
      continue;
    }
    const done = regenerated.has(`/api/clients/${address.slice('Client/'.length)}/regenerate_did`);
    const args = ['runs', 'settle', cutOff, address, done ? '--done' : '--not-done', '--yes'];
    const settled = await run(folder, sandbox, args);
    if (settled.code !== 0) wrong.push(`settle failed: ${settled.stderr}`);
  }
  if (sandbox.requests.filter(({ method }) => method === 'POST').length !== posts)
    wrong.push('sent while blocked');
  const last = await run(folder, sandbox, ['apply', '--yes']);
  if (last.code !== 0) wrong.push(`apply failed after settling: ${last.stderr}${last.stdout}`);
  return blocked.length;
}

/** The data without DIDs, which differ each time. */
function lasting(data: SandboxSeed): object {
  return comparable({ ...data, clients: data.clients.map((client) => ({ ...client, did: null })) });
}

/** The changed objects whose former fields are in no journal. */
async function missingImages(folder: string, seed: SandboxSeed, profile: SandboxProfile): Promise<string[]> {
  const runs = join(folder, '.idops', 'runs');
  const contents = await Promise.all((await fileRuns(runs).list()).map((name) => fileRuns(runs).read(name)));
  const lines = contents.flatMap((one) => one?.lines ?? []);
  const has = (key: string, fields: SendingLine['before']['fields']): boolean =>
    lines.some(
      (line) =>
        line.type === 'sending' &&
        line.key === key &&
        Object.entries(fields).every(
          ([field, value]) => JSON.stringify(line.before.fields[field]) === JSON.stringify(value),
        ),
    );
  const bodies = (type: string): SendingLine['before']['fields'] => {
    const found = seed.templates.find((one) => one.type === type);
    return { txt_content: found?.txt_content ?? null, html_content: found?.html_content ?? null };
  };
  const [ada] = seed.users;
  const images: [string, SendingLine['before']['fields']][] = [
    [`Organization/${ids.acme}`, { label: 'First label' }],
    [`Organization/${ids.globex}`, { label: 'First globex' }],
    [`Organization/${ids.initech}`, { name: 'initech' }],
    [`User/${ids.ada}`, { group: ada?.group ?? null }],
    [`User/${ids.grace}`, { group: null }],
    [`KeyPair/${ids.secondKey}`, { is_default: false }],
    [`EmailTemplate/${ids.backend}/reset_password_instructions`, bodies('reset_password_instructions')],
    [`EmailTemplate/${ids.backend}/tx_code`, bodies('tx_code')],
    [`Client/${ids.portal}`, profile === 'boruta' ? { did: 'did:example:before' } : {}],
  ];
  return images.filter(([key, fields]) => !has(key, fields)).map(([key]) => `no image of ${key} before`);
}
