import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
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
import { ids } from '../sandbox/asking.js';

const cli = resolve('dist/cli/main.js');
const preload = pathToFileURL(resolve('test/resilience/dying.mjs')).href;

/** Where a run is killed. */
export type Kill = (FileKill | ServerKill) & {
  /** The nth thing that the run after it does with a file, before which that one is killed too. */
  readonly again?: number;
};

/** At the nth thing that it does with a file: before it, after it, or when half of it is done. */
interface FileKill {
  readonly at: 'file';
  readonly event: number;
  readonly how: 'before' | 'after' | 'half';
  readonly concurrency: number;
}

/** At the nth write that the server gets: before it does the work, or after it, with no answer. */
interface ServerKill {
  readonly at: 'server';
  readonly write: number;
  readonly work: 'before' | 'after';
  readonly concurrency: number;
}

/** What a kill and the runs after it came to. */
export interface Outcome {
  /** How many processes were killed. */
  readonly kills: number;
  /** What is wrong, a sentence each; empty where all is well. */
  readonly wrong: readonly string[];
  /** Whether a person had to say what became of a regeneration. */
  readonly settled: number;
}

/** A project that was applied once, and what is declared next. */
export interface Stage {
  readonly profile: SandboxProfile;
  /** The project's folder after the first run; the address in it stands for the server. */
  readonly folder: string;
  readonly seed: SandboxSeed;
  readonly url: string;
  /** The server as an undisturbed second run leaves it. */
  readonly wanted: SandboxSeed;
  /** The names of what an undisturbed second run does with files, one connection at a time. */
  readonly events: readonly string[];
  /** How many writes it sends. */
  readonly writes: number;
}

const template = (type: string, rest: string): string =>
  `kind: EmailTemplate\nbackend_id: ${ids.backend}\ntype: ${type}\n${rest}`;

function firstManifests(profile: SandboxProfile): string {
  const both = (text: string): string => `txt_content: ${text} {{ code }}\nhtml_content: <p>${text}</p>\n`;
  return [
    `kind: Organization\nid: ${ids.acme}\nlabel: First label\n`,
    `kind: Organization\nid: ${ids.globex}\nlabel: First globex\n`,
    `kind: Organization\nid: ${ids.initech}\nname: initech\n`,
    `kind: User\nid: ${ids.ada}\ngroup: first\n${profile === 'documented' ? 'blocked: false\n' : ''}`,
    `kind: User\nid: ${ids.grace}\ngroup: null\nauthorized_scopes: [{id: ${ids.billingRead}, name: "billing:read", label: Read}]\n`,
    `kind: KeyPair\nid: ${ids.firstKey}\nis_default: true\n`,
    `kind: KeyPair\nid: ${ids.secondKey}\nis_default: false\n`,
    template('reset_password_instructions', both('first')),
    template('tx_code', both('to be deleted')),
    `kind: Client\nid: ${ids.portal}\ndid_generation: 1\n`,
    `kind: Client\nid: ${ids.wallet}\ndid_generation: 4\n`,
  ].join('---\n');
}

function secondManifests(profile: SandboxProfile): string {
  return [
    `kind: Organization\nid: ${ids.acme}\nlabel: Second label\n`,
    `kind: Organization\nid: ${ids.globex}\nlabel: Second globex\n`,
    `kind: Organization\nid: ${ids.initech}\nname: renamed\n`,
    `kind: User\nid: ${ids.ada}\ngroup: second\n${profile === 'documented' ? 'blocked: true\n' : ''}organizations: [globex]\n`,
    `kind: User\nid: ${ids.grace}\ngroup: second\nauthorized_scopes: [{id: ${ids.billingWrite}, name: "billing:write", label: Write}]\n`,
    `kind: KeyPair\nid: ${ids.firstKey}\nis_default: false\n`,
    `kind: KeyPair\nid: ${ids.secondKey}\nis_default: true\n`,
    template('reset_password_instructions', 'txt_content: second {{ code }}\n'),
    template('tx_code', 'state: absent\n'),
    template('confirmation_instructions', 'txt_content: new {{ code }}\nhtml_content: <b>new</b>\n'),
    `kind: Client\nid: ${ids.portal}\ndid_generation: 2\n`,
    `kind: Client\nid: ${ids.wallet}\ndid_generation: 7\n`,
  ].join('---\n');
}

const temporary: string[] = [];

/** Removes what the stages left. */
export async function cleanUp(): Promise<void> {
  for (const folder of temporary.splice(0)) await rm(folder, { recursive: true, force: true });
}

