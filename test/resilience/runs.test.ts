import { describe, expect, it } from 'vitest';
import { ids } from '../demo-ids.js';
import { holdWrites } from '../e2e/gate.js';
import { journals, project, succeeded, type TestProject } from '../e2e/running.js';

const acme = (label: string): string => `kind: Organization\nname: acme\nlabel: ${label}\n`;

/** A project with two runs, and the paths of their journals. */
async function twoRuns(): Promise<{ at: TestProject; first: string; second: string }> {
  const at = await project({ 'manifests/all.yaml': acme('First') });
  expect((await at.idops('apply --yes')).code).toBe(0);
  await at.write({
    'manifests/all.yaml': `${acme('Second')}---\nkind: User\nid: ${ids.ada}\ngroup: staff\n`,
  });
  expect((await at.idops('apply --yes')).code).toBe(0);
  const [first = '', second = ''] = journals(await at.files()).sort();
  return { at, first, second };
}

const nameOf = (path: string): string => path.replace(/^.*\//, '').replace('.jsonl', '');

describe('other files among the journals', () => {
  it('are ignored with a warning; a broken journal is an error only for its run', async () => {
    const { at } = await twoRuns();
    await at.write({
      '.idops/runs/notes.jsonl': 'buy milk',
      '.idops/runs/old.jsonl/a': '',
      '.idops/runs/.keep': '',
    });
    const listed = await at.idops('runs');
    expect(listed.code, listed.stderr).toBe(0);
    expect(
      listed.stderr.match(/warning\[journal-unreadable\]: "(?:notes|old)" among the journals/g),
    ).toHaveLength(2);
    expect(listed.stdout).toContain('apply');
    for (const command of ['plan --detailed-exitcode', 'doctor', 'undo --last --yes']) {
      const { code, stderr } = await at.idops(command);
      // The undo leaves a value that it can't compare.
      expect(code, stderr).toBe(command.startsWith('undo') ? 1 : 0);
      expect(stderr).not.toContain('journal');
    }
    await at.write({ '.idops/runs/20000101T000000Z-abcdef.jsonl': '{}\n' });
    const broken = await at.refused(
      'runs',
      'error[journal-unreadable]: the journal .idops/runs/20000101T000000Z-abcdef.jsonl',
    );
    expect(broken.stdout).toContain('undo');
  });
});

describe('idops runs', () => {
  it('lists the runs, newest last, as text and as JSON', async () => {
    const { at, first, second } = await twoRuns();
    const { code, stdout } = await at.idops('runs');
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split(/\n(?=\d)/);
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(new RegExp(`^${nameOf(first)}  .+  apply by .+ on .+: 1 applied\n`));
    expect(lines[1]).toMatch(new RegExp(`^${nameOf(second)}  .+  apply by .+ on .+: 2 applied\n`));
    const json = JSON.parse((await at.idops('runs --format json')).stdout);
    expect(json.runs).toMatchObject([
      { run: nameOf(first), command: 'apply', ended: 'finished' },
      { run: nameOf(second), command: 'apply', ended: 'finished' },
    ]);
  });

  it('shows who, when, which server and what changed, also by the beginning of a name', async () => {
    const { at, second } = await twoRuns();
    const { code, stdout } = await at.idops(`runs show ${nameOf(second)}`);
    expect(code).toBe(0);
    expect(stdout).toContain(`Run:         ${nameOf(second)} (finished)`);
    expect(stdout).toContain(`Server:      ${at.sandbox.url}`);
    expect(stdout).toMatch(/When: {8}20\d\d-/);
    expect(stdout).toMatch(/Who: {9}.+ on .+, process \d+/);
    expect(stdout).toContain('"First"');
    expect(stdout).toContain('"Second"');
    expect(stdout).toContain('2 applied');
    const short = await at.idops(`runs show ${nameOf(second).slice(0, -2)} --format json`);
    expect(JSON.parse(short.stdout)).toMatchObject({
      run: nameOf(second),
      server: at.sandbox.url,
      changes: [
        {
          address: 'Organization/acme',
          action: 'update',
          status: 'applied',
          http_status: 200,
          fields: [{ path: 'label', before: 'First', after: 'Second', sensitive: false }],
        },
        {
          address: `User/${ids.ada}`,
          fields: [{ path: 'group', before: { unknown: true }, after: 'staff' }],
        },
      ],
    });
    await at.refused('runs show 2', '2 runs begin');
    for (const name of ['nothing', '../state', '']) {
      expect(await at.idopsWith(['runs', 'show', name])).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('error[no-such-run]'),
      });
    }
  });

  it('needs no server and no valid manifests', async () => {
    const { at, second } = await twoRuns();
    await at.write({ 'manifests/all.yaml': 'broken: [' });
    const env = { IDOPS_BASE_URL: undefined, IDOPS_TOKEN: undefined };
    expect((await at.idops('runs', { env })).code).toBe(0);
    expect((await at.idops(`runs show ${nameOf(second)}`, { env })).code).toBe(0);
  });

  it('reports that there are no runs', async () => {
    const at = await project({ 'manifests/all.yaml': acme('New') });
    expect(await at.idops('runs')).toMatchObject({ code: 0, stdout: 'There are no runs yet.\n' });
    expect((await at.idops('plan')).code).toBe(0);
    expect(journals(await at.files())).toEqual([]);
  });

  it('reports an unreadable journal, not that there are no runs', async () => {
    const at = await project({ 'manifests/all.yaml': acme('First') });
    expect((await at.idops('apply --yes')).code).toBe(0);
    const [only = ''] = journals(await at.files());
    await at.write({ [only]: (await at.read(only)).replace('{"type":"sending"', '{"type') });
    const { stdout } = await at.refused('runs', 'error[journal-unreadable]');
    expect(stdout).toBe('There are no runs that can be read.\n');
    expect(JSON.parse((await at.idops('runs --format json')).stdout).runs).toEqual([]);
  });
});

