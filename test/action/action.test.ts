import { join } from 'node:path';
import MarkdownIt from 'markdown-it';
import { describe, expect, it } from 'vitest';
import { ids } from '../demo-ids.js';
import { treeOf } from '../report/trees.js';
import {
  type ActionOptions,
  acme,
  failed,
  githubToken,
  nobody,
  nothing,
  organizations,
  planned,
  pullRequest,
  type Workspace,
  went,
  workspace,
} from './running.js';

function plans({ github }: Workspace): string[] {
  return github.comments.filter(({ body }) => body.startsWith('<!-- idops-plan')).map(({ body }) => body);
}

const template = `kind: EmailTemplate\nbackend_id: ${ids.backend}\ntype: tx_code\n`;

describe('plan on a pull request', () => {
  it('writes one comment, annotations with file and line, outputs, and the full plan in the summary', async () => {
    const site = await workspace(acme('Renamed'));
    const { code, log, outputs, summary } = await site.run({ environment: 'production' }, pullRequest());
    expect(code).toBe(0);
    expect(plans(site)).toEqual([expect.stringContaining('1 to update')]);
    expect(plans(site)[0]).toContain('environment `production`');
    expect(log).toContain('::notice file=manifests/organizations.yaml,line=1,');
    expect(summary).toContain('Renamed');
    expect(outputs).toMatchObject({
      changed: 'true',
      failed: 'false',
      'exit-code': '2',
      update: '1',
      delete: '0',
      blocked: '0',
      unchanged: '0',
      destructive: '0',
      summary: expect.stringMatching(/^Plan: 1 to update/),
      digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    });
    expect(JSON.parse(await site.read(outputs['plan-file'] ?? ''))).toMatchObject({ digest: outputs.digest });
    expect(await site.read(outputs['html-report'] ?? '')).toContain('<html');
    expect(site.writes()).toEqual([]);
  });

  it('refuses a plan-file that idops reads', async () => {
    const site = await workspace(acme('Renamed'));
    await failed(site.run({ 'plan-file': 'idops.yaml' }), 'error[output-is-input]');
    expect(await site.read(join(site.folder, 'idops.yaml'))).toMatch(/^version: 1/);
  });

  it('updates its comment on any page, and no comment of another author', async () => {
    const site = await workspace(acme('One'), { pageSize: 3 });
    await site.run({}, pullRequest());
    const [first] = site.github.comments.splice(0);
    const forged = { id: 1, number: 7, body: first?.body ?? '', user: { id: 5, login: 'mallory' } };
    const chat = Array.from({ length: 7 }, (_, index) => ({ ...forged, id: 10 + index, body: 'I think …' }));
    site.github.comments.push(forged, ...chat, ...(first === undefined ? [] : [first]));
    await site.write(acme('Two'));
    const { code } = await site.run({}, pullRequest());
    expect(code).toBe(0);
    expect(site.github.comments).toHaveLength(9);
    expect(first?.body).toContain('Two');
    expect(forged.body).not.toContain('Two');
    expect(plans(site)).toHaveLength(2);
  });

  it('updates its comment if nothing is declared, and writes none for an empty plan', async () => {
    const site = await planned('One');
    await site.write(nothing);
    const { outputs } = await site.run({}, pullRequest());
    expect(outputs).toMatchObject({ changed: 'false', 'exit-code': '0' });
    expect(plans(site)).toEqual([expect.stringContaining('nothing is declared')]);
    expect(plans(site)[0]).not.toContain('One');
    await site.run({}, pullRequest(8));
    expect(plans(site)).toHaveLength(1);
    await site.run({ comment: 'true' }, pullRequest(8));
    expect(plans(site)).toHaveLength(2);
  });

  it('writes no comment with comment: false', async () => {
    const site = await workspace(acme('One'));
    expect(await site.run({ comment: 'false' }, pullRequest())).toMatchObject({ code: 0 });
    expect(site.github.requests).toEqual([]);
  });

  it('removes the approval from its comment if a later commit has no plan', async () => {
    const site = await planned('One');
    await site.write({ 'manifests/organizations.yaml': 'kind: Organization\nname: acme\nlable: x\n' });
    const error = '::error file=manifests/organizations.yaml,line=3,col=1,title=idops unknown-field::';
    const { outputs, summary } = await failed(site.run({}, pullRequest()), error);
    expect(outputs).toMatchObject({ failed: 'true', 'exit-code': '1' });
    expect(summary).toContain('unknown-field');
    expect(plans(site)).toEqual([expect.stringContaining('failed')]);
    expect(plans(site)[0]).not.toContain('digest=');
  });

  it('fails on changes with fail-on-changes, and if a change is blocked', async () => {
    const site = await workspace(acme('One'));
    const changed = await failed(site.run({ 'fail-on-changes': 'true' }));
    expect(changed.outputs).toMatchObject({ failed: 'true', 'exit-code': '2' });
    await site.write(nobody);
    expect((await failed(site.run({}))).outputs).toMatchObject({ blocked: '1', 'exit-code': '1' });
  });

  it.each([
    ['a fork', { from: 'mallory/identity' }, 'fork'],
    ['Dependabot', { sender: 'dependabot[bot]' }, 'Dependabot'],
  ])('only validates without a token for %s, and explains why', async (_, from, word) => {
    const site = await workspace(acme('One'));
    const { log, summary, outputs } = await went(site.run({ token: '' }, pullRequest(7, from)));
    for (const text of [log, summary, outputs.summary]) expect(text).toContain(word);
    expect(outputs.summary).toContain('1 object is valid');
    expect(site.sandbox.requests).toEqual([]);
    await site.write(acme('One\nlable: x'));
    await failed(site.run({ token: '' }, pullRequest(7, from)));
  });

  it('fails if the token is missing for another reason', async () => {
    const site = await workspace(acme('One'));
    await failed(site.run({ token: '' }, pullRequest()), '::error');
  });
});

