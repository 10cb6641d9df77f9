import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { SandboxSeed } from '../../src/sandbox/index.js';
import { type Doc, ids, type Site, site, todo } from '../boruta/site.js';
import { afterwards } from '../cleanups.js';
import { gate } from '../e2e/gate.js';
import { signal } from '../e2e/in-process.js';
import { journals, project } from '../e2e/running.js';
import { often } from '../often.js';

const profiles = ['documented', 'boruta'] as const;
const organization = (id: string, more: { [field: string]: string | null }): Doc => ({
  kind: 'Organization',
  id,
  ...more,
});
const template = (type: string, more: { [field: string]: string }): Doc => ({
  kind: 'EmailTemplate',
  backend_id: ids.backend,
  type,
  ...more,
});
const bodies = (text: string) => ({ txt_content: `${text} {{ code }}`, html_content: `<p>${text}</p>` });

/** Without order, and without the ids of templates that were written anew. */
function comparable({ organizations, templates, ...rest }: SandboxSeed): object {
  return {
    ...rest,
    users: rest.users.map((user) => ({
      ...user,
      organizations: user.organizations.map(({ id }) => id).sort(),
      authorized_scopes: user.authorized_scopes.map(({ id }) => id).sort(),
    })),
    organizations: [...organizations].sort((a, b) => (a.id < b.id ? -1 : 1)),
    templates: templates.map(({ id: _, ...one }) => one).sort((a, b) => (a.type < b.type ? -1 : 1)),
  };
}

function organizationOf(at: Site, id: string) {
  const found = at.sandbox.data.organizations.find((one) => one.id === id);
  if (found === undefined) throw new Error(`no organization ${id}`);
  return found;
}

