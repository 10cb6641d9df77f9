import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { strToU8, zipSync } from 'fflate';
import { listening } from '../server/serving.js';
import { answerGraphql, nodeOf } from './github-graphql.js';

/** A comment or an issue, as GitHub keeps it. */
export interface DoubleRemark {
  id: number;
  number: number;
  title?: string;
  body: string;
  state?: string;
  pull_request?: object;
  user: { id: number; login: string };
  created_at?: string;
  /** When it was edited last, and by whom: null for an account that is gone. */
  edited?: { readonly at: string; readonly by: DoubleRemark['user'] | null };
}

/** A pull request, as GitHub keeps it. */
export interface DoublePull {
  number: number;
  base: { ref: string; repo: { full_name: string } };
  head: { sha: string };
  merged_at: string | null;
  merge_commit_sha: string | null;
  /** The commits that belong to it, beside its merge. */
  commits: string[];
}

/** A run of a workflow, as GitHub keeps it, with how its jobs ended. */
export interface DoubleRun {
  id: number;
  workflow_id: number;
  path: string;
  event: string;
  head_sha: string;
  head_branch: string;
  head_repository: { full_name: string };
  html_url: string;
  created_at: string;
  run_attempt: number;
  jobs: { conclusion: string }[];
}

export interface DoubleArtifact {
  id: number;
  run: number;
  name: string;
  data: Uint8Array;
  expired: boolean;
  created_at: string;
}

/** An approving review, as GraphQL tells it. */
export interface DoubleReview {
  readonly number: number;
  readonly by: DoubleRemark['user'];
  readonly mayPush: boolean;
  readonly state?: 'APPROVED' | 'CHANGES_REQUESTED';
  readonly commit: string;
  readonly at: string;
}

/** What the double answers in the place of what it would. */
export interface DoubleFault {
  readonly method: string;
  readonly path: RegExp;
  /**
   * What it answers with; nothing at all where it is `lost` (the connection goes) or `late` (the answer never comes), and the
   * beginning of an answer where that is `cut` or `stalled`.
   */
  readonly status: number | 'lost' | 'late' | 'cut' | 'stalled';
  readonly message: string;
  /** Called once `late` or `stalled` begins. */
  readonly silent?: () => unknown;
  /** What the answer is in the place of an object with the message. */
  readonly body?: string;
  /** Whether the request is done all the same. */
  readonly done?: boolean;
  readonly headers?: { readonly [name: string]: string };
  /** How many requests get it; all where it isn't given. */
  times?: number;
}

export type GithubDouble = Awaited<ReturnType<typeof githubDouble>>;

export const actionsBot = { id: 41898282, login: 'github-actions[bot]' };
const perPageMost = 100;
/** The last commit of the branch of every pull request. */
export const branchHead = 'beadfeed0123';