describe('a failure of GitHub', () => {
  it('for a comment is a warning, and the plan succeeds', async () => {
    const site = await workspace(acme('One'));
    site.github.forbid('POST', /comments$/);
    const { log, outputs } = await went(site.run({}, pullRequest()));
    expect(outputs).toMatchObject({ changed: 'true', failed: 'false' });
    expect(log).toMatch(
      /::warning title=idops::The comment may be missing: GitHub answers 403: Resource not accessible .*needs the permission pull-requests: write/,
    );
  });

  it.each([
    [true, 1, 0],
    [false, 0, 1],
  ])('with a 502 is followed by one look for the comment (created: %s)', async (done, written, warned) => {
    const site = await workspace(acme('One'));
    const message = 'bad gateway';
    site.github.faults.push({ method: 'POST', path: /comments$/, status: 502, message, done, times: 1 });
    const { log } = await site.run({}, pullRequest());
    expect(plans(site)).toHaveLength(written);
    expect(log.split('The comment may be missing')).toHaveLength(1 + warned);
    const asked = site.github.requests.filter((one) => one.includes('/comments'));
    expect(asked.map((one) => one.split(' ')[0])).toEqual(['GET', 'POST', 'GET']);
  });

  it("to identify the token's user writes no second comment and changes no other", async () => {
    const site = await planned('One');
    const [before] = plans(site);
    site.github.faults.push({ method: 'POST', path: /graphql/, status: 403, message: 'no' });
    await site.write(acme('Two'));
    const { log } = await went(site.run({}, pullRequest()));
    expect(log).toContain('::warning title=idops::The comment may be missing');
    expect(plans(site)).toEqual([before]);
    const writes = site.github.requests.filter((request) => /^(POST|PATCH) .*comments/.test(request));
    expect(writes).toHaveLength(1);
  });

  it('in the list of comments writes no second comment', async () => {
    const site = await planned('One');
    site.github.faults.push({ method: 'GET', path: /comments$/, status: 'cut', message: '', times: 1 });
    await site.write(acme('Two'));
    await site.run({}, pullRequest());
    expect(plans(site)).toHaveLength(1);
    expect(plans(site)[0]).toContain('Two');
  });

  it('is not waited for once the job is cancelled', async () => {
    const site = await workspace(acme('One'));
    site.github.faults.push({ method: 'GET', path: /comments$/, status: 429, message: 'slow down' });
    const asked = () => site.github.requests.filter((request) => request.includes('/comments')).length;
    const cancelled = expect.poll(asked, { timeout: 200_000 }).toBe(1);
    const { code, log } = await site.run({}, { ...pullRequest(), cancelled });
    expect(code).toBe(130);
    expect(log).toContain('The comment may be missing: interrupted');
  });
});

