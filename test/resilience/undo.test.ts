import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { comparable, type Doc, ids, site } from '../boruta/site.js';
import { afterwards } from '../cleanups.js';
import { gate } from '../e2e/gate.js';
import { signal } from '../e2e/in-process.js';
import { boruta, config, journals, project } from '../e2e/running.js';

const profiles = ['documented', 'boruta'] as const;
const template = (type: string, more: { [field: string]: string }): Doc => ({
  kind: 'EmailTemplate',
  backend_id: ids.backend,
  type,
  ...more,
});
const bodies = (text: string) => ({ txt_content: `${text} {{ code }}`, html_content: `<p>${text}</p>` });

describe.each(profiles)('undoing a run (%s)', (profile) => {
  it('restores organizations, templates, the default key pair and users', async () => {
    const at = await site({ profile });
    const baseline: Doc[] = [
      { kind: 'User', id: ids.ada, group: 'before', organizations: ['acme', 'globex'] },
      { kind: 'KeyPair', id: ids.firstKey, is_default: true },
      { kind: 'KeyPair', id: ids.secondKey, is_default: false },
    ];
    await at.apply(...baseline);
    const start = at.sandbox.snapshot();
    const ran = await at.apply(
      { kind: 'Organization', id: ids.acme, name: 'renamed', label: 'New' },
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
    // An undo is a run that can be undone.
    const redone = await at.undo(undone.run);
    expect(redone.left).toEqual([]);
    expect(comparable(at.sandbox.snapshot())).toEqual(comparable(changed));
    await at.undo(redone.run);
    expect(comparable(at.sandbox.snapshot())).toEqual(comparable(start));
  });
});

describe('idops undo', () => {
  const runOf = (stdout: string): string => JSON.parse(stdout).run;
  const apply = 'apply --yes --format json';

  it('shows the plan and what it leaves before it asks, and exits with 1 if it leaves anything', async () => {
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

  it('exits with 0 if all is restored, and with --force overwrites later changes', async () => {
    const at = await project({ 'manifests/all.yaml': 'kind: Organization\nname: acme\nlabel: New\n' });
    const run = runOf((await at.idops(apply)).stdout);
    const [acme] = at.sandbox.data.organizations;
    if (acme !== undefined) acme.label = 'by a person';
    await at.refused(`undo ${run} --yes`, 'Organization/acme: label is left: it was changed since');
    expect(acme?.label).toBe('by a person');
    expect((await at.idops(`undo ${run} --yes --force`)).code).toBe(0);
    expect(acme?.label).toBe('ACME Corp');
    expect(await at.idops(`undo ${run} --yes`)).toMatchObject({ code: 0 });
  });

  it("shows no change of an organization in a user, because a user's PATCH can't change it", async () => {
    const at = await project(
      { 'idops.yaml': boruta, 'manifests/all.yaml': `kind: User\nid: ${ids.ada}\norganizations: [acme]\n` },
      { profile: 'boruta' },
    );
    const run = runOf((await at.idops(`${apply} --allow-destructive 9`)).stdout);
    const [acme] = at.sandbox.data.organizations;
    if (acme !== undefined) acme.label = 'by a person';
    const undone = await at.idops(`undo ${run} --yes`);
    expect(undone).toMatchObject({ code: 0, stdout: expect.stringContaining('Applied: 1 applied') });
    const shown = await at.idops(`runs --address User/${ids.ada}`);
    for (const { stdout } of [undone, shown]) {
      expect(stdout).toContain('globex');
      expect(stdout).not.toMatch(/label: .*→/);
    }
  });

  it('with --last undoes the newest run after the state is lost', async () => {
    const at = await project({ 'manifests/all.yaml': 'kind: Organization\nname: acme\nlabel: New\n' });
    expect(await at.idops(apply)).toMatchObject({ code: 0 });
    await rm(join(at.folder, '.idops/state.json'));
    expect(await at.idops('undo --last --yes')).toMatchObject({ code: 0 });
    expect(at.sandbox.data.organizations[0]?.label).toBe('ACME Corp');
  });

  it('with --last undoes the newest run of its own state', async () => {
    const other = `${config}environments: {b: {state: {path: .idops/b.json}, manifests: [b.yaml]}}\n`;
    const labelled = (name: string, label: string): string =>
      `kind: Organization\nname: ${name}\nlabel: ${label}\n`;
    const at = await project({ 'idops.yaml': other, 'b.yaml': labelled('globex', 'Other') });
    await at.refused('undo --last --yes', 'error[no-such-run]');
    for (const label of ['First', 'Second']) {
      await at.write({ 'manifests/all.yaml': labelled('acme', label) });
      expect((await at.idops(apply)).code).toBe(0);
    }
    expect((await at.idops('apply --env b --yes')).code).toBe(0);
    const label = (id: string) => at.sandbox.data.organizations.find((one) => one.id === id)?.label;
    expect((await at.idops('undo --last --yes')).code).toBe(0);
    expect([label(ids.acme), label(ids.globex)]).toEqual(['First', 'Other']);
    const sent = at.writes().length;
    const again = await at.refused('undo --last --yes', 'error[already-undone]');
    const [, undo = ''] = /idops undo (\S+) undoes it/.exec(again.stderr) ?? [];
    expect(at.writes()).toHaveLength(sent);
    expect((await at.idops(`undo ${undo} --yes`)).code).toBe(0);
    expect(label(ids.acme)).toBe('Second');
    for (const args of ['undo --yes', 'undo --last 2026 --yes']) {
      await at.refused(args, 'error[wrong-option]: name either a run or --last');
    }
  });

  it.each(['interrupted', 'killed'])('that was %s is finished by --last', async (how) => {
    const { arrived, open, intercept } = gate();
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
    await arrived;
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
    ['a truncated line', (text) => text.replace(/\n(\{"type":"sending")[^\n]*/, '\n$1')],
    ['no first line', (text) => `xx${text}`],
    ['a folder instead of a file', () => null],
  ];
  it.each(damages)('with --last is refused if the newest journal has %s', async (_, damage) => {
    const labelled = (label: string) => ({
      'manifests/all.yaml': `kind: Organization\nname: acme\nlabel: ${label}\n`,
    });
    const at = await project({});
    const runs: string[] = [];
    // Names of runs differ only by the second.
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
    await at.refused('undo --last --yes', ['error[journal-unreadable]', second, 'idops undo RUN']);
    expect(at.writes()).toHaveLength(sent);
    expect((await at.idops(`undo ${first} --yes`)).stderr).not.toContain('journal-unreadable');
    await rm(join(at.folder, '.idops/runs', `${first}.jsonl`));
    const alone = await at.idops('undo --last --yes');
    expect(alone.stderr).toContain('error[journal-unreadable]');
    expect(alone.stderr).not.toContain('has no runs');
  });

  it('refuses a run on another server', async () => {
    const at = await project({ 'manifests/all.yaml': 'kind: Organization\nname: acme\nlabel: New\n' });
    const run = runOf((await at.idops(apply)).stdout);
    const other = await project({
      'idops.yaml': `${config}state: {path: .idops/other.json}\n`,
      [`.idops/runs/${run}.jsonl`]: await at.read(`.idops/runs/${run}.jsonl`),
    });
    await other.refused(`undo ${run} --yes --force`, 'error[run-other-server]');
    expect(other.sandbox.requests).toEqual([]);
  });
});
