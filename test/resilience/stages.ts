import { spawnSync } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pLimit from 'p-limit';
import {
  type Sandbox,
  type SandboxProfile,
  type SandboxSeed,
  startSandbox,
} from '../../src/sandbox/index.js';
import { ids } from '../demo-ids.js';
import { runInProcess } from '../e2e/in-process.js';
import type { Ran } from '../e2e/running.js';

/** What a process leaves if it ends at some moment: disk and server, with nothing in flight. */
export interface Image {
  /** A project's folder, in which `url` is the server. */
  readonly folder: string;
  readonly url: string;
  readonly server: SandboxSeed;
  /** How often the server regenerated each client's DID. */
  readonly regenerated: ReadonlyMap<string, number>;
}

/** A project that was applied once, and the next manifests. */
export interface Stage {
  readonly profile: SandboxProfile;
  readonly first: Image;
  /** The server after an undisturbed second run. */
  readonly wanted: SandboxSeed;
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

export async function cleanUp(): Promise<void> {
  for (const folder of temporary.splice(0)) await rm(folder, { recursive: true, force: true });
}

/** A folder that `cleanUp` removes. */
export async function newFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'idops-kill-')));
  temporary.push(folder);
  return folder;
}

/** Applies the first manifests, writes the second ones, and records what an undisturbed run of them does. */
export async function stage(profile: SandboxProfile): Promise<Stage> {
  const folder = await newFolder();
  const sandbox = await startSandbox({ profile });
  try {
    const [client] = sandbox.data.clients;
    // On a server that derives DIDs from keys, one client gets another DID, and one the same.
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
    const first = { folder, url: sandbox.url, server: sandbox.snapshot(), regenerated: new Map() };
    const before = sandbox.requests.length;
    const undisturbed = await newFolder();
    await cp(folder, undisturbed, { recursive: true });
    await succeed(run(undisturbed, sandbox, ['apply', '--yes', '--concurrency', '1']));
    const writes = sandbox.requests.slice(before).filter(({ method }) => method !== 'GET').length;
    return { profile, first, wanted: sandbox.snapshot(), writes };
  } finally {
    await sandbox.close();
  }
}

/** The original PATH, because a command in this process may change it. */
const searchPath = process.env.PATH;

/** The folder and the variables of a command, in this process or another. */
export function surroundings(folder: string, { url, token }: Sandbox) {
  return { cwd: folder, env: { PATH: searchPath, HOME: folder, IDOPS_BASE_URL: url, IDOPS_TOKEN: token } };
}

/** Several kills are checked at the same time, but a process has one folder and one set of variables. */
const oneAtATime = pLimit(1);

export async function run(folder: string, sandbox: Sandbox, args: readonly string[]): Promise<Ran> {
  return await oneAtATime(async () => {
    const ran = runInProcess(args, surroundings(folder, sandbox));
    if (ran === undefined) throw new Error('another command runs in this process');
    return await ran;
  });
}

export async function succeed(ran: Promise<Ran>): Promise<void> {
  const { code, stderr, stdout } = await ran;
  if (code !== 0) throw new Error(`exit ${code}: ${stderr}${stdout}`);
}

const gone = spawnSync('true').pid;

/**
 * A copy of an image's folder for another server. Files that this process wrote look as if a dead process
 * wrote them.
 */
export async function copyOf({ folder: from, url }: Image, to: string): Promise<string> {
  const folder = await newFolder();
  await cp(from, folder, { recursive: true });
  const entries = await readdir(join(folder, '.idops'), { recursive: true, withFileTypes: true });
  const own = new RegExp(`("pid": ?)${process.pid}\\b`, 'g');
  for (const entry of entries.filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name);
    const text = (await readFile(path, 'utf8')).replaceAll(url, to);
    await writeFile(path, text.replace(own, `$1${gone}`));
    await rename(path, join(entry.parentPath, entry.name.replace(`-${process.pid}-`, `-${gone}-`)));
  }
  return folder;
}
