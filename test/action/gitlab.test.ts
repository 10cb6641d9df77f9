import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { planGitlab } from '../../src/report/json.js';
import { temporaryFolder } from '../cleanups.js';
import { failed, project, succeeded, watch } from '../e2e/running.js';
import { changeOf, planOf } from '../report/plans.js';
import { json, serve } from '../server/serving.js';

const script = resolve('examples/gitlab/gitlab.mjs');
const token = 'glpat-secret-0123456789';
const me = 7;
const at = '/api/v4/projects/group%2Fproject';
const notes = `${at}/merge_requests/5/notes`;

interface Note {
  readonly id: number;
  readonly body: string;
  readonly system: boolean;
  readonly author: { readonly id: number };
  readonly updated_at?: string;
}

interface Broken {
  /** Responses that replace GitLab's own; by `METHOD path`. */
  readonly answers?: {
    readonly [request: string]: { cut?: boolean; status: number; headers?: Texts; body?: string };
  };
  /** The same for the first such request only, which may still write. */
  readonly once?: { readonly [request: string]: { readonly status: number; readonly writes: boolean } };
  readonly pageSize?: number;
}

/** The parts of GitLab's API that its documentation defines for users and merge request notes. */
async function gitlab(notes: readonly Partial<Note>[], { answers = {}, once = {}, pageSize }: Broken = {}) {
  const usual = { body: '', system: false, author: { id: me } };
  const kept: Note[] = notes.map((note, index) => ({ id: index + 1, ...usual, ...note }));
  const requests: string[] = [];
  const failing = new Map(Object.entries(once));
  const sent: unknown[] = [];
  const { origin } = await serve((response, { method, url, body, headers }) => {
    const { pathname, searchParams } = new URL(url, 'http://gitlab');
    const request = `${method} ${pathname}`;
    requests.push(request);
    const given = body === '' ? {} : JSON.parse(body);
    if (method !== 'GET') sent.push(given);
    const broken = answers[request];
    if (broken?.cut === true) {
      // The content-length is larger than the body.
      response.writeHead(broken.status, { 'content-length': '100' });
      response.write('{"id":', () => response.destroy());
      return;
    }
    const missing = () => json(response, 404, { message: '404 Not found' });
    if (broken !== undefined) {
      response.writeHead(broken.status, { 'content-type': 'application/json', ...broken.headers });
      return void response.end(broken.body ?? '{}');
    }
    if (headers['private-token'] !== token) return json(response, 401, { message: '401 Unauthorized' });
    if (pathname === '/api/v4/user') return json(response, 200, { id: me, username: 'project_1_bot' });
    if (pathname === `${at}/merge_requests/5/diffs`) return json(response, 200, []);
    const [, id] = new RegExp(`^${at}/merge_requests/5/notes(?:/(\\d+))?$`).exec(pathname) ?? [];
    const isNotes = pathname.endsWith('/notes');
    if (!isNotes && id === undefined) return missing();
    if (method === 'GET' && isNotes) {
      const size = pageSize ?? Number(searchParams.get('per_page'));
      const page = Number(searchParams.get('page'));
      const next = page * size < kept.length ? String(page + 1) : '';
      return json(response, 200, kept.slice((page - 1) * size, page * size), { 'x-next-page': next });
    }
    if (method === 'POST' && isNotes) {
      const note = { id: kept.length + 1, system: false, author: { id: me }, ...given };
      const fails = failing.get(request);
      failing.delete(request);
      if (fails?.writes !== false) kept.push(note);
      return json(response, fails?.status ?? 201, note);
    }
    const found = kept.find((note) => String(note.id) === id);
    if (method !== 'PUT' || found === undefined) return missing();
    json(response, 200, Object.assign(found, given));
  });
  return { kept, requests, sent, api: `${origin}/api/v4` };
}

type Texts = { readonly [name: string]: string };

/** Runs the script's `note` with a plan, as the job does. */
function noted(api: string, text?: string, env: Texts = {}, name = 'production', files: Texts = {}) {
  return run(api, ['note', 'plan.md', 'plan.json', name], text, env, files);
}