describe('apply of an approved plan', () => {
  it('applies the plan that the merged pull request showed, and can be repeated', async () => {
    const site = await planned('Approved');
    Object.assign(site.github.merge(99, 'abc123'), { merged_at: null });
    site.github.merge(7, 'abc123');
    const inputs = { command: 'apply', 'expect-digest': 'from-pull-request' };
    const { outputs, summary } = await went(site.run(inputs, { sha: 'abc123' }));
    expect(outputs).toMatchObject({ changed: 'true', 'exit-code': '0', summary: 'Applied: 1 applied.' });
    expect(summary).toContain('1 applied');
    expect(site.writes()).toEqual([expect.stringMatching(/^PATCH /)]);
    const again = await site.run(inputs, { sha: 'abc123' });
    expect(again).toMatchObject({ code: 0, outputs: { changed: 'false' } });
    expect(site.writes()).toHaveLength(1);
  });

  it('shows the results in html-report, even with invalid sample data', async () => {
    const emails = `${template}txt_content: "{{ code }} of {{ account.email }}"\n`;
    const site = await workspace({ ...acme('Renamed'), 'manifests/emails.yaml': emails });
    const before = await site.run({});
    await site.write({ 'manifests/samples/tx_code.yaml': '{' });
    const { log, outputs } = await went(site.run({ command: 'apply' }));
    expect(log).toContain('tx_code.yaml');
    const page = await site.read(outputs['html-report'] ?? '');
    expect(page).toMatch(/<h1>idops apply/);
    expect(page).toContain('<strong>2</strong> applied');
    expect(await site.read(before.outputs['html-report'] ?? '')).toMatch(/<h1>idops plan/);
  });

  it('refuses more destructive changes than allowed', async () => {
    const site = await workspace({ 'manifests/emails.yaml': `${template}state: absent\n` });
    const { outputs } = await failed(site.run({ command: 'apply', 'allow-destructive': '0' }));
    const digest = expect.stringMatching(/^sha256:/);
    expect(outputs).toMatchObject({ delete: '1', destructive: '1', digest, 'exit-code': '1' });
    expect(site.writes()).toEqual([]);
    await went(site.run({ command: 'apply', 'allow-destructive': '1' }));
  });
});

describe('the drift issue', () => {
  const inputs = { 'drift-issue': 'true' };
  const states = ({ github }: Workspace) => github.issues.map(({ state }) => state);

  it.each(['schedule', 'workflow_dispatch'])('is opened, updated and closed on %s', async (event) => {
    const site = await workspace(acme('One'), { pageSize: 2 });
    const other = { id: 1, number: 1, title: 'x', body: 'x', state: 'open', user: { id: 5, login: 'jo' } };
    site.github.issues.push(other, { ...other, number: 2 }, { ...other, number: 3 });
    expect(await site.run(inputs, { event })).toMatchObject({ code: 0, outputs: { 'exit-code': '2' } });
    await site.write(acme('Two'));
    await site.run(inputs, { event });
    expect(site.github.issues).toHaveLength(4);
    expect(site.github.issues[3]).toMatchObject({ state: 'open', body: expect.stringContaining('Two') });
    await site.write(nothing);
    await site.run(inputs, { event });
    const closed = { state: 'closed', body: expect.stringContaining('no drift') };
    expect(site.github.issues[3]).toMatchObject(closed);
    expect(states(site)).toEqual(['open', 'open', 'open', 'closed']);
  });

  it.each(['--target Organization/globex', '--kind KeyPair'])(
    'stays open after a plan without changes of %s',
    async (args) => {
      const globex = 'kind: Organization\nname: globex\n';
      const site = await workspace({ ...acme('One'), 'manifests/globex.yaml': globex });
      await site.run(inputs, { event: 'schedule' });
      const { log } = await went(site.run({ ...inputs, args }, { event: 'schedule' }));
      expect(log).toContain('stays open');
      expect(states(site)).toEqual(['open']);
    },
  );

  it('is found by its author, and reopened if idops closed it, but not if a person did', async () => {
    const site = await workspace(acme('One'));
    const night = { event: 'schedule' };
    for (const files of [acme('One'), nothing, acme('Two')]) {
      await site.write(files);
      await site.run(inputs, night);
    }
    expect(states(site)).toEqual(['open']);
    expect(site.github.issues[0]?.body).toContain('Two');
    const lists = site.github.requests.filter((one) => /^GET .*\/issues\?/.test(one));
    expect(lists).toHaveLength(3);
    for (const list of lists) expect(list).toContain('creator=github-actions%5Bbot%5D');
    for (const issue of site.github.issues) issue.state = 'closed';
    await site.run(inputs, night);
    expect(states(site)).toEqual(['closed', 'open']);
  });

  it('is opened by an apply that fails or is refused, and closed by the next plan', async () => {
    const site = await workspace(acme('One'));
    const apply = { ...inputs, command: 'apply' };
    await site.run({ ...apply, 'expect-digest': `sha256:${'0'.repeat(64)}` });
    expect(site.github.issues).toMatchObject([
      { state: 'open', body: expect.stringContaining('stale-plan') },
    ]);
    const [issue] = site.github.issues;
    await site.write(nobody);
    await site.run(apply);
    expect(issue?.body).toContain('idops apply');
    expect(issue?.body).not.toContain('stale-plan');
    await site.run(apply, pullRequest());
    await site.write(nothing);
    await site.run(inputs, { event: 'schedule' });
    expect(states(site)).toEqual(['closed']);
  });

  it.each<[string, ActionOptions]>([
    ['a pull request', pullRequest()],
    ['a dispatch of a branch', { event: 'workflow_dispatch', env: { GITHUB_REF: 'refs/heads/topic' } }],
    ['a push to a branch', { event: 'push', env: { GITHUB_REF: 'refs/heads/topic' } }],
    ['a push of a tag', { event: 'push', env: { GITHUB_REF: 'refs/tags/main' } }],
    ['a run whose event lacks the default branch', { event: 'workflow_dispatch', payload: {} }],
  ])('is neither opened, changed nor closed from %s, with the reason', async (_, options) => {
    const site = await workspace(acme('One'));
    await site.run(inputs, { event: 'schedule' });
    const before = structuredClone(site.github.issues);
    expect(before).toHaveLength(1);
    for (const files of [acme('Two'), nothing]) {
      await site.write(files);
      const { log } = await went(site.run(inputs, options));
      expect(log).toContain('::notice title=idops::No issue is opened, changed or closed');
    }
    expect(site.github.issues).toEqual(before);
  });

  it('needs a permission, which a warning names', async () => {
    const site = await workspace(acme('One'));
    site.github.forbid('POST', /issues$/);
    expect((await went(site.run(inputs, { event: 'schedule' }))).log).toContain('issues: write');
  });
});

