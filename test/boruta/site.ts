import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setImmediate as atOnce } from 'node:timers/promises';
import type { ChangeResult } from '../../src/apply/result.js';
import { ProblemsError } from '../../src/base/problems.js';
import type { Progress } from '../../src/base/progress.js';
import type { Json } from '../../src/base/values.js';
import { refusalsOf } from '../../src/plan/approve.js';
import type { Change, Plan } from '../../src/plan/plan.js';
import { loadProject } from '../../src/project/index.js';
import {
  type Intercept,
  type Sandbox,
  type SandboxOptions,
  type SandboxRequest,
  type SandboxSeed,
  startSandbox,
} from '../../src/sandbox/index.js';
import { openForWriting, openSession } from '../../src/session/open.js';
import type { Session, SessionOptions, WritingCommand, WritingSession } from '../../src/session/session.js';
import { applyAll, within } from '../approving.js';
import { afterwards, temporaryFolder } from '../cleanups.js';

import { ids } from '../demo-ids.js';

export { ids };

/** A manifest document, as a test writes it. */
export interface Doc {
  readonly kind: string;
  readonly [field: string]: Json;
}

export interface SiteOptions extends Omit<SandboxOptions, 'intercept'> {
  /** The profile that idops uses; default: the profile of the sandbox. */
  readonly idopsProfile?: 'documented' | 'boruta';
  /** Whether the configuration has `trust_profile`; default: true. */
  readonly trusts?: boolean;
  /** Whether the unknown path answers 403 until the first write. */
  readonly hides?: boolean;
  readonly concurrency?: number;
  readonly retries?: number;
  /** Further settings of `safety`. */
  readonly safety?: { readonly [setting: string]: Json };
  /** Process variables. */
  readonly variables?: { readonly [name: string]: string };
  /** Further settings of the configuration. */
  readonly settings?: { readonly [setting: string]: Json };
}

/** A plan, and the result of applying it. */
interface Applied {
  readonly plan: Plan;
  readonly run: string | null;
  readonly results: readonly ChangeResult[];
  /** The status of each result, or `status: error`, by address. */
  readonly statuses: { readonly [address: string]: string };
}

/** A sandbox, a project for it, and ways to use it in this process. */
export interface Site {
  readonly folder: string;
  readonly sandbox: Sandbox;
  /** Decides which requests get a fault; undefined for none. */
  fault: ((request: SandboxRequest) => Intercept | undefined | Promise<undefined>) | undefined;
  /** The time at which `until` is evaluated; default: the present. */
  now: Date | undefined;
  session<T>(work: (session: Session) => Promise<T>, progress?: Progress): Promise<T>;
  writing<T>(
    command: WritingCommand,
    work: (session: WritingSession) => Promise<T>,
    progress?: Progress,
  ): Promise<T>;
  /** Changes the profile. */
  use(profile: 'documented' | 'boruta'): Promise<void>;
  /** Replaces the manifests, one document per file. */
  declare(...documents: readonly Doc[]): Promise<void>;
  plan(...documents: readonly Doc[]): Promise<Plan>;
  /** Removes access that has ended, and nothing else. */
  end(): Promise<Applied>;
  apply(...documents: readonly Doc[]): Promise<Applied>;
  /** Plans, lets a person act, and applies; `asked` tells whether idops asked a question meanwhile. */
  applyAfter(person: () => unknown, asked?: boolean): Promise<Applied>;
  undo(run: string | null): Promise<Applied & { readonly left: readonly string[] }>;
  /** The writes since the last call, as `METHOD path`. */
  writes(): string[];
}