describe('a journal', () => {
  it('is read up to a truncated last line, and settled by the next run', async () => {
    const { at, second } = await twoRuns();
    const text = await at.read(second);
    const lines = text.trimEnd().split('\n');
    // As after a kill: the state doesn't know that the run ended.
    const state = JSON.parse(await at.read('.idops/state.json'));
    await at.write({
      [second]: `${lines.slice(0, -2).join('\n')}\n${(lines.at(-2) ?? '').slice(0, 30)}`,
      '.idops/state.json': JSON.stringify({ ...state, open_run: nameOf(second) }),
    });
    expect(await at.idops('runs')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('(unfinished)'),
    });
    const shown = await at.idops(`runs show ${nameOf(second)}`);
    expect(shown.stdout).toContain('no answer yet');
    const next = await at.idops('apply --yes');
    expect(next).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`run ${nameOf(second)} had not ended`),
    });
    for (const line of (await at.read(second)).trimEnd().split('\n')) JSON.parse(line);
    expect((await at.idops('runs')).stdout).not.toContain('(unfinished)');
  });

  it('is ignored if its first line is incomplete', async () => {
    const { at } = await twoRuns();
    await at.write({ '.idops/runs/29990101T000000Z-abcdef.jsonl': '{"type":"run","form' });
    expect((await at.idops('runs')).stdout.split(/\n(?=\d)/)).toHaveLength(2);
    expect(await at.idops('plan --detailed-exitcode')).toMatchObject({ code: 0 });
    await at.write({ 'manifests/all.yaml': acme('Third') });
    expect((await at.idops('apply --yes')).code).toBe(0);
  });

  it('is reported if the state knows it but it is empty', async () => {
    const { at, second } = await twoRuns();
    await at.write({ [second]: '' });
    const { code, stdout, stderr } = await at.idops('runs');
    expect(code).toBe(1);
    expect(stdout.split(/\n(?=\d)/)).toHaveLength(1);
    expect(stderr).toContain(`the journal of run ${nameOf(second)} can't be used: its first line is missing`);
    for (const command of ['runs show', 'undo'])
      expect((await at.idops(`${command} ${nameOf(second)}`)).stderr).toContain('its first line is missing');
  });

  it.each([
    [
      'with garbage in the middle',
      (text: string) => text.replace('{"type":"sending"', '{"type'),
      'is not JSON',
    ],
    [
      'with an unknown line',
      (text: string) => text.replace('"type":"end"', '"type":"fin"'),
      'is not a journal line',
    ],
    [
      'of a newer format',
      (text: string) => text.replace('"format_version":1', '"format_version":2'),
      'it has format 2',
    ],
    [
      'of another run',
      (text: string) => text.replace(/"run":"[^"]*"/, '"run":"x"'),
      'does not name this run',
    ],
  ] as const)('%s is reported, and the other runs are shown', async (_, damage, why) => {
    const { at, first, second } = await twoRuns();
    const damaged = damage(await at.read(first));
    await at.write({ [first]: damaged });
    const listed = await at.refused('runs', ['error[journal-unreadable]', first, why]);
    expect(listed.stdout).toContain(nameOf(second));
    for (const command of [`runs show ${nameOf(first)}`, `undo ${nameOf(first)} --yes`]) {
      await at.refused(command, '[journal-unreadable]');
    }
    // The state contains enough of it to continue.
    await at.write({ 'manifests/all.yaml': acme('Third') });
    expect((await at.idops('apply --yes')).code).toBe(0);
    expect(await at.read(first)).toBe(damaged);
  });

  it.each([
    ['garbage', 'rubbish'],
    ['garbage and a newline', 'rubbish\n'],
    ['zeros', '\0'.repeat(5000)],
  ])('that is completely in the state may have %s at its end', async (_, more) => {
    const { at, second } = await twoRuns();
    await at.write({ [second]: `${await at.read(second)}${more}` });
    expect((await at.idops('plan --detailed-exitcode')).code).toBe(0);
    await at.write({ 'manifests/all.yaml': acme('Third') });
    expect((await at.idops('apply --yes')).code).toBe(0);
    expect(at.sandbox.data.organizations[0]?.label).toBe('Third');
  });

  it('is refused before anything is sent if it is corrupt and not in the state', async () => {
    const { at, second } = await twoRuns();
    const state = JSON.parse(await at.read('.idops/state.json'));
    const damaged = (await at.read(second)).replace('{"type":"sending"', '{"type');
    await at.write({
      [second]: damaged,
      '.idops/state.json': JSON.stringify({ ...state, open_run: nameOf(second), last_run: undefined }),
      'manifests/all.yaml': acme('Third'),
    });
    const before = at.sandbox.requests.length;
    await at.refused('apply --yes', 'error[journal-unreadable]');
    expect(at.sandbox.requests).toHaveLength(before);
    expect(await at.read(second)).toBe(damaged);
  });

  it("can't forge terminal output", async () => {
    const { at, second } = await twoRuns();
    const hostile = '\u001b]0;x\u0007\u001b[2J\r\n::error::x\u202e';
    const lines = (await at.read(second))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const changed = lines.map((line) => ({
      ...line,
      ...(line.type === 'run' ? { user: hostile, host: hostile, digest: hostile, environment: hostile } : {}),
      ...(line.type === 'sending'
        ? { address: hostile, before: { fields: { label: hostile }, hashes: {} } }
        : {}),
      ...(line.type === 'answered' ? { error: hostile, status: 'failed' } : {}),
    }));
    await at.write({ [second]: changed.map((line) => `${JSON.stringify(line)}\n`).join('') });
    for (const command of ['runs', `runs show ${nameOf(second)}`, `undo ${nameOf(second)}`, 'plan']) {
      const { stdout, stderr } = await at.idops(command);
      expect(stdout + stderr).not.toMatch(/[\u001b\u0007\r\u202e]/);
      expect(stdout + stderr).not.toMatch(/^::/m);
    }
  });
});

