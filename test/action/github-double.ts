import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { strToU8, zipSync } from 'fflate';
import { json, type Received, serve } from '../server/serving.js';
import { answerGraphql, nodeOf } from './github-graphql.js';

/** A comment or an issue. */
export interface DoubleRemark {
  id: number;
  number: number;
  title?: string;
  body: string;
  state?: string;
  pull_request?: object;
  user: { id: number; login: string };
  created_at?: string;
  /** When and by whom it was last edited; null for a deleted account. */
  edited?: { readonly at: string; readonly by: DoubleRemark['user'] | null };
}

/** A pull request that was merged as a commit; `commits` were merged with it. */
function newPull(number: number, merge_commit_sha: string | null, ref: string, merged_at: string | null) {
  const base = { ref, repo: { full_name: 'acme/identity' } };
  return { number, base, head: { sha: branchHead }, merged_at, merge_commit_sha, commits: [] as string[] };
}

/** A workflow run, with the conclusions of its jobs. */
function newRun(
  id: number,
  created_at: string,
  given: { event: string; head_sha: string; run_attempt: number },
) {
  const isPlan = given.event.startsWith('pull_request');
  return {
    id,
    workflow_id: isPlan ? 1 : 2,
    path: `.github/workflows/idops-${isPlan ? 'pull-request' : 'merge'}.yml`,
    head_branch: isPlan ? 'topic' : 'main',
    head_repository: { full_name: 'acme/identity' },
    html_url: `https://github.example/acme/identity/actions/runs/${id}`,
    created_at,
    jobs: [] as { conclusion: string }[],
    ...given,
  };
}

function newArtifact(
  id: number,
  run: number,
  files: { readonly [name: string]: string },
  created_at: string,
) {
  const bytes = Object.entries(files).map(([name, text]) => [name, strToU8(text)]);
  return {
    id,
    run,
    name: 'idops-plan',
    data: zipSync(Object.fromEntries(bytes)),
    expired: false,
    created_at,
  };
}

/** A review, as GraphQL returns it. */
export interface DoubleReview {
  readonly number: number;
  readonly by: DoubleRemark['user'];
  readonly mayPush: boolean;
  readonly state?: 'APPROVED' | 'CHANGES_REQUESTED';
  readonly commit: string;
  readonly at: string;
}

/** A response that replaces the double's own. */
export interface DoubleFault {
  readonly method: string;
  readonly path: RegExp;
  /**
   * The status; `lost` closes the connection, `late` never responds, `cut` and `stalled` send only the beginning of a
   * response.
   */
  readonly status: number | 'lost' | 'late' | 'cut' | 'stalled';
  readonly message: string;
  /** Called when `late` or `stalled` begins. */
  readonly silent?: () => unknown;
  /** The body, by default an object with the message. */
  readonly body?: string;
  /** Whether the request is carried out first. */
  readonly done?: boolean;
  readonly headers?: { readonly [name: string]: string };
  /** How many requests get it; by default all. */
  times?: number;
}

/** The query and the body of a request. */
interface Asked {
  readonly sent: { readonly title?: string; readonly body?: string; query?: string };
  readonly query: URLSearchParams;
}

export type GithubDouble = Awaited<ReturnType<typeof githubDouble>>;

export const actionsBot = { id: 41898282, login: 'github-actions[bot]' };
/** The last commit of every pull request's branch. */
export const branchHead = 'beadfeed0123';