/** Starts a sandbox, Boruta by default, and creates a project for it. Both are removed after the test. */
export async function site(options: SiteOptions = {}): Promise<Site> {
  const {
    idopsProfile,
    concurrency,
    retries,
    safety,
    settings,
    variables,
    trusts = true,
    hides,
    ...sandboxOptions
  } = options;
  const folder = await temporaryFolder('boruta');
  let made: Site | undefined;
  const isHidden = ({ path }: SandboxRequest) =>
    hides === true &&
    path === '/api/idops-doctor' &&
    sandbox.requests.every(({ method }) => method === 'GET');
  const sandbox = await startSandbox({
    profile: 'boruta',
    ...sandboxOptions,
    intercept: (request) =>
      isHidden(request) ? { kind: 'answer', status: 403, body: {} } : made?.fault?.(request),
  });
  afterwards(() => sandbox.close());
  const profile = idopsProfile ?? sandboxOptions.profile ?? 'boruta';
  const use = (name: string): Promise<void> =>
    write(
      join(folder, 'idops.yaml'),
      JSON.stringify({
        version: 1,
        server: {
          base_url: sandbox.url,
          profile: name,
          ...(trusts ? { trust_profile: true } : {}),
          auth: { token: '${IDOPS_TOKEN}' },
        },
        safety: { max_destructive: 10_000, ...safety },
        checks: { 'missing-link': 'off' },
        ...settings,
      }),
    );
  await use(profile);
  let seen = 0;
  const load = () => loadProject({ cwd: folder, variables: { ...variables, IDOPS_TOKEN: sandbox.token } });
  const optionsWith = (progress: Progress | undefined): SessionOptions => ({
    ...(progress === undefined ? {} : { progress }),
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(made?.now === undefined ? {} : { now: made.now }),
    // The sandbox needs no pauses before retries.
    network: { delay: () => atOnce(), ...(retries === undefined ? {} : { retries }) },
    pause: () => atOnce(),
  });
  const session: Site['session'] = async (work, progress) =>
    await within(await openSession(await load(), optionsWith(progress)), work);
  const writing: Site['writing'] = async (command, work, progress) =>
    await within(await openForWriting(await load(), command, optionsWith(progress)), work);
  const declare: Site['declare'] = async (...documents) => {
    await rm(join(folder, 'manifests'), { recursive: true, force: true });
    for (const [index, document] of documents.entries()) {
      await write(join(folder, 'manifests', `${index}.yaml`), JSON.stringify(document, null, 2));
    }
  };
  const declareIfAny = async (documents: readonly Doc[]): Promise<void> => {
    if (documents.length > 0) await declare(...documents);
  };
  made = {
    folder,
    sandbox,
    fault: undefined,
    now: undefined,
    session,
    writing,
    use,
    declare,
    async plan(...documents) {
      await declareIfAny(documents);
      return await session((opened) => opened.plan());
    },
    async apply(...documents) {
      await declareIfAny(documents);
      return await writing('apply', async (opened) => carryOut(opened, await opened.plan()));
    },
    async applyAfter(person, asked = true) {
      return await writing('apply', async (opened) => {
        const plan = await opened.plan();
        person();
        return await carryOut(opened, plan, asked ? performance.now() : 0);
      });
    },
    async end() {
      return await writing('apply', async (opened) => carryOut(opened, await opened.plan({ ended: true })));
    },
    async undo(run) {
      return await writing('undo', async (opened) => {
        const { plan, left } = await opened.planUndo(run ?? '');
        const ran = await carryOut(opened, plan);
        return { ...ran, left: left.map(({ address, reason }) => `${address}: ${reason}`) };
      });
    },
    writes() {
      const sent = sandbox.requests.slice(seen).filter(({ method }) => method !== 'GET');
      seen = sandbox.requests.length;
      return sent.map(({ method, path }) => `${method} ${path}`);
    },
  };
  return made;
}