async function newFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'idops-kill-')));
  temporary.push(folder);
  return folder;
}

/** Applies the first manifests, puts the second ones there, and sees what an undisturbed run of them does. */
export async function stage(profile: SandboxProfile): Promise<Stage> {
  const folder = await newFolder();
  const sandbox = await startSandbox({ profile });
  try {
    const [client] = sandbox.data.clients;
    // On the server that derives DIDs from keys, one client gets another DID and one the same.
    if (client !== undefined) client.did = 'did:example:before';
    const config = `version: 1
server: {base_url: "\${IDOPS_BASE_URL}", profile: ${profile}, auth: {token: "\${IDOPS_TOKEN}"}}
manifests: [all.yaml]
safety: {max_destructive: 100}
`;
    await writeFile(join(folder, 'idops.yaml'), config);
    await writeFile(join(folder, 'all.yaml'), firstManifests(profile));
    await succeed(run(folder, sandbox, ['apply', '--yes']));
    await writeFile(join(folder, 'all.yaml'), secondManifests(profile));
    const seed = sandbox.snapshot();
    const before = sandbox.requests.length;
    const undisturbed = await newFolder();
    await cp(folder, undisturbed, { recursive: true });
    const log = join(await newFolder(), 'events');
    const env = { IDOPS_DIE_LOG: log };
    await succeed(run(undisturbed, sandbox, ['apply', '--yes', '--concurrency', '1'], env));
    const writes = sandbox.requests.slice(before).filter(({ method }) => method !== 'GET').length;
    const events = (await readFile(log, 'utf8')).trimEnd().split('\n');
    return { profile, folder, seed, url: sandbox.url, wanted: sandbox.snapshot(), events, writes };
  } finally {
    await sandbox.close();
  }
}

/** Every place where a second run can be killed. */
export function killPoints({ events, writes }: Stage): Kill[] {
  const files = events.flatMap((name, index): Kill[] => {
    const at = { at: 'file', event: index + 1, concurrency: 1 } as const;
    // What is between two of them is the end of the one or the beginning of the other.
    if (name === 'appendFile' || name === 'writeFile') return [{ ...at, how: 'half' }];
    return [{ ...at, how: name === 'datasync' ? 'after' : 'before' }];
  });
  const server = Array.from({ length: writes }, (_, index) => index + 1).flatMap((write): Kill[] => [
    { at: 'server', write, work: 'before', concurrency: 1 },
    { at: 'server', write, work: 'after', concurrency: 1 },
    { at: 'server', write, work: write % 2 === 0 ? 'before' : 'after', concurrency: 10 },
  ]);
  // The run after it has to settle, which takes about twenty things with files; it is killed at each of them.
  const twice = Array.from({ length: 20 }, (_, index): Kill => {
    const write = writes - (index % 3);
    return { at: 'server', write, work: 'after', concurrency: 1, again: index + 1 };
  });
  return [...files, ...server, ...twice];
}

interface Ran {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
  readonly stdout: string;
}

interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<Ran>;
}