describe.each(profiles)('undoing a run (%s)', (profile) => {
  it('puts back organizations, templates, the default key pair and users', async () => {
    const at = await site({ profile });
    const baseline: Doc[] = [
      { kind: 'User', id: ids.ada, group: 'before', organizations: ['acme', 'globex'] },
      { kind: 'KeyPair', id: ids.firstKey, is_default: true },
      { kind: 'KeyPair', id: ids.secondKey, is_default: false },
    ];
    await at.apply(...baseline);
    const start = at.sandbox.snapshot();
    const ran = await at.apply(
      organization(ids.acme, { name: 'renamed', label: 'New' }),
      template('reset_password_instructions', bodies('new')),
      template('tx_code', { state: 'absent' }),
      template('confirmation_instructions', bodies('created')),
      { kind: 'User', id: ids.ada, group: 'after', organizations: ['initech'] },
      { kind: 'KeyPair', id: ids.secondKey, is_default: true },
      { kind: 'KeyPair', id: ids.firstKey, is_default: false },
    );
    expect(ran.results.every(({ status }) => status === 'applied')).toBe(true);
    const changed = at.sandbox.snapshot();
    const undone = await at.undo(ran.run);
    expect(undone.left).toEqual([]);
    expect(comparable(at.sandbox.snapshot())).toEqual(comparable(start));
    // The undo is a run like any other.
    const redone = await at.undo(undone.run);
    expect(redone.left).toEqual([]);
    expect(comparable(at.sandbox.snapshot())).toEqual(comparable(changed));
    await at.undo(redone.run);
    expect(comparable(at.sandbox.snapshot())).toEqual(comparable(start));
  });

  it('leaves a field that somebody changed since, and only that', async () => {
    const at = await site({ profile });
    const ran = await at.apply(
      organization(ids.acme, { name: 'renamed', label: 'New' }),
      template('reset_password_instructions', bodies('new')),
    );
    organizationOf(at, ids.acme).label = 'by a person';
    const undone = await at.undo(ran.run);
    expect(undone.left).toEqual([expect.stringContaining('changed since')]);
    expect(organizationOf(at, ids.acme)).toMatchObject({ name: 'acme', label: 'by a person' });
  });

  it('leaves what a later run changed', async () => {
    const at = await site({ profile });
    const ran = await at.apply(organization(ids.acme, { label: 'First' }));
    await at.apply(organization(ids.acme, { label: 'Second' }));
    const undone = await at.undo(ran.run);
    expect(undone.left).toHaveLength(1);
    expect(todo(undone.plan)).toEqual([]);
    expect(organizationOf(at, ids.acme).label).toBe('Second');
  });

  it('leaves a created template that somebody changed, and a deleted one that somebody wrote', async () => {
    const at = await site({ profile });
    const ran = await at.apply(
      template('tx_code', { state: 'absent' }),
      template('confirmation_instructions', bodies('created')),
    );
    const created = at.sandbox.data.templates.find(({ type }) => type === 'confirmation_instructions');
    if (created !== undefined) created.txt_content = 'by a person';
    at.sandbox.data.templates.push({
      id: ids.nobody,
      backend_id: ids.backend,
      type: 'tx_code',
      txt_content: 'by a person',
      html_content: 'by a person',
    });
    const before = at.sandbox.snapshot();
    const undone = await at.undo(ran.run);
    expect(undone.left.length).toBeGreaterThan(1);
    expect(comparable(at.sandbox.snapshot())).toEqual(comparable(before));
  });

  it('puts back single keys of metadata', async () => {
    const at = await site({ profile });
    const [ada] = at.sandbox.data.users;
    const value = (text: string) => ({ value: text, status: 'valid' });
    if (ada !== undefined) ada.metadata = { department: value('old'), phone: value('1'), kept: value('k') };
    const whole = { department: value('old'), phone: value('1'), kept: value('k') };
    await at.apply({ kind: 'User', id: ids.ada, metadata: whole, whole: ['metadata'] });
    // What was as it is gave no change where it could be read, so that something is recorded in both cases.
    await at.apply({ kind: 'User', id: ids.ada, group: 'staff' });
    const ran = await at.apply({
      kind: 'User',
      id: ids.ada,
      metadata: { department: value('new'), phone: null, added: value('a') },
    });
    expect(ran.results.map(({ status }) => status)).toEqual(['applied']);
    expect(ada?.metadata).toEqual({ department: value('new'), kept: value('k'), added: value('a') });
    const undone = await at.undo(ran.run);
    expect(undone.left).toEqual([]);
    expect(ada?.metadata).toEqual(whole);
  });

  it('says that a DID can not be put back, and sends nothing for it', async () => {
    const at = await site({ profile });
    await at.apply({ kind: 'Client', id: ids.portal, did_generation: 1 });
    const ran = await at.apply({ kind: 'Client', id: ids.portal, did_generation: 2 });
    at.writes();
    const undone = await at.undo(ran.run);
    expect(undone.left).toEqual([`Client/${ids.portal}: a regenerated DID can not be put back`]);
    expect(at.writes()).toEqual([]);
  });

  it('leads back from any changes of organizations and templates', async () => {
    const text = fc.oneof(
      fc.constantFrom('acme', 'x', 'New\r\nline'),
      fc.string({ minLength: 1, maxLength: 12 }),
    );
    const usable = text.filter((one) => one.trim() !== '' && !/[${}]/.test(one) && one.isWellFormed());
    const label = fc.option(usable, { nil: null });
    const orgs = fc.uniqueArray(fc.constantFrom(ids.acme, ids.globex, ids.initech, ids.umbrella), {
      maxLength: 4,
    });
    const types = fc.uniqueArray(
      fc.constantFrom('tx_code', 'reset_password_instructions', 'confirmation_instructions'),
      { maxLength: 3 },
    );
    const documents = fc.tuple(orgs, types).chain(([organizations, templates]) =>
      fc.tuple(
        ...organizations.map((id) =>
          fc
            .record({ name: usable, label }, { requiredKeys: [] })
            .map((more): Doc => ({ kind: 'Organization', id, ...more })),
        ),
        ...templates.map((type) =>
          fc.oneof(
            fc.constant(template(type, { state: 'absent' })),
            fc.record({ txt_content: usable, html_content: usable }).map((more) => template(type, more)),
            ...(type === 'confirmation_instructions'
              ? []
              : [usable.map((txt_content) => template(type, { txt_content }))]),
          ),
        ),
      ),
    );
    await fc.assert(
      fc.asyncProperty(documents, async (declared) => {
        fc.pre(declared.length > 0);
        const at = await site({ profile });
        const start = at.sandbox.snapshot();
        const ran = await at.apply(...declared);
        fc.pre(ran.run !== null);
        const undone = await at.undo(ran.run);
        expect(undone.left).toEqual([]);
        expect(comparable(at.sandbox.snapshot())).toEqual(comparable(start));
        expect(todo((await at.undo(ran.run)).plan)).toEqual([]);
        await at.sandbox.close();
      }),
      { numRuns: often(40) },
    );
  });
});