describe('idops runs settle', () => {
  const client = (generation: number): string =>
    `kind: Client\nid: ${ids.portal}\ndid_generation: ${generation}\n`;

  async function unknownOutcome(): Promise<{ at: TestProject; run: string; posts: () => number }> {
    let cut = true;
    const at = await project(
      { 'manifests/all.yaml': client(1) },
      {
        intercept: ({ method }) => (cut && method === 'POST' ? { kind: 'reset', when: 'after' } : undefined),
      },
    );
    await at.idops('apply --yes');
    await at.write({ 'manifests/all.yaml': client(2) });
    const ran = await at.idops('apply --yes --format json');
    expect(ran.code).toBe(1);
    const { run, summary } = JSON.parse(ran.stdout);
    expect(summary.unknown).toBe(1);
    cut = false;
    return { at, run, posts: () => at.writes().length };
  }

  it('with --done records the generation without a request', async () => {
    const { at, run, posts } = await unknownOutcome();
    const plan = await at.idops('plan');
    expect(plan).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(`run ${run} sent a regeneration`),
    });
    expect((await at.idops('apply --yes')).code).toBe(1);
    expect((await at.idops(`runs settle ${run} Client/${ids.portal} --done --yes`)).code).toBe(0);
    expect(await at.idops('plan --detailed-exitcode')).toMatchObject({ code: 0 });
    expect((await at.idops('apply --yes')).code).toBe(0);
    expect(posts()).toBe(1);
    await at.refused(`runs settle ${run} Client/${ids.portal} --not-done --yes`, 'error[nothing-to-settle]');
  });

  it('with --not-done lets the next apply regenerate, once', async () => {
    const { at, run, posts } = await unknownOutcome();
    expect((await at.idops(`runs settle ${run} Client/${ids.portal} --not-done --yes`)).code).toBe(0);
    expect(await at.idops('plan --detailed-exitcode')).toMatchObject({ code: 2 });
    expect((await at.idops('apply --yes')).code).toBe(0);
    expect((await at.idops('apply --yes')).code).toBe(0);
    expect(posts()).toBe(2);
  });

  it.each([
    ['done', 0],
    ['not-done', 2],
  ])('with --%s settles a killed run, before any apply', async (answer, changes) => {
    const held = holdWrites();
    const at = await project({ 'manifests/all.yaml': client(1) }, { intercept: held.intercept });
    await succeeded(at.idops('apply --yes'));
    await at.write({ 'manifests/all.yaml': client(2) });
    const running = at.begin(['apply', '--yes']);
    await held.arrived;
    running.child.kill('SIGKILL');
    await running.ended;
    held.open();
    const files = await at.files();
    const planned = await at.idops('plan');
    expect(planned).toMatchObject({ code: 1, stdout: expect.stringContaining('idops runs settle') });
    expect(await at.files()).toEqual(files);
    const run = journals(files).sort().at(-1) ?? '';
    await succeeded(at.idops(`runs settle ${nameOf(run)} Client/${ids.portal} --${answer} --yes`));
    expect(await at.idops('plan --detailed-exitcode')).toMatchObject({ code: changes });
    await succeeded(at.idops('apply --yes'));
    expect(await at.idops('plan --detailed-exitcode')).toMatchObject({ code: 0 });
  });

  it('is not needed if a person regenerates the DID', async () => {
    const { at, posts } = await unknownOutcome();
    expect((await at.idops(`regenerate-did ${ids.portal} --yes`)).code).toBe(0);
    expect(posts()).toBe(2);
    expect((await at.idops('plan')).stdout).not.toContain('whose outcome is not known');
  });

  it('requires one of the two options, a known run, an unsettled client and consent', async () => {
    const { at, run } = await unknownOutcome();
    const client = `Client/${ids.portal}`;
    for (const [args, code] of [
      [`${run} ${client}`, 'wrong-option'],
      [`${run} ${client} --done --not-done`, 'wrong-option'],
      [`nothing ${client} --done`, 'no-such-run'],
      [`${run} Client/${ids.wallet} --done`, 'nothing-to-settle'],
      [`${run} ${client} --done`, 'no-terminal'],
    ] as const) {
      await at.refused(`runs settle ${args}`, `[${code}]`);
    }
    expect((await at.idops('plan')).code).toBe(1);
  });
});