describe('inputs', () => {
  it('are all checked at once', async () => {
    const site = await workspace(acme('One'));
    const wrong = { command: 'destroy', comment: 'maybe', 'expect-digest': 'x', 'allow-destructive': '-1' };
    await failed(site.run({ ...wrong, args: '--evil --target' }), ...Object.keys(wrong), '--evil');
    expect(site.sandbox.requests).toEqual([]);
  });

  it('never repeat a token in the wrong input', async () => {
    const site = await workspace(acme('One'));
    const token = `eyJ${'aB3'.repeat(20)}.eyJ${'cD4'.repeat(20)}`;
    const wrong = [{ args: `--${token}` }, { args: token }, { command: token }, { environment: token }];
    for (const given of wrong) {
      const running = site.run({ comment: 'true', ...given }, pullRequest());
      const { log, outputs, summary } = await failed(running, 'characters)');
      const all = [log, JSON.stringify(outputs), summary, ...site.github.received];
      expect(all.join()).not.toContain(token.slice(0, 20));
    }
    expect(plans(site)[0]).toContain('## idops plan for `(a value of 127 characters)`: failed');
  });

  it('args are split as a shell does, and nothing in them runs', async () => {
    const more = { 'manifests/more.yaml': 'kind: Organization\nname: globex\nlabel: X\n' };
    const site = await workspace({ ...acme('One'), ...more });
    const args = '--target "Organization/glo*" --concurrency 2\n--timeout 5 --retries 0';
    expect((await site.run({ args })).outputs).toMatchObject({ update: '1' });
    await failed(site.run({ args: '--target "$(touch oops)"' }));
    await expect(site.read(`${site.folder}/oops`)).rejects.toThrow();
  });

  it('never succeed or report no drift if args leave out a pending restore', async () => {
    let cuts = true;
    const site = await workspace(
      {
        'idops.yaml': `version: 1\nserver: {profile: boruta, base_url: "\${IDOPS_BASE_URL}", auth: {token: "\${IDOPS_TOKEN}"}}\n`,
        'manifests/all.yaml': `kind: Organization\nname: acme\n---\nkind: User\nid: ${ids.ada}\ngroup: ops\n`,
      },
      {
        profile: 'boruta',
        intercept: ({ method }) => (method === 'PATCH' && cuts ? { kind: 'cut', step: 4 } : undefined),
      },
    );
    await failed(site.run({ command: 'apply', args: '--retries 1' }));
    cuts = false;
    const message = `what an update took away from 1 object that --kind or --target leave out is still to be restored (User/${ids.ada})`;
    const args = '--kind Organization';
    const { log } = await site.run({ args, 'drift-issue': 'true', 'github-token': githubToken });
    expect(log.replace(/\s+/g, ' ')).toContain(message);
    expect(log).not.toContain('Nothing to change.');
    expect(site.github.issues).toEqual([expect.objectContaining({ state: 'open' })]);
    const applied = await failed(site.run({ command: 'apply', args }));
    expect(applied.outputs.summary).toMatch(/^restores-left-out: what an update took away/);
    await went(site.run({ command: 'apply' }));
    await went(site.run({ command: 'apply', args }));
  });

  it('can only validate', async () => {
    const site = await workspace(acme('One'));
    const { outputs } = await went(site.run({ command: 'validate', token: '' }));
    expect(outputs).toMatchObject({ summary: '1 object is valid', failed: 'false', changed: 'false' });
    expect(site.sandbox.requests).toEqual([]);
  });
});