async function carryOut(session: WritingSession, plan: Plan, asked = 0): Promise<Applied> {
  const problems = refusalsOf(plan, session.project.safety().maxDestructive);
  if (problems.length > 0) throw new Error(problems.map(({ message }) => message).join('\n'));
  const { result, problems: after } = await applyAll(session, plan, asked);
  if (after.length > 0) throw new Error(after.map(({ message }) => message).join('\n'));
  const statuses = result.results.map(
    ({ address, status, error }) => [address, error === null ? status : `${status}: ${error}`] as const,
  );
  return { plan, run: result.run, results: result.results, statuses: Object.fromEntries(statuses) };
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

/** The data of a user, to read or change. */
export function user(at: Site, id: string = ids.ada) {
  const found = at.sandbox.data.users.find((candidate) => candidate.id === id);
  if (found === undefined) throw new Error(`no user ${id}`);
  return found;
}

/** Removes the row with an id. */
export function removeRow(rows: { readonly id: string }[], id: string): void {
  rows.splice(
    rows.findIndex((row) => row.id === id),
    1,
  );
}

/** The ids of the organizations that a user is in. */
export function memberships(at: Site, id?: string): string[] {
  return user(at, id)
    .organizations.map((one) => one.id)
    .sort();
}

/** The problems of failed work, each as its code and lines. */
export async function problemsOf(work: Promise<unknown>): Promise<string[]> {
  const failure = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(failure instanceof ProblemsError)) throw new Error('no problems', { cause: failure });
  return failure.problems.map(({ code, places }) => [code, ...places.map(({ line }) => line)].join(' '));
}

/** The template of a type, if the server has one. */
export function templateOf({ sandbox }: Site, type = 'reset_password_instructions') {
  return sandbox.data.templates.find((one) => one.type === type);
}

/** Answers the first `times` requests of a method with a fault; calls `before` first. */
export function once(at: Site, method: string, fault: Intercept, before?: () => unknown, times = 1): void {
  let left = times;
  at.fault = (request) => {
    if (request.method !== method || left === 0) return undefined;
    left -= 1;
    before?.();
    return fault;
  };
}

/** Answers every request of a method with a fault. */
export function always(at: Site, method: string, fault: Intercept): void {
  once(at, method, fault, undefined, Number.POSITIVE_INFINITY);
}

/** All subsets of a list, each in the order of the list. */
export function subsets<T>(all: readonly T[]): T[][] {
  return all.reduce<T[][]>((sets, item) => sets.flatMap((set) => [set, [...set, item]]), [[]]);
}

/** The change that a plan has for an address. */
export function changeOf(plan: Plan, address: string): Change {
  const found = plan.changes.find((change) => change.address === address);
  if (found === undefined) throw new Error(`no ${address} in the plan`);
  return found;
}

/** The changes of a plan except `unchanged`, as `action address: reason`. */
export function todo({ changes }: Plan): string[] {
  return changes
    .filter(({ action }) => action !== 'unchanged')
    .map(({ action, address, reason }) => `${action} ${address}${reason === null ? '' : `: ${reason}`}`);
}

/** The lines of all journals of a site. */
export async function journalLines({ folder }: Site): Promise<string[]> {
  const runs = join(folder, '.idops', 'runs');
  const texts = await Promise.all(
    (await readdir(runs)).sort().map((name) => readFile(join(runs, name), 'utf8')),
  );
  return texts.flatMap((text) => text.trimEnd().split('\n'));
}

/** Resets the data of a sandbox to a snapshot. */
export function restore({ sandbox }: Site, seed: SandboxSeed): void {
  const copy = structuredClone(seed);
  for (const name of Object.keys(copy) as (keyof SandboxSeed)[]) {
    const rows: unknown[] = sandbox.data[name];
    rows.splice(0, rows.length, ...(copy[name] ?? []));
  }
}

/** The data with sorted lists, and without ids of templates, which change if a template is replaced. */
export function comparable(data: SandboxSeed): object {
  const byId = <T extends { id: string }>(rows: readonly T[]) =>
    [...rows].sort((a, b) => a.id.localeCompare(b.id));
  return {
    ...data,
    organizations: byId(data.organizations),
    users: data.users.map((user) => ({
      ...user,
      authorized_scopes: byId(user.authorized_scopes),
      organizations: byId(user.organizations),
      roles: byId(user.roles),
    })),
    templates: data.templates
      .map(({ id: _, ...template }) => template)
      .sort((a, b) => `${a.backend_id}${a.type}`.localeCompare(`${b.backend_id}${b.type}`)),
  };
}