describe('idops runs forget', () => {
  it("removes only a journal that can't be read", async () => {
    const { at, first, second } = await twoRuns();
    const run = nameOf(second);
    const refused = await at.idops(`runs forget ${nameOf(first)} --yes`);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('error[journal-readable]')]);
    expect(refused.stderr).toContain('idops runs prune');
    expect((await at.idops('runs forget 1999 --yes')).stderr).toContain('error[no-such-run]');

    await at.write({ [second]: `${await at.read(second)}garbage\n` });
    const damaged = await at.idops('undo --last --yes');
    expect([damaged.code, damaged.stderr]).toEqual([1, expect.stringContaining('line 7 is not JSON')]);
    expect((await at.idops('runs')).stderr).toContain('remove it with idops runs forget RUN');
    expect((await at.idops(`runs forget ${run}`)).stderr).toContain('error[no-terminal]');
    expect(journals(await at.files())).toHaveLength(2);
    const forgotten = await at.idops(`runs forget ${run} --yes`);
    expect([forgotten.code, forgotten.stderr]).toEqual([0, `Removed the journal of run ${run}.\n`]);
    expect(journals(await at.files())).toEqual([first]);
    for (const command of ['runs', 'doctor', 'plan', 'apply --yes'])
      expect((await at.idops(command)).code, command).toBe(0);
  });
});