/** As much of GitHub's API as the action asks for: comments and issues in pages, pull requests of a commit. */
export async function githubDouble({ pageSize = perPageMost } = {}) {
  const kept = {
    comments: [] as DoubleRemark[],
    issues: [] as DoubleRemark[],
    pulls: [] as DoublePull[],
    runs: [] as DoubleRun[],
    artifacts: [] as DoubleArtifact[],
    reviews: [] as DoubleReview[],
    /** The files that every pull request changes. */
    files: [] as string[],
    /** Texts of files, by `COMMIT:PATH`. */
    contents: new Map<string, string>(),
    /** The members of teams, by their slug. */
    teams: new Map<string, readonly string[]>(),
    /** How many reviews a branch requires, by a ruleset or by its protection. */
    required: { byRuleset: 0, byProtection: 0, byCodeOwners: 0 },
    faults: [] as DoubleFault[],
    /** Every request, as `METHOD path?query`. */
    requests: [] as string[],
    /** Every body that was sent. */
    received: [] as string[],
  };
  const {
    comments,
    issues,
    pulls,
    runs,
    artifacts,
    reviews,
    files,
    contents,
    teams,
    required,
    faults,
    requests,
  } = kept;
  let ids = 1000;
  let clock = Date.parse('2026-01-01T00:00:00Z');

  /** The time, to the second, as GitHub tells it: a minute later each time. */
  const now = (): string => {
    clock += 60_000;
    return new Date(clock).toISOString().replace('.000Z', 'Z');
  };

  /** Edits a comment, as a person can on the page; null is somebody whose account is gone. */
  function edit(comment: DoubleRemark, by: DoubleRemark['user'] | null, body: string): void {
    Object.assign(comment, { edited: { at: now(), by }, body });
  }

  /** Merges a pull request: by now, as this commit, into this branch. */
  function merge(number: number, sha: string, branch = 'main'): DoublePull {
    const base = { ref: branch, repo: { full_name: 'acme/identity' } };
    const head = { sha: branchHead };
    const pull = { number, base, head, merged_at: now(), merge_commit_sha: sha, commits: [] };
    pulls.push(pull);
    return pull;
  }

  function review(number: number, as: Partial<DoubleReview> = {}): void {
    const jo = { id: 9, login: 'jo' };
    reviews.push({ number, by: jo, mayPush: true, commit: branchHead, at: now(), ...as });
  }

  function upload(run: number, uploaded: { readonly [name: string]: string }): void {
    const bytes = Object.entries(uploaded).map(([name, text]) => [name, strToU8(text)]);
    ids += 1;
    const data = zipSync(Object.fromEntries(bytes));
    artifacts.push({ id: ids, run, name: 'idops-plan', data, expired: false, created_at: now() });
  }

  /** The run with this id, which begins now if there is none. */
  function runOf(
    id: number,
    { run_attempt, ...given }: Pick<DoubleRun, 'event' | 'head_sha' | 'run_attempt'>,
  ): DoubleRun {
    const known = runs.find((one) => one.id === id);
    if (known !== undefined) return Object.assign(known, { run_attempt });
    const isPlan = given.event.startsWith('pull_request');
    const made = {
      id,
      workflow_id: isPlan ? 1 : 2,
      path: `.github/workflows/idops-${isPlan ? 'pull-request' : 'merge'}.yml`,
      head_branch: isPlan ? 'topic' : 'main',
      head_repository: { full_name: 'acme/identity' },
      html_url: `https://github.example/acme/identity/actions/runs/${id}`,
      created_at: now(),
      jobs: [],
      run_attempt,
      ...given,
    };
    runs.push(made);
    return made;
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((failure: unknown) => {
      // Who asked would wait for ever.
      if (!response.headersSent) response.writeHead(500, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ message: `the double failed: ${String(failure)}` }));
    });
  });
  const url = await listening(server);

  /** What there is of workflows, rules and artifacts; undefined for another path. */
  function actions(path: string, asked: URLSearchParams) {
    const [, , id] = path.split('/');
    const found = (data: unknown) => ({ status: data === undefined ? 404 : 200, data });
    const route = path.replace(/\d+/, ':id').replace(/main$/, ':branch');
    const run = runs.find((one) => String(one.id) === id);
    switch (route) {
      case 'rules/branches/:branch': {
        const { byRuleset, byCodeOwners } = required;
        const parameters = {
          required_approving_review_count: byRuleset,
          require_code_owner_review: byCodeOwners > 0,
        };
        return found(byRuleset + byCodeOwners === 0 ? [] : [{ type: 'pull_request', parameters }]);
      }
      case 'actions/runs/:id':
        return found(run);
      case 'actions/runs/:id/jobs':
        return found({ total_count: run?.jobs.length, jobs: run?.jobs });
      case 'actions/workflows/:id/runs': {
        const least = (asked.get('created') ?? '').replace('>=', '');
        const those = runs.filter(
          (one) =>
            String(one.workflow_id) === id &&
            one.created_at >= least &&
            one.head_branch === (asked.get('branch') ?? one.head_branch),
        );
        return found({ total_count: those.length, workflow_runs: those });
      }
      case 'actions/runs/:id/artifacts': {
        const those = artifacts.filter((one) => String(one.run) === id);
        const data = those.map(({ data: zip, ...one }) => ({ ...one, size_in_bytes: zip.length }));
        return found({ total_count: data.length, artifacts: data });
      }
      case 'actions/artifacts/:id/zip':
        return { location: `${url}/zips/${id}` };
      default:
        return undefined;
    }
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString('utf8');
    const address = new URL(request.url ?? '/', url);
    const method = request.method ?? 'GET';
    requests.push(`${method} ${address.pathname}${address.search}`);
    kept.received.push(text);
    const fault = faults.find(
      (one) => one.method === method && one.path.test(address.pathname) && (one.times ?? 1) > 0,
    );
    const send = (status: number, data: unknown, headers: { [name: string]: string } = {}): void => {
      if (fault?.done === true) {
        fail(fault);
        return;
      }
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(JSON.stringify(data));
    };
    const fail = ({
      status,
      message,
      body = JSON.stringify({ message }),
      headers,
      silent,
    }: DoubleFault): void => {
      if (status === 'late') return void silent?.();
      if (status === 'lost') return void request.socket.destroy();
      const code = typeof status === 'number' ? status : 200;
      response.writeHead(code, { 'content-type': 'application/json', ...headers });
      if (typeof status === 'number') return void response.end(body);
      response.write('[', () => {
        if (status === 'cut') request.socket.destroy();
        else silent?.();
      });
    };
    // What an artifact leads to is another host, which takes no token.
    if (!/^token \S+$/.test(request.headers.authorization ?? '') && !address.pathname.startsWith('/zips/'))
      return send(401, { message: 'Bad credentials' });
    if (fault !== undefined) {
      if (fault.times !== undefined) fault.times -= 1;
      if (fault.done !== true) return fail(fault);
    }
    const sent = text === '' ? {} : (JSON.parse(text) as { title?: string; body?: string; state?: string });
    if ((sent.body ?? '').length > 65_536) {
      return send(422, { message: 'Validation Failed: body is too long (maximum is 65536 characters)' });
    }
    const paged = (all: readonly unknown[]): void => {
      const page = Number(address.searchParams.get('page') ?? 1);
      const size = Math.min(pageSize, Number(address.searchParams.get('per_page') ?? 30));
      const next = new URL(address);
      next.searchParams.set('page', String(page + 1));
      const more = page * size < all.length;
      send(200, all.slice((page - 1) * size, page * size), more ? { link: `<${next}>; rel="next"` } : {});
    };
    const route = `${method} ${address.pathname}`;
    if (route === 'POST /graphql')
      return send(
        200,
        await answerGraphql(JSON.parse(text) as object, { comments, reviews, required }, actionsBot),
      );
    const [, zipped] = /^\/zips\/(\d+)$/.exec(address.pathname) ?? [];
    const artifact = artifacts.find(({ id }) => String(id) === zipped);
    if (artifact !== undefined) {
      response.writeHead(200, { 'content-type': 'application/zip' });
      return void response.end(artifact.data);
    }
    const [, team = '', login = ''] =
      /^\/orgs\/acme\/teams\/([^/]+)\/memberships\/(.+)$/.exec(address.pathname) ?? [];
    if (teams.get(team)?.includes(login) === true) return send(200, { state: 'active' });
    const [, path = ''] = /^\/repos\/acme\/identity\/(.*)$/.exec(address.pathname) ?? [];
    const [, sha] = /^commits\/(\w+)\/pulls$/.exec(path) ?? [];
    if (method === 'GET' && sha !== undefined) {
      const of = pulls.filter(
        ({ merge_commit_sha, commits }) => merge_commit_sha === sha || commits.includes(sha),
      );
      return paged(of.map(({ commits: _, ...pull }) => pull));
    }
    const acted = actions(path, address.searchParams);
    if (method === 'GET' && acted !== undefined) {
      return 'location' in acted ? send(302, {}, acted) : send(acted.status, acted.data);
    }
    const [, pullNumber] = /^pulls\/(\d+)$/.exec(path) ?? [];
    if (method === 'GET' && pullNumber !== undefined) {
      const pull = pulls.find((one) => one.number === Number(pullNumber));
      return pull === undefined ? send(404, { message: 'Not Found' }) : send(200, pull);
    }
    const [, file = ''] = /^contents\/(.+)$/.exec(decodeURIComponent(path)) ?? [];
    const content = contents.get(`${address.searchParams.get('ref')}:${file}`);
    if (content !== undefined) return send(200, { content: Buffer.from(content).toString('base64') });
    const [, changed] = /^pulls\/(\d+)\/files$/.exec(path) ?? [];
    if (method === 'GET' && changed !== undefined) return paged(files.map((filename) => ({ filename })));
    const [, number] = /^issues\/(\d+)\/comments$/.exec(path) ?? [];
    if (number !== undefined) {
      if (method === 'GET') {
        const those = comments.filter((one) => one.number === Number(number));
        return paged(those.map(({ edited: _, ...one }) => ({ ...one, node_id: nodeOf(one) })));
      }
      ids += 1;
      const body = sent.body ?? '';
      const made = { id: ids, number: Number(number), body, user: actionsBot, created_at: now() };
      comments.push(made);
      return send(201, made);
    }
    if (path === 'issues') {
      if (method === 'GET') {
        const { creator, state } = Object.fromEntries(address.searchParams);
        const asked = issues.filter(
          (one) =>
            (state === 'all' || one.state === 'open') && one.user.login === (creator ?? one.user.login),
        );
        const ordered = address.searchParams.get('direction') === 'asc' ? asked : asked.toReversed();
        return paged(ordered.map((one) => ({ ...one, node_id: `I_${one.id}` })));
      }
      ids += 1;
      const { title = '', body = '' } = sent;
      const made = { id: ids * 7, number: ids, title, body, state: 'open', user: actionsBot };
      issues.push(made);
      return send(201, made);
    }
    const [, comment] = /^issues\/comments\/(\d+)$/.exec(path) ?? [];
    const [, issue] = /^issues\/(\d+)$/.exec(path) ?? [];
    const found =
      comment === undefined
        ? issues.find((one) => one.number === Number(issue))
        : comments.find(({ id }) => id === Number(comment));
    if (method !== 'PATCH' || found === undefined) return send(404, { message: 'Not Found' });
    if (comment === undefined) Object.assign(found, sent);
    else edit(found, actionsBot, sent.body ?? '');
    return send(200, found);
  }

  return { ...kept, url, merge, review, upload, runOf, edit };
}