/** The parts of GitHub's API that the action uses. */
export async function githubDouble({ pageSize = 100 } = {}) {
  const kept = {
    comments: [] as DoubleRemark[],
    issues: [] as DoubleRemark[],
    pulls: [] as ReturnType<typeof newPull>[],
    runs: [] as ReturnType<typeof newRun>[],
    artifacts: [] as ReturnType<typeof newArtifact>[],
    reviews: [] as DoubleReview[],
    /** The files that every pull request changes. */
    files: [] as string[],
    /** Texts of files, by `COMMIT:PATH`. */
    contents: new Map<string, string>(),
    /** The members of teams, by their slug. */
    teams: new Map<string, readonly string[]>(),
    /** How many reviews a branch requires, by ruleset or by branch protection. */
    required: { byRuleset: 0, byProtection: 0, byCodeOwners: 0 },
    faults: [] as DoubleFault[],
    /** Every request, as `METHOD path?query`. */
    requests: [] as string[],
    /** Every request body. */
    received: [] as string[],
  };
  const { comments, issues, pulls, runs, artifacts, reviews, required, faults } = kept;
  let ids = 1000;
  let clock = Date.parse('2026-01-01T00:00:00Z');

  /** The time in GitHub's format, to the second; each call advances it by a minute. */
  const now = (): string => {
    clock += 60_000;
    return new Date(clock).toISOString().replace('.000Z', 'Z');
  };

  /** Edits a comment, as a person can; null is a deleted account. */
  function edit(comment: DoubleRemark, by: DoubleRemark['user'] | null, body: string): void {
    Object.assign(comment, { edited: { at: now(), by }, body });
  }

  /** Merges a pull request now, as this commit, into this branch. */
  function merge(number: number, sha: string, branch = 'main') {
    const pull = newPull(number, sha, branch, now());
    pulls.push(pull);
    return pull;
  }

  function review(number: number, as: Partial<DoubleReview> = {}): void {
    const jo = { id: 9, login: 'jo' };
    reviews.push({ number, by: jo, mayPush: true, commit: branchHead, at: now(), ...as });
  }

  function upload(run: number, uploaded: { readonly [name: string]: string }): void {
    ids += 1;
    artifacts.push(newArtifact(ids, run, uploaded, now()));
  }

  /** Responds to such requests as if the token lacks a permission. */
  function forbid(method: string, path: RegExp): void {
    faults.push({ method, path, status: 403, message: 'Resource not accessible by integration' });
  }

  /** The run with this id, which is created if it doesn't exist. */
  function runOf(id: number, given: Parameters<typeof newRun>[2]) {
    const known = runs.find((one) => one.id === id);
    if (known !== undefined) return Object.assign(known, { run_attempt: given.run_attempt });
    const made = newRun(id, now(), given);
    runs.push(made);
    return made;
  }

  /** The responses to `METHOD path`: lists are paged, a URL is a redirect, undefined is a 404. */
  const routes: readonly (readonly [RegExp, (part: string, asked: Asked, last: string) => unknown])[] = [
    [/^POST \/graphql$/, (_, { sent }) => answerGraphql(sent, { comments, reviews, required }, actionsBot)],
    [
      /^GET \/orgs\/acme\/teams\/([^/]+)\/memberships\/(.+)$/,
      (team, _, login) => (kept.teams.get(team)?.includes(login) ? { state: 'active' } : undefined),
    ],
    [
      /^GET commits\/(\w+)\/pulls$/,
      (sha) => pulls.filter((one) => [one.merge_commit_sha, ...one.commits].includes(sha)),
    ],
    [/^GET pulls\/(\d+)$/, (number) => pulls.find((one) => String(one.number) === number)],
    [/^GET pulls\/\d+\/files$/, () => kept.files.map((filename) => ({ filename }))],
    [
      /^GET contents\/(.+)$/,
      (file, { query }) => {
        const text = kept.contents.get(`${query.get('ref')}:${file}`);
        return text === undefined ? undefined : { content: Buffer.from(text).toString('base64') };
      },
    ],
    [
      /^GET rules\/branches\/main$/,
      () => {
        const { byRuleset, byCodeOwners } = required;
        const owners = { require_code_owner_review: byCodeOwners > 0 };
        const parameters = { required_approving_review_count: byRuleset, ...owners };
        return byRuleset + byCodeOwners === 0 ? [] : [{ type: 'pull_request', parameters }];
      },
    ],
    [/^GET actions\/runs\/(\d+)$/, (id) => runs.find((one) => String(one.id) === id)],
    [
      /^GET actions\/runs\/(\d+)\/jobs$/,
      (id) => {
        const jobs = runs.find((one) => String(one.id) === id)?.jobs;
        return { total_count: jobs?.length, jobs };
      },
    ],
    [
      /^GET actions\/workflows\/(\d+)\/runs$/,
      (id, { query }) => {
        const least = (query.get('created') ?? '').replace('>=', '');
        const those = runs.filter(
          (one) =>
            String(one.workflow_id) === id &&
            one.created_at >= least &&
            one.head_branch === (query.get('branch') ?? one.head_branch),
        );
        return { total_count: those.length, workflow_runs: those };
      },
    ],
    [
      /^GET actions\/runs\/(\d+)\/artifacts$/,
      (id) => {
        const those = artifacts.filter((one) => String(one.run) === id);
        const data = those.map(({ data: zip, ...one }) => ({ ...one, size_in_bytes: zip.length }));
        return { total_count: data.length, artifacts: data };
      },
    ],
    [/^GET actions\/artifacts\/(\d+)\/zip$/, (id) => new URL(`/zips/${id}`, url)],
    [
      /^GET issues\/(\d+)\/comments$/,
      (number) =>
        comments
          .filter((one) => String(one.number) === number)
          .map(({ edited: _, ...one }) => ({ ...one, node_id: nodeOf(one) })),
    ],
    [
      /^POST issues\/(\d+)\/comments$/,
      (number, { sent: { body = '' } }) => {
        ids += 1;
        const made = { id: ids, number: Number(number), body, user: actionsBot, created_at: now() };
        comments.push(made);
        return made;
      },
    ],
    [
      /^PATCH issues\/comments\/(\d+)$/,
      (id, { sent: { body = '' } }) => {
        const found = comments.find((one) => String(one.id) === id);
        if (found !== undefined) edit(found, actionsBot, body);
        return found;
      },
    ],
    [
      /^GET issues$/,
      (_, { query }) => {
        const { creator, state, direction } = Object.fromEntries(query);
        const asked = issues
          .filter((one) => state === 'all' || one.state === 'open')
          .filter((one) => one.user.login === (creator ?? one.user.login))
          .map((one) => ({ ...one, node_id: `I_${one.id}` }));
        return direction === 'asc' ? asked : asked.toReversed();
      },
    ],
    [
      /^POST issues$/,
      (_, { sent: { title = '', body = '' } }) => {
        ids += 1;
        const made = { id: ids * 7, number: ids, title, body, state: 'open', user: actionsBot };
        issues.push(made);
        return made;
      },
    ],
    [
      /^PATCH issues\/(\d+)$/,
      (number, { sent }) => {
        const found = issues.find((one) => String(one.number) === number);
        return found && Object.assign(found, sent);
      },
    ],
  ];

  const { origin: url } = await serve((response, asked) => {
    answer(response, asked).catch((failure: unknown) => {
      // Otherwise the client waits forever.
      if (!response.headersSent) json(response, 500, { message: `the double failed: ${String(failure)}` });
      else response.end();
    });
  });

  async function answer(response: ServerResponse, { method, url: path, headers, body, socket }: Received) {
    const { pathname, search, searchParams: query } = new URL(path, url);
    kept.requests.push(`${method} ${pathname}${search}`);
    kept.received.push(body);
    const [, zipped] = /^\/zips\/(\d+)$/.exec(pathname) ?? [];
    const artifact = artifacts.find(({ id }) => String(id) === zipped);
    if (artifact !== undefined) {
      // An artifact is downloaded from another host, which accepts no token.
      response.writeHead(200, { 'content-type': 'application/zip' });
      return void response.end(artifact.data);
    }
    if (!/^token \S+$/.test(headers.authorization ?? ''))
      return json(response, 401, { message: 'Bad credentials' });
    const fault = faults.find(
      (one) => one.method === method && one.path.test(pathname) && (one.times ?? 1) > 0,
    );
    if (fault?.times !== undefined) fault.times -= 1;
    if (fault !== undefined && fault.done !== true) return fail(response, socket, fault);
    const sent: Asked['sent'] = body === '' ? {} : JSON.parse(body);
    if ((sent.body ?? '').length > 65_536)
      return json(response, 422, {
        message: 'Validation Failed: body is too long (maximum is 65536 characters)',
      });
    const route = `${method} ${decodeURIComponent(pathname.replace('/repos/acme/identity/', ''))}`;
    const [pattern, answering] = routes.find(([one]) => one.test(route)) ?? [];
    const [, part = '', last = ''] = pattern?.exec(route) ?? [];
    const data = await answering?.(part, { sent, query }, last);
    if (fault !== undefined) return fail(response, socket, fault);
    if (data instanceof URL) return json(response, 302, {}, { location: data.href });
    if (data === undefined) return json(response, 404, { message: 'Not Found' });
    const status = method === 'POST' && pathname !== '/graphql' ? 201 : 200;
    if (!Array.isArray(data)) return json(response, status, data);
    const page = Number(query.get('page') ?? 1);
    const size = Math.min(pageSize, Number(query.get('per_page') ?? 30));
    const next = new URL(path, url);
    next.searchParams.set('page', String(page + 1));
    const link = page * size < data.length ? { link: `<${next}>; rel="next"` } : {};
    json(response, status, data.slice((page - 1) * size, page * size), link);
  }

  return { ...kept, url, merge, review, upload, forbid, runOf, edit };
}

function fail(
  response: ServerResponse,
  socket: Socket,
  { status, message, silent, ...fault }: DoubleFault,
): void {
  const { body = JSON.stringify({ message }), headers } = fault;
  if (status === 'late') return void silent?.();
  if (status === 'lost') return void socket.destroy();
  response.writeHead(typeof status === 'number' ? status : 200, {
    'content-type': 'application/json',
    ...headers,
  });
  if (typeof status === 'number') return void response.end(body);
  response.write('[', () => (status === 'cut' ? socket.destroy() : silent?.()));
}