function run(
  folder: string,
  { url, token }: Sandbox,
  args: readonly string[],
  env: { [name: string]: string } = {},
): Started {
  const child = spawn(process.execPath, ['--import', preload, cli, ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, IDOPS_BASE_URL: url, IDOPS_TOKEN: token, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  let stdout = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  const ended = new Promise<Ran>((done, failed) => {
    child.on('error', failed);
    child.on('close', (code, signal) => done({ code, signal, stderr, stdout }));
  });
  return { child, ended };
}

async function succeed({ ended }: Started): Promise<void> {
  const { code, stderr, stdout } = await ended;
  if (code !== 0) throw new Error(`exit ${code}: ${stderr}${stdout}`);
}

/** Puts a server in the place of the one that the files speak of. */
async function moveTo(folder: string, from: string, to: string): Promise<void> {
  const entries = await readdir(join(folder, '.idops'), { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name);
    await writeFile(path, (await readFile(path, 'utf8')).replaceAll(from, to));
  }
}

/** Kills a second run at a place, runs it again, and looks at what all that came to. */
export async function killAndGoOn(on: Stage, kill: Kill): Promise<Outcome> {
  const folder = await newFolder();
  await cp(on.folder, folder, { recursive: true });
  let first: Started | undefined;
  let killing = kill.at === 'server';
  let writes = 0;
  /** The regenerations that the server did, by client. */
  const regenerated = new Map<string, number>();
  const intercept = async ({ method, path }: SandboxRequest) => {
    if (method === 'GET') return undefined;
    writes += 1;
    const fatal = killing && kill.at === 'server' && writes === kill.write;
    if (fatal) {
      killing = false;
      first?.child.kill('SIGKILL');
      await first?.ended;
    }
    const reset = fatal
      ? ({ kind: 'reset', when: kill.at === 'server' ? kill.work : 'before' } as const)
      : undefined;
    if (method === 'POST' && reset?.when !== 'before')
      regenerated.set(path, (regenerated.get(path) ?? 0) + 1);
    return reset;
  };
  const sandbox = await startSandbox({ profile: on.profile, seed: on.seed, intercept });
  const wrong: string[] = [];
  const check = (what: string, good: boolean): void => {
    if (!good) wrong.push(what);
  };
  try {
    await moveTo(folder, on.url, sandbox.url);
    const env: { [name: string]: string } =
      kill.at === 'file' ? { IDOPS_DIE_AT: String(kill.event), IDOPS_DIE_HOW: kill.how } : {};
    first = run(folder, sandbox, ['apply', '--yes', '--concurrency', String(kill.concurrency)], env);
    const died = await first.ended;
    let kills = died.signal === 'SIGKILL' ? 1 : 0;
    check(`the first run ended by itself: ${died.code} ${died.stderr}`, kills === 1);
    wrong.push(...(await unreadable(folder, true)));
    if (kill.again !== undefined) {
      const env = { IDOPS_DIE_AT: String(kill.again) };
      const next = await run(folder, sandbox, ['apply', '--yes'], env).ended;
      kills += next.signal === 'SIGKILL' ? 1 : 0;
      wrong.push(...(await unreadable(folder, true)));
    }
    const locked = existsSync(join(folder, '.idops', 'state.json.lock'));

    const second = await run(folder, sandbox, ['apply', '--yes']).ended;
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
      JSON.stringify(comparable(sandbox.snapshot())) === JSON.stringify(comparable(on.wanted)),
    );
    check(`regenerated ${[...regenerated.values()]}`, regenerated.size === 2);
    check(
      `regenerated more than once: ${JSON.stringify([...regenerated])}`,
      [...regenerated.values()].every((times) => times === 1),
    );
    wrong.push(...(await missingImages(folder, on.seed, on.profile)));
    const left = (await readdir(join(folder, '.idops'))).filter(
      (name) => name.includes('lock') && name === 'state.json.lock',
    );
    check(`left behind: ${left}`, left.length === 0);
    return { kills, wrong, settled };
  } finally {
    await sandbox.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** What a person does about regenerations that nobody knows the outcome of; gives how many there were. */
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
    const run = /run (\S+) sent a regeneration/.exec(reason ?? '')?.[1];
    if (kind !== 'Client' || run === undefined) {
      wrong.push(`${address} is blocked: ${reason}`);
      continue;
    }
    const done = regenerated.has(`/api/clients/${address.slice('Client/'.length)}/regenerate_did`);
    const args = ['runs', 'settle', run, address, done ? '--done' : '--not-done'];
    const settled = await startedWithoutServer(folder, sandbox, args);
    if (settled.code !== 0) wrong.push(`settle failed: ${settled.stderr}`);
  }
  if (sandbox.requests.filter(({ method }) => method === 'POST').length !== posts)
    wrong.push('sent while blocked');
  const last = await run(folder, sandbox, ['apply', '--yes']).ended;
  if (last.code !== 0) wrong.push(`apply failed after settling: ${last.stderr}${last.stdout}`);
  return blocked.length;
}

async function startedWithoutServer(folder: string, sandbox: Sandbox, args: readonly string[]): Promise<Ran> {
  return await run(folder, sandbox, args).ended;
}

/** A plan made in this process, and the runs that are still open. */
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

/** What of the state and the journals can't be read; a line that was cut off is allowed right after a kill. */
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

/** Without what is another one each time: DIDs, and the ids of templates that were written anew. */
function comparable({ templates, clients, ...rest }: SandboxSeed): object {
  return {
    ...rest,
    clients: clients.map(({ did: _, ...client }) => client),
    templates: templates.map(({ id: _, ...one }) => one).sort((a, b) => (a.type < b.type ? -1 : 1)),
    organizations: [...rest.organizations].sort((a, b) => (a.id < b.id ? -1 : 1)),
  };
}

/** The changed objects whose state before is in no journal. */
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