describe('secrets', () => {
  it('are masked first, and appear in no output of a run', async () => {
    const password = 'pa55word-of-the-mail-server';
    const site = await workspace({
      'manifests/users.yaml': `kind: User
id: ${ids.ada}
whole: [metadata]
metadata: {note: {value: "\${IDOPS_NOTE}", status: valid}}
backend: {id: ${ids.backend}, smtp_password: "\${IDOPS_SMTP}"}
`,
    });
    const env = { IDOPS_SMTP: password, IDOPS_NOTE: 'note-that-is-private' };
    const texts: string[] = [];
    for (const inputs of [{}, { command: 'apply' }, { args: '--debug' }]) {
      const { log, masked } = await went(site.run(inputs, { ...pullRequest(), env }));
      expect(masked).toEqual([site.sandbox.token, githubToken]);
      texts.push(log);
    }
    expect(site.writes()).toHaveLength(1);
    const all = [...texts, await site.leftovers(), ...site.github.received].join('\n');
    for (const secret of [site.sandbox.token, githubToken, password, env.IDOPS_NOTE]) {
      expect(all.includes(secret), secret).toBe(false);
    }
  });

  it('of the workflow are not available to manifests', async () => {
    const site = await workspace({
      'idops.yaml': 'version: 1\nallow_env: [INPUT_TOKEN]\n',
      'manifests/a.yaml': 'kind: Organization\nname: acme\nlabel: "${INPUT_TOKEN}"\n',
    });
    await failed(site.run({}), 'INPUT_TOKEN');
  });
});

describe('hostile text', () => {
  it('is plain text in comments, logs and outputs', async () => {
    const evil = '"--> <img src=x> @everyone ::set-output name=x::y ##[error]z"';
    const site = await workspace(acme(evil));
    const { log, outputs } = await site.run({}, pullRequest());
    expect(outputs.x).toBeUndefined();
    expect(log.split('\n').filter((line) => /^\s*::set-output/.test(line))).toEqual([]);
    const [body = ''] = plans(site);
    const { elements, prose } = treeOf(new MarkdownIt({ html: true, linkify: true }).render(body));
    expect(elements.filter(({ tag }) => ['img', 'script'].includes(tag))).toEqual([]);
    expect(prose).not.toMatch(/@|</);
    expect(body.split('\n')[0]).toMatch(/^<!-- [^>]* -->$/);
  });
});

describe('a plan of 2,000 changes', () => {
  it("has a comment within GitHub's limit with all destructive changes, and a summary within its limit", async () => {
    const { all, manifest, seed } = organizations(1990);
    const templates = Array.from({ length: 10 }, (_, index) => ({
      id: `30000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
      backend_id: `20000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
      type: 'tx_code',
      txt_content: 'code',
      html_content: '<p>code</p>',
    }));
    const deleted = templates.map(
      ({ backend_id }) => `kind: EmailTemplate\nbackend_id: ${backend_id}\ntype: tx_code\nstate: absent\n`,
    );
    const files = { 'manifests/a.yaml': manifest, 'manifests/b.yaml': deleted.join('---\n') };
    const site = await workspace(files, { seed: { ...seed, templates } });
    const { outputs, summary } = await went(site.run({}, pullRequest()));
    expect(outputs).toMatchObject({ update: '1990', delete: '10', destructive: '10' });
    const [body = ''] = plans(site);
    expect(body.length).toBeGreaterThan(20_000);
    expect(body.length).toBeLessThanOrEqual(65_536);
    for (const { backend_id } of templates) expect(body).toContain(`EmailTemplate/${backend_id}/tx_code`);
    expect(Buffer.byteLength(summary)).toBeLessThanOrEqual(1024 * 1024);
    for (const { name } of all) expect(summary).toContain(`Organization/${name}`);
  });
});