/** Runs the script with a text in the file that its arguments name. */
async function run(api: string, args: readonly string[], text?: string, env: Texts = {}, more: Texts = {}) {
  const folder = await temporaryFolder('gitlab');
  const files = { ...more, ...(text === undefined ? {} : { [args[1] ?? '']: text }) };
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  const job = { CI_API_V4_URL: api, CI_PROJECT_ID: 'group/project', CI_MERGE_REQUEST_IID: '5' };
  const given = { ...job, GITLAB_TOKEN: token, ...env };
  const child = spawn(process.execPath, [script, ...args], { cwd: folder, env: given });
  const { code, stdout, stderr } = await watch(child).ended;
  const said = stdout + stderr;
  expect(said).not.toContain(token);
  return { code, said };
}

const marker = '<!-- idops: production -->';
const elsewhere = { location: 'http://127.0.0.1:9/' };

describe('the note of a merge request', () => {
  it('is created, and then updated', async () => {
    const { api, kept, requests } = await gitlab([]);
    expect(await noted(api, '# Plan\n')).toEqual({ code: 0, said: 'idops: a note was written\n' });
    expect(kept.map(({ body }) => body)).toEqual([`${marker}\n# Plan\n`]);
    const updated = { code: 0, said: 'idops: the note was brought up to date\n' };
    expect(await noted(api, '# Other\n')).toEqual(updated);
    expect(kept.map(({ body }) => body)).toEqual([`${marker}\n# Other\n`]);
    const writes = requests.filter((request) => !request.startsWith('GET'));
    expect(writes).toEqual([`POST ${notes}`, `PUT ${notes}/1`]);
    // Another environment has its own note.
    await noted(api, '# Staging\n', {}, 'staging -->');
    expect(kept.map(({ body }) => body.split('\n')[0])).toEqual([marker, '<!-- idops: staging%20--%3E -->']);
  });

  it.each([
    ['idops.yaml', 'idops.yaml'],
    ['idops.yaml', 'ops.yaml'],
    ['ops.yaml', 'idp/idops.yaml'],
  ])('begins with a warning if %s becomes a changed %s', async (old_path, new_path) => {
    const diffs = {
      status: 200,
      body: JSON.stringify([
        { old_path: 'x', new_path: 'x' },
        { old_path, new_path },
      ]),
    };
    const { api, kept } = await gitlab([], { answers: { [`GET ${at}/merge_requests/5/diffs`]: diffs } });
    expect(await noted(api, '# Plan')).toMatchObject({ code: 0 });
    expect(kept[0]?.body).toMatch(/-->\n\*\*This changes `idops.yaml`:\*\* .*\n\n# Plan$/);
  });

  it('is found on a later page, and never confused with notes of others, quotes or system notes', async () => {
    const others = [
      { body: `${marker}\nforged`, author: { id: 8 } },
      { body: `> ${marker}\nquoted` },
      { body: `${marker}\nsystem`, system: true },
      { body: `first\n${marker}` },
    ];
    const { api, kept } = await gitlab([...others, { body: `${marker}\r\nold` }], { pageSize: 2 });
    expect(await noted(api, 'new')).toMatchObject({ code: 0 });
    expect(kept.slice(0, 4).map(({ body }) => body)).toEqual(others.map(({ body }) => body));
    expect(kept.slice(4).map(({ body }) => body)).toEqual([`${marker}\nnew`]);
  });

  it('is created again if it was deleted meanwhile', async () => {
    const gone = { [`PUT ${notes}/1`]: { status: 404 } };
    const { api, kept } = await gitlab([{ body: `${marker}\nold` }], { answers: gone });
    expect(await noted(api, 'new')).toEqual({ code: 0, said: 'idops: a note was written\n' });
    expect(kept).toHaveLength(2);
  });

  it('reports a missing plan, in place of the earlier plan', async () => {
    const { api, kept } = await gitlab([{ body: `${marker}\nold plan` }]);
    const url = 'https://gitlab.example.com/p/-/pipelines/3';
    const of = { CI_COMMIT_SHA: '0123456789abcdef', CI_PIPELINE_URL: url };
    expect(await noted(api, undefined, of)).toMatchObject({ code: 0 });
    const why = `there is no plan for commit \`0123456789ab\`. [The pipeline](${url}) says why.\n`;
    expect(kept.map(({ body }) => body)).toEqual([`${marker}\n**idops: failed**: ${why}`]);
    await noted(api, undefined, { CI_PIPELINE_URL: 'javascript:1' });
    expect(kept[0]?.body).toBe(`${marker}\n**idops: failed**: there is no plan for this commit.\n`);
  });

  it('is not created twice if a response is lost, and created again if it failed', async () => {
    for (const writes of [true, false]) {
      const once = { [`POST ${notes}`]: { status: 502, writes } };
      const { api, kept, requests } = await gitlab([], { once });
      expect(await noted(api, 'new')).toMatchObject({ code: 0 });
      expect(kept.map(({ body }) => body)).toEqual([`${marker}\nnew`]);
      expect(requests.filter((request) => request.startsWith('POST'))).toHaveLength(writes ? 1 : 2);
    }
  });

  it('requests no page twice', async () => {
    const again = { status: 200, body: '[]', headers: { 'x-next-page': '1' } };
    const { api, requests } = await gitlab([], { answers: { [`GET ${notes}`]: again } });
    const said = expect.stringContaining('the page after 1 is no later one');
    expect(await noted(api, 'new')).toEqual({ code: 1, said });
    expect(requests).toEqual(['GET /api/v4/user', `GET ${notes}`]);
  });

  it('contains no quick action', async () => {
    const { api, kept } = await gitlab([]);
    await noted(api, 'a\n/merge\n  /approve\n\n```\n/close\n```\n');
    expect(kept[0]?.body).not.toMatch(/^\s*\//m);
    expect(kept[0]?.body.replaceAll('\u200b', '')).toBe(
      `${marker}\na\n/merge\n  /approve\n\n\`\`\`\n/close\n\`\`\`\n`,
    );
  });

  it.each([
    ['an expired token', { status: 401, body: `{"message":"${token}"}` }, 'GET /user: 401'],
    ['a redirect, which gets no token', { status: 302, headers: elsewhere }, 'GET /user: the request failed'],
    [
      'an invalid response',
      { status: 200, body: `<html>${token}` },
      'something that idops does not understand',
    ],
    ['an account without an id', { status: 200, body: '{}' }, 'GET /user: the answer names no account'],
    ['a truncated response', { status: 200, cut: true }, 'GET /user: the answer broke off'],
  ])('reports the failure and writes nothing after %s', async (_, answer, message) => {
    const { api, kept, requests } = await gitlab([], { answers: { 'GET /api/v4/user': answer } });
    expect(await noted(api, 'new')).toEqual({ code: 1, said: expect.stringContaining(message) });
    expect([kept, requests]).toEqual([[], ['GET /api/v4/user']]);
  });

  it('is refused if a variable is missing, or if it is too long', async () => {
    const { api, requests } = await gitlab([]);
    const missing = await noted(api, 'new', { CI_MERGE_REQUEST_IID: '' });
    expect(missing).toEqual({ code: 1, said: expect.stringContaining('CI_MERGE_REQUEST_IID not set') });
    const long = await noted(api, 'x'.repeat(1_000_000));
    expect(long).toEqual({ code: 1, said: expect.stringContaining('longer than a note may be') });
    expect(requests).toEqual([]);
  });
});

const commit = 'c'.repeat(40);
const head = 'd'.repeat(40);
const row = (letter: string, action = 'update') => ({
  address: 'Organization/acme',
  action,
  observed: `sha256:${letter.repeat(64)}`,
  requests: `sha256:${letter.repeat(64)}`,
});
const storedPlan = (digest: string, ...objects: ReturnType<typeof row>[]): string =>
  JSON.stringify({
    created_at: '2026-02-02T08:59:00.000Z',
    digest,
    server: 'https://id',
    environment: 'production',
    apply: { objects },
  });

/** A project whose merge request 5 was merged as this commit, and the artifacts of its pipelines. */
function merged(
  plan: string,
  { kept = plan, request = {}, pipeline = {}, job = {}, later = 'drift', forbids = false } = {},
) {
  const list = (...rows: unknown[]) => ({ status: 200, body: JSON.stringify(rows) });
  const ended = { target_branch: 'main', merge_commit_sha: commit, merged_at: '2026-02-02T10:00:00Z' };
  const mine = { iid: 5, state: 'merged', sha: head, ...ended };
  const planned = { id: 31, name: 'plan', finished_at: '2026-02-02T09:00:00.123Z' };
  const detached = { id: 21, sha: head, ref: 'refs/merge-requests/5/head' };
  const requests = list({ ...mine, iid: 4, state: 'opened' }, { ...mine, ...request });
  return {
    [`GET ${at}/repository/commits/${commit}/merge_requests`]: forbids ? { status: 403 } : requests,
    [`GET ${at}/merge_requests/5/pipelines`]: list(
      { ...detached, id: 20, sha: commit },
      { ...detached, ...pipeline },
    ),
    [`GET ${at}/pipelines/21/jobs`]: list({ ...planned, id: 30, name: 'note' }, { ...planned, ...job }),
    [`GET ${at}/pipelines`]: list({ id: 42, web_url: 'https://gitlab/p/42' }, { id: 41 }, { id: 40 }),
    [`GET ${at}/pipelines/42/jobs`]: list({ ...planned, id: 50, name: later }),
    [`GET ${at}/jobs/31/artifacts/plan.json`]: { status: 200, body: kept },
  };
}

describe('the approval on GitLab', () => {
  const own = storedPlan('sha256:1', row('a'), row('b', 'adopt'));
  const approved = async (
    answers: Broken['answers'] = {},
    env: Texts = {},
    plan = own,
    notes?: readonly Partial<Note>[],
  ) => {
    const shown = await gitlab([]);
    await noted(shown.api, '# Plan', {}, 'production', { 'plan.json': own });
    const { api, sent } = await gitlab(notes ?? shown.kept, { answers });
    const branch = { CI_COMMIT_SHA: commit, CI_COMMIT_BRANCH: 'main' };
    const job = { CI_PIPELINE_ID: '41', CI_JOB_TOKEN: 'of-the-job' };
    const given = { ...branch, ...job, ...env };
    const ran = await run(api, ['approved', 'plan.json', 'production'], plan, given);
    expect(sent).toEqual([]);
    return ran;
  };

  it('is the plan that the merge request showed before the merge', async () => {
    const said = `5 ${head} 21 2026-02-02T08:59:00.000Z\nidops: merge request !5 showed this plan: sha256:1\n`;
    const kept = merged(storedPlan('sha256:1', row('c', 'adopt'), row('a')));
    expect(await approved(kept)).toEqual({ code: 0, said });
  });

  it.each<[string, Parameters<typeof merged>[1], string]>([
    [
      'another plan',
      { kept: storedPlan('sha256:2', row('a')) },
      '(it showed sha256:2, and this is sha256:1)',
    ],
    ['another server state', { kept: storedPlan('sha256:1', row('e')) }, '(the server was changed since)'],
    ['a commit without a merge request', { request: { merge_commit_sha: null } }, 'no merge request brought'],
    ['a merge into another branch', { request: { target_branch: 'other' } }, 'no merge request brought'],
    ['a plan of an earlier commit', { pipeline: { sha: 'e'.repeat(40) } }, 'no pipeline of its last commit'],
    ['a pipeline of another branch', { pipeline: { ref: 'main' } }, 'no pipeline of its last commit'],
    ['a job after the merge', { job: { finished_at: '2026-02-02T10:00:01Z' } }, 'showed no plan'],
    ['a job that has not ended', { job: { finished_at: null } }, 'showed no plan'],
    ['readable if GitLab forbids it', { forbids: true }, '403'],
  ])('is not %s', async (_, change, message) => {
    const { code, said } = await approved(merged(own, change));
    expect([code, said]).toEqual([1, expect.stringMatching(/^idops: error\[not-approved\]: /)]);
    expect(said).toContain(message);
  });

  it('is missing if no note showed the plan before the merge', async () => {
    const note = async (plan: string) => {
      const { api, kept } = await gitlab([]);
      await noted(api, '# Plan', {}, 'production', { 'plan.json': plan });
      return kept;
    };
    const showed = await note(own);
    const other = await note(storedPlan('sha256:1', row('e')));
    for (const [notes, message] of [
      [[], 'no note of merge request !5 showed this plan, which job 31 of its pipeline made'],
      [other, 'no note of merge request !5 showed this plan'],
      [showed.map((one) => ({ ...one, author: { id: 8 } })), 'no note of merge request !5'],
      [showed.map((one) => ({ ...one, updated_at: '2026-02-02T10:00:01Z' })), 'changed after the merge'],
    ] as const) {
      const { code, said } = await approved(merged(own), {}, own, notes);
      expect([code, said]).toEqual([1, expect.stringContaining(message)]);
      expect(said).toContain('IDOPS_DIGEST=sha256:1');
    }
  });

  it('is refused once a later pipeline of the branch has planned, even with a digest', async () => {
    const said = expect.stringContaining(
      'error[approval-used]: a later pipeline ran its plan: https://gitlab/p/42',
    );
    for (const IDOPS_DIGEST of ['', 'sha256:1'])
      expect(await approved(merged(own, { later: 'plan' }), { IDOPS_DIGEST })).toEqual({ code: 1, said });
  });

  it('is the digest that a person gives, and not needed if nothing is sent', async () => {
    const byHand = await approved(merged(own), { IDOPS_DIGEST: 'sha256:1' });
    expect(byHand).toEqual({ code: 0, said: 'idops: IDOPS_DIGEST approves sha256:1\n' });
    expect(await approved({}, { IDOPS_DIGEST: 'sha256:2' })).toMatchObject({ code: 1 });
    expect(await approved({}, {}, storedPlan('sha256:1', row('b', 'adopt')))).toMatchObject({ code: 0 });
  });

  it('is followed by a note with the result of apply', async () => {
    const { api, kept } = await gitlab([], { answers: merged(own) });
    const env = { CI_COMMIT_SHA: commit, CI_COMMIT_BRANCH: 'main', CI_MERGE_REQUEST_IID: '' };
    for (const text of ['# Applied\n', undefined])
      expect(await run(api, ['result', 'result.md', 'production'], text, env)).toMatchObject({ code: 0 });
    expect(kept.map(({ body }) => body)).toEqual([
      '<!-- idops result: production -->\n# Applied\n',
      expect.stringContaining(`there is no result for commit \`${commit.slice(0, 12)}\``),
    ]);
  });
});

describe('the issue about drift', () => {
  const drift = '<!-- idops drift: production -->';
  const issue = (iid: number, state: string, description = `${drift}\nold`, author = me) => ({
    iid,
    state,
    description,
    author: { id: author },
  });
  const others = [issue(1, 'opened', `${drift}\nforged`, 8), issue(2, 'opened', '> quoted')];

  const description = `${drift}\nnew`;
  const reopened = { description, state_event: 'reopen' };
  const title = 'Identity server is not as declared: production';

  it.each([
    ['is opened', [], '2', 'POST', '', { title, description }],
    ['is updated if it is open', [issue(3, 'opened')], '2', 'PUT', '/3', { description }],
    ['is reopened if it is closed', [issue(3, 'closed')], '1', 'PUT', '/3', reopened],
    ['is closed if there is no drift', [issue(3, 'opened')], '0', 'PUT', '/3', { state_event: 'close' }],
    ['stays closed without drift', [issue(3, 'closed')], '0', null, '', null],
  ])('%s', async (_, there, code, method, path, body) => {
    const { api, requests, sent } = await gitlab([], {
      answers: {
        [`GET ${at}/issues`]: { status: 200, body: JSON.stringify([...others, ...there]) },
        [`POST ${at}/issues`]: { status: 201, body: '{"iid": 9}' },
        [`PUT ${at}/issues/3`]: { status: 200 },
      },
    });
    const ran = await run(api, ['issue', 'plan.md', 'production', code], 'new');
    expect(ran).toMatchObject({ code: 0 });
    expect(sent).toEqual(body === null ? [] : [body]);
    expect(requests.filter((request) => !request.startsWith('GET'))).toEqual(
      method === null ? [] : [`${method} ${at}/issues${path}`],
    );
  });
});

const acme = (label: string) => ({ 'manifests/o.yaml': `kind: Organization\nname: acme\nlabel: ${label}\n` });

describe('apply of a stored plan in a pipeline', () => {
  const pipeline = (id: number, more: Texts = {}) => {
    const own = { CI_PIPELINE_ID: String(id), CI_PIPELINE_URL: `https://gitlab/g/p/-/pipelines/${id}` };
    return { env: { GITLAB_CI: 'true', ...own, ...more } };
  };
  const approvedBy = (request: number, made: string) => ({
    IDOPS_APPROVAL: `${request} ${head} 21 ${made}T00:00:00.000Z`,
  });
  const { IDOPS_APPROVAL } = approvedBy(5, '2999-01-01');

  it('is refused in another pipeline with the same approval', async () => {
    const at = await project(acme('New'));
    await succeeded(at.idops('plan --out 1.json'));
    await succeeded(at.idops('apply 1.json', pipeline(1, { IDOPS_APPROVAL })));
    await succeeded(at.idops('undo --last --yes'));
    await succeeded(at.idops('plan --out 2.json'));
    const before = at.writes().length;
    await failed(
      at.idops('apply 2.json', pipeline(2, { IDOPS_APPROVAL })),
      'error[approval-used]: the approval of merge request !5 was used by https://gitlab/g/p/-/pipelines/1',
    );
    expect(at.writes()).toHaveLength(before);
    // A digest by hand allows it again.
    await succeeded(at.idops('apply 2.json', pipeline(2, { IDOPS_APPROVAL: '' })));
  });

  it('is refused if something else was applied since the pipeline began', async () => {
    const at = await project(acme('New'));
    await succeeded(at.idops('plan --out 1.json'));
    await at.write({ 'manifests/o.yaml': 'kind: Organization\nname: globex\nlabel: New\n' });
    await succeeded(at.idops('apply --yes --target Organization/globex'));
    await at.write(acme('New'));
    const began = (CI_PIPELINE_CREATED_AT: string) => pipeline(1, { CI_PIPELINE_CREATED_AT });
    const message = /error\[approval-used\]: run \S+ was applied since/;
    await failed(at.idops('apply 1.json', began('2020-01-01T00:00:00Z')), message);
    await succeeded(at.idops('apply 1.json', began('2999-01-01T00:00:00Z')));
  });

  it('is refused if another merge request was applied since its pipeline planned', async () => {
    const globex = acme('New')['manifests/o.yaml'].replace('acme', 'globex');
    const at = await project(acme('New'));
    await succeeded(at.idops('plan --out 2.json'));
    await at.write({ 'manifests/o.yaml': globex });
    await succeeded(at.idops('plan --out 1.json'));
    const other = pipeline(1, approvedBy(4, '2999-01-01'));
    await succeeded(at.idops('apply 1.json', other));
    await at.write(acme('New'));
    await failed(
      at.idops('apply 2.json', pipeline(2, approvedBy(5, '2020-01-01'))),
      'error[approval-used]: another plan was applied since: merge request !4, by https://gitlab/g/p/-/pipelines/1',
    );
    await succeeded(at.idops('apply 2.json', pipeline(2, { IDOPS_APPROVAL })));
  });

  it.each([
    [
      'the state is lost with the job',
      { IDOPS_APPROVAL, CI_DISPOSABLE_ENVIRONMENT: 'true' },
      'deleted with this runner',
    ],
    ['the approval is not readable', { IDOPS_APPROVAL: '5' }, 'IDOPS_APPROVAL'],
  ])('is refused if %s', async (_, env, message) => {
    const at = await project(acme('New'));
    await succeeded(at.idops('plan --out 1.json'));
    await failed(at.idops('apply 1.json', pipeline(1, env)), 'error[not-approved]', message);
    expect(at.writes()).toEqual([]);
  });

  it('finishes a partly failed apply when the job is retried, and nothing more', async () => {
    const globex = { 'manifests/p.yaml': 'kind: Organization\nname: globex\nlabel: New\n' };
    let failing = true;
    const at = await project(
      { ...acme('New'), ...globex },
      {
        intercept: ({ method, path }) =>
          failing && method === 'PATCH' && path.endsWith('2')
            ? { kind: 'answer', status: 422, body: {} }
            : undefined,
      },
    );
    await succeeded(at.idops('plan --out 1.json'));
    await failed(at.idops('apply 1.json', pipeline(1)));
    failing = false;
    await succeeded(at.idops('apply 1.json', pipeline(1)));
    for (const organization of at.sandbox.data.organizations) organization.label = 'by hand';
    await failed(at.idops('apply 1.json', pipeline(1)), 'all approved changes were already applied');
  });
});

describe('--format gitlab', () => {
  it('counts changes, regenerated DIDs as updates', () => {
    const actions = ['update', 'update', 'regenerate', 'delete', 'adopt', 'blocked', 'unchanged'] as const;
    expect(planGitlab(planOf(actions.map((action) => changeOf({ action }))))).toEqual({
      create: 0,
      update: 3,
      delete: 1,
    });
    expect(planGitlab(planOf([]))).toEqual({ create: 0, update: 0, delete: 0 });
  });

  it("is GitLab's report format, and only for plans", async () => {
    const { idops, read } = await project(acme('New'));
    expect((await idops('plan --format gitlab=tfplan.json')).stdout).toContain('Organization/acme');
    for (const report of [await read('tfplan.json'), (await idops('plan --format gitlab')).stdout])
      expect(JSON.parse(report)).toEqual({ create: 0, update: 1, delete: 0 });
    await failed(idops('apply --yes --format gitlab'), 'unknown format gitlab');
  });
});

describe('examples/gitlab', () => {
  const { stages, default: usual, ...jobs } = parse(readFileSync('examples/gitlab/.gitlab-ci.yml', 'utf8'));
  const { plan, note, apply, drift } = jobs;
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

  it('applies the stored plan manually, one pipeline at a time', () => {
    expect(Object.keys(jobs)).toEqual(['validate', 'plan', 'note', 'apply', 'ended', 'drift']);
    expect(usual.image).toEqual({ name: `ghcr.io/idops/idops:${version}`, entrypoint: [''] });
    const name = { resource_group: 'idops-production', environment: 'production' };
    expect(apply).toMatchObject({ ...name, needs: ['plan'] });
    expect(apply.rules.map(({ when }: { when?: string }) => when)).toEqual(['manual']);
    expect(apply.script.join('\n')).toContain('apply plan.json');
    expect(apply.script.join('\n')).toMatch(
      /^approval="\$\(.* approved plan\.json production\)"\nIDOPS_APPROVAL="\$approval" /,
    );
    expect(plan.script.join('\n')).toContain('--out plan.json');
  });

  it('keeps and reports its files, and pins the URL in each job', () => {
    const [command = ''] = plan.script;
    const written = [...command.matchAll(/(?:--out |=)(\w+\.\w+)/g)].map(([, file]) => file);
    const { paths, reports } = plan.artifacts;
    expect([...paths, reports.terraform].sort()).toEqual(written.sort());
    for (const { script } of [plan, apply, drift])
      expect(script.join('\n')).toContain('--base-url "$IDOPS_BASE_URL"');
  });

  it('gives the write token only to jobs that apply, and no token to a fork', () => {
    const fork = '$CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_PROJECT_ID';
    for (const { rules } of [plan, note]) {
      for (const rule of rules) if (rule.if.includes('merge_request_event')) expect(rule.if).toContain(fork);
    }
    expect(JSON.stringify([plan, note, drift])).not.toContain('IDOPS_APPLY_TOKEN');
    expect(JSON.stringify(plan)).not.toContain('IDOPS_NOTE_TOKEN');
    const inImage = '/usr/local/lib/node_modules/idops/examples/gitlab/gitlab.mjs';
    expect(note.script.join('\n')).toContain(`${inImage} note plan.md`);
    expect(stages).toEqual(['check', 'plan', 'note', 'apply']);
    // The note is also written after a failed plan.
    expect(note.rules.map(({ when }: { when?: string }) => when)).toEqual(['always']);
  });
});