describe('undo on the command line', () => {
  const runOf = (stdout: string): string => JSON.parse(stdout).run;
  const apply = 'apply --yes --format json';

  it('shows the plan and what is left before it asks, and exits 1 where anything was left', async () => {
    const at = await project({
      'manifests/all.yaml': `kind: Client\nid: ${ids.portal}\ndid_generation: 1\n`,
    });
    await at.idops(apply);
    await at.write({
      'manifests/all.yaml': `kind: Client\nid: ${ids.portal}\ndid_generation: 2\n---\nkind: Organization\nname: acme\nlabel: New\n`,
    });
    const run = runOf((await at.idops(apply)).stdout);
    const asked = await at.idops(`undo ${run}`);
    expect(asked.code).toBe(1);
    expect(asked.stderr.indexOf('warning[not-undone]')).toBeGreaterThanOrEqual(0);
    expect(asked.stderr.indexOf('error[no-terminal]')).toBeGreaterThan(asked.stderr.indexOf('[not-undone]'));
    expect(asked.stdout).toContain('Plan: 1 to update');
    const before = at.writes().length;
    const undone = await at.idops(`undo ${run} --yes`);
    expect(undone.code).toBe(1);
    expect(undone.stdout).toContain('Applied: 1 applied');
    expect(at.writes()).toHaveLength(before + 1);
    expect(at.sandbox.data.organizations[0]?.label).toBe('ACME Corp');
  });

  it('exits 0 where all is put back, and puts back even what was changed with --force', async () => {
    const at = await project({ 'manifests/all.yaml': 'kind: Organization\nname: acme\nlabel: New\n' });
    const run = runOf((await at.idops(apply)).stdout);
    const [acme] = at.sandbox.data.organizations;
    if (acme !== undefined) acme.label = 'by a person';
    const left = await at.idops(`undo ${run} --yes`);
    expect(left).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Organization/acme: label is left: it was changed since'),
    });
    expect(acme?.label).toBe('by a person');
    expect((await at.idops(`undo ${run} --yes --force`)).code).toBe(0);
    expect(acme?.label).toBe('ACME Corp');
    expect(await at.idops(`undo ${run} --yes`)).toMatchObject({ code: 0 });
  });

  it('shows no change of an organization within a user, whose PATCH can make none', async () => {
    const at = await project(
      {
        'idops.yaml': `version: 1\nserver: {base_url: "\${IDOPS_BASE_URL}", profile: boruta, auth: {token: "\${IDOPS_TOKEN}"}}\n`,
        'manifests/all.yaml': `kind: User\nid: ${ids.ada}\norganizations: [{name: acme, roles: []}]\n`,
      },
      { profile: 'boruta' },
    );
    const run = runOf((await at.idops(`${apply} --allow-destructive 9`)).stdout);
    const [acme] = at.sandbox.data.organizations;
    if (acme !== undefined) acme.label = 'by a person';
    const undone = await at.idops(`undo ${run} --yes`);
    expect(undone).toMatchObject({ code: 0, stdout: expect.stringContaining('Applied: 1 applied') });
    const shown = await at.idops(`runs --address User/${ids.ada}`);
    for (const { stdout } of [undone, shown]) {
      expect(stdout).toContain('roles: ');
      expect(stdout).not.toContain('label');
    }
  });

  it('takes the newest run of its own state with --last', async () => {
    const config = `version: 1\nserver: {base_url: "\${IDOPS_BASE_URL}", auth: {token: "\${IDOPS_TOKEN}"}}\n`;
    const other = `${config}environments: {b: {state: {path: .idops/b.json}, manifests: [b.yaml]}}\n`;
    const labelled = (name: string, label: string): string =>
      `kind: Organization\nname: ${name}\nlabel: ${label}\n`;
    const at = await project({ 'idops.yaml': other, 'b.yaml': labelled('globex', 'Other') });
    expect(await at.idops('undo --last --yes')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('error[no-such-run]'),
    });
    for (const label of ['First', 'Second']) {
      await at.write({ 'manifests/all.yaml': labelled('acme', label) });
      expect((await at.idops(apply)).code).toBe(0);
    }
    expect((await at.idops('apply --env b --yes')).code).toBe(0);
    const label = (id: string) => at.sandbox.data.organizations.find((one) => one.id === id)?.label;
    expect((await at.idops('undo --last --yes')).code).toBe(0);
    expect([label(ids.acme), label(ids.globex)]).toEqual(['First', 'Other']);
    const sent = at.writes().length;
    const again = await at.idops('undo --last --yes');
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('error[already-undone]') });
    const [, undo = ''] = /idops undo (\S+) puts back/.exec(again.stderr) ?? [];
    expect(at.writes()).toHaveLength(sent);
    expect((await at.idops(`undo ${undo} --yes`)).code).toBe(0);
    expect(label(ids.acme)).toBe('Second');
    for (const args of ['undo --yes', 'undo --last 2026 --yes']) {
      expect(await at.idops(args)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('error[wrong-option]: say either which run or --last'),
      });
    }
  });

  it.each(['interrupted', 'killed'])('that was %s is finished by --last', async (how) => {
    const { came, open, intercept } = gate();
    let holds = false;
    const at = await project(
      {},
      { intercept: ({ method }) => (holds && method === 'PATCH' ? intercept() : undefined) },
    );
    const labelled = (label: string) => {
      const names = ['acme', 'globex', 'initech'];
      return names.map((name) => `kind: Organization\nname: ${name}\nlabel: ${label}\n`).join('---\n');
    };
    for (const name of ['globex', 'initech'])
      if (at.sandbox.data.organizations.every((one) => one.name !== name))
        at.sandbox.data.organizations.push({ id: name, name, label: null });
    const labels = () => at.sandbox.data.organizations.map(({ label }) => label);
    const before = labels();
    await at.write({ 'manifests/all.yaml': labelled('New') });
    expect((await at.idops(apply)).code).toBe(0);
    const after = labels();
    holds = true;
    const undoing = at.idops('undo --last --yes --concurrency 1');
    await came;
    signal('SIGINT');
    holds = false;
    open();
    expect((await undoing).code).toBe(130);
    expect(labels()).not.toEqual(after);
    expect(labels()).not.toEqual(before);
    if (how === 'killed') {
      const path = journals(await at.files()).at(-1) ?? '';
      const text = await at.read(path);
      await at.write({ [path]: text.replace(/\{"type":"end".*\n$/, '') });
    }
    expect((await at.idops('undo --last --yes')).code).toBe(0);
    expect(labels()).toEqual(before);
    expect((await at.idops('undo --last --yes')).stderr).toContain('error[already-undone]');
    expect(labels()).toEqual(before);
  });

  const damages: readonly [string, (text: string) => string | null][] = [
    ['a line that was cut', (text) => text.replace(/\n(\{"type":"sending")[^\n]*/, '\n$1')],
    ['no first line', (text) => `xx${text}`],
    ['nothing in it', () => ''],
    ['a newer format', (text) => text.replace('"format_version":1', '"format_version":99')],
    ['a folder in its place', () => null],
  ];
  it.each(damages)('with --last is refused where the newest journal has %s', async (_, damage) => {
    const labelled = (label: string) => ({
      'manifests/all.yaml': `kind: Organization\nname: acme\nlabel: ${label}\n`,
    });
    const at = await project({});
    const runs: string[] = [];
    // Runs are named by the second.
    vi.useFakeTimers({ toFake: ['Date'] });
    afterwards(() => vi.useRealTimers());
    for (const label of ['First', 'Second']) {
      await at.write(labelled(label));
      runs.push(runOf((await at.idops(apply)).stdout));
      vi.setSystemTime(Date.now() + 1000);
    }
    const [first = '', second = ''] = runs;
    const hurt = async (run: string) => {
      const path = `.idops/runs/${run}.jsonl`;
      const text = damage(await at.read(path));
      if (text !== null) return await at.write({ [path]: text });
      await rm(join(at.folder, path));
      await mkdir(join(at.folder, path));
    };
    await hurt(second);
    const sent = at.writes().length;
    const refused = await at.idops('undo --last --yes');
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('error[journal-unreadable]'),
    });
    expect(refused.stderr).toContain(second);
    expect(refused.stderr).toContain('idops undo RUN');
    expect(at.writes()).toHaveLength(sent);
    expect((await at.idops(`undo ${first} --yes`)).stderr).not.toContain('journal-unreadable');
    await rm(join(at.folder, '.idops/runs', `${first}.jsonl`));
    const alone = await at.idops('undo --last --yes');
    expect(alone.stderr).toContain('error[journal-unreadable]');
    expect(alone.stderr).not.toContain('has no runs');
  });

  it('leaves an old secret, which no journal holds', async () => {
    const user = (secret: string): string =>
      `kind: User\nid: ${ids.ada}\ngroup: ${secret}\nbackend: {smtp_password: ${secret}-password}\n`;
    const at = await project({ 'manifests/all.yaml': user('first') });
    await at.idops(apply);
    await at.write({ 'manifests/all.yaml': user('second') });
    const run = runOf((await at.idops(apply)).stdout);
    const undone = await at.idops(`undo ${run} --yes`);
    expect(undone.code).toBe(1);
    expect(undone.stderr).toContain('smtp_password');
    expect(undone.stderr).toContain('the old value was a secret');
    expect(at.sandbox.data.users[0]?.group).toBe('first');
    expect(at.sandbox.data.backends[0]?.smtp_password).toBe('second-password');
    const text = JSON.stringify(await at.files()).replaceAll(user('second'), '');
    expect(text).not.toContain('first-password');
  });

  it('refuses a run that was on another server', async () => {
    const at = await project({ 'manifests/all.yaml': 'kind: Organization\nname: acme\nlabel: New\n' });
    const run = runOf((await at.idops(apply)).stdout);
    const other = await project({
      'idops.yaml': `version: 1\nserver: {base_url: "\${IDOPS_BASE_URL}", auth: {token: "\${IDOPS_TOKEN}"}}\nstate: {path: .idops/other.json}\n`,
      [`.idops/runs/${run}.jsonl`]: await at.read(`.idops/runs/${run}.jsonl`),
    });
    const { code, stderr } = await other.idops(`undo ${run} --yes --force`);
    expect(code).toBe(1);
    expect(stderr).toContain('error[run-other-server]');
    expect(other.sandbox.requests).toEqual([]);
  });
});
