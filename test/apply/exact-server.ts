import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parse, stringify } from 'lossless-json';
import { loadProject } from '../../src/project/index.js';
import { openForWriting, openSession } from '../../src/session/open.js';
import type { Session, WritingCommand, WritingSession } from '../../src/session/session.js';
import { fileRuns } from '../../src/state/file/runs.js';
import { applyAll as approveAll, within } from '../approving.js';
import { temporaryFolder } from '../cleanups.js';
import { runInProcess } from '../e2e/in-process.js';
import type { Ran } from '../e2e/running.js';
import { serve } from '../server/serving.js';

/** The original PATH, because a command in this process may change it. */
const searchPath = process.env.PATH;

export const userId = '9b1d5c1e-6f3a-4a0e-8b1a-0d6f3e1c2b77';

type Profile = 'documented' | 'boruta';

/** A server with one user that keeps every number as written, and a project for it. */
export interface ExactSite {
  readonly folder: string;
  /** The members of the user, each as JSON text. */
  readonly user: { [member: string]: string };
  /** The bodies of the writes, byte for byte. */
  readonly sent: string[];
  declare(yaml: string): Promise<void>;
  session<T>(work: (session: Session) => Promise<T>): Promise<T>;
  writing<T>(command: WritingCommand, work: (session: WritingSession) => Promise<T>): Promise<T>;
  /** Runs a command to its end, in this process. */
  idops(...args: string[]): Promise<Ran>;
  /** The names of the runs, oldest first. */
  runs(): Promise<string[]>;
  /** The text of the state and all journals. */
  records(): Promise<string>;
}

/** Starts the server with these members of the user; server and project are removed after the test. */
export async function exactSite(profile: Profile, user: { [member: string]: string }): Promise<ExactSite> {
  const folder = await temporaryFolder('numbers');
  const sent: string[] = [];
  const shown = () =>
    `{"data":{${[`"id":"${userId}"`, ...Object.entries(user).map(([name, text]) => `"${name}":${text}`)].join(', ')}}}`;
  const { origin } = await serve((response, { method, url, body }) => {
    const answer = (status: number, text: string) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(text);
    if (method === 'GET' && url.startsWith('/api/organizations')) {
      return answer(200, '{"data":[],"page_number":1,"page_size":500,"total_pages":1,"total_entries":0}');
    }
    if (url !== `/api/users/${userId}`) return answer(404, '{"code":"NOT_FOUND","message":"no such thing"}');
    if (method === 'PATCH') {
      sent.push(body);
      const { user: asked } = parse(body) as { user: object };
      for (const [name, member] of Object.entries(asked)) user[name] = stringify(member) ?? 'null';
    } else if (profile !== 'boruta') return answer(404, '{"code":"NOT_FOUND","message":"no such thing"}');
    return answer(200, shown());
  });
  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  };
  await write(
    'idops.yaml',
    `version: 1\nserver: {base_url: "${origin}", profile: ${profile}, trust_profile: true, auth: {token: "\${IDOPS_TOKEN}"}}\n`,
  );
  const variables = { IDOPS_TOKEN: 'token-of-the-test' };
  const load = () => loadProject({ cwd: folder, variables });
  const surroundings = () => ({ cwd: folder, env: { PATH: searchPath, HOME: folder, ...variables } });
  const site: ExactSite = {
    folder,
    user,
    sent,
    declare: (yaml) => write('manifests/user.yaml', `kind: User\nid: ${userId}\n${yaml}`),
    session: async (work) => await within(await openSession(await load()), work),
    writing: async (command, work) => await within(await openForWriting(await load(), command), work),
    idops: async (...args) => {
      const ran = await runInProcess(args, surroundings());
      if (ran === undefined) throw new Error('another command runs in this process');
      return ran;
    },
    runs: () => fileRuns(join(folder, '.idops', 'runs')).list(),
    async records() {
      const names = await readdir(join(folder, '.idops'), { recursive: true });
      const files = names.filter((name) => /\.jsonl?$/.test(name)).sort();
      return (await Promise.all(files.map((name) => readFile(join(folder, '.idops', name), 'utf8')))).join(
        '',
      );
    },
  };
  return site;
}

/** Plans and applies; returns the plan, and the error or status of each change. */
export async function applyAll(site: ExactSite) {
  return await site.writing('apply', async (session) => {
    const plan = await session.plan();
    const { result } = await approveAll(session, plan);
    const { run, results } = result;
    return { plan, run, statuses: results.map(({ status, error }) => error ?? status) };
  });
}

/** Undoes a run. */
export async function undoRun(site: ExactSite, run: string | null) {
  return await site.writing('undo', async (session) => {
    const { plan, left } = await session.planUndo(run ?? '');
    const { result } = await approveAll(session, plan);
    return { left, statuses: result.results.map(({ status, error }) => error ?? status) };
  });
}

/** The differences of the user that a plan shows now. */
export async function differences(site: ExactSite): Promise<string[]> {
  const plan = await site.session((session) => session.plan());
  return plan.changes.flatMap(({ fields }) =>
    fields.map(({ path, before, after }) => `${path}: ${String(before)} -> ${String(after)}`),
  );
}
