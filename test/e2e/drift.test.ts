import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Sandbox } from '../../src/sandbox/index.js';
import { fileBackend } from '../../src/state/file/index.js';
import { ids } from '../demo-ids.js';
import {
  blocked,
  boruta,
  borutaProject,
  type Files,
  project,
  succeeded,
  type TestProject,
  trustedConfig,
} from './running.js';
import { expectToMatchSchema } from './schemas.js';

/** A change on the server without idops. */
async function byHand({ url, token }: Sandbox, label = 'By hand'): Promise<void> {
  const answer = await fetch(`${url}/api/organizations/${ids.acme}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ organization: { name: 'acme', label } }),
  });
  expect(answer.status).toBe(200);
}

const organizations = (acme: string, globex: string): string =>
  `kind: Organization\nname: acme\nlabel: ${acme}\n---\nkind: Organization\nname: globex\nlabel: ${globex}\n`;

const profiles = [
  ['documented', trustedConfig],
  ['boruta', boruta],
] as const;

function adaOf({ sandbox }: TestProject) {
  const ada = sandbox.data.users.find(({ id }) => id === ids.ada);
  if (ada === undefined) throw new Error('nobody is there');
  return ada;
}

function projectOf(profile: string, files: Files = {}): Promise<TestProject> {
  return profile === boruta ? borutaProject(files) : project({ 'idops.yaml': profile, ...files });
}

/** Two organizations that a run set. Then acme's label is changed on the server, and globex's in the manifest. */
async function drifted(profile: string): Promise<TestProject & { readonly run: string }> {
  const made = await projectOf(profile, {
    'manifests/all.yaml': organizations('ACME Corporation', 'Globex 1'),
  });
  const { run } = await made.json('apply --yes');
  await byHand(made.sandbox);
  await made.write({ 'manifests/all.yaml': organizations('ACME Corporation', 'Globex 2') });
  return { ...made, run };
}

describe.each(profiles)('a change on a server of the profile %s since a run', (_, profile) => {
  it('is distinguished from changes of the manifest, in every format', async () => {
    const { idops, run, json } = await drifted(profile);
    const note = `changed on the server since run ${run} (was "ACME Corporation")`;

    const { stdout: text } = await idops('plan');
    const words = text.replaceAll(/\s+/g, ' ');
    expect(words).toContain(`label: "By hand" → "ACME Corporation" ${note}`);
    expect(words.split('changed on the server since run')).toHaveLength(2);
    expect(words).toContain('Drift: 1 field of 1 object changed on the server since idops last knew it.');
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);

    const plan = await json('plan');
    expectToMatchSchema('plan', plan);
    expect(plan.summary.drift).toBe(1);
    const fields = plan.changes.flatMap((change: { fields: object[] }) => change.fields);
    expect(fields).toEqual([
      expect.objectContaining({ before: 'By hand', drift: { recorded: 'ACME Corporation', run } }),
      expect.not.objectContaining({ drift: expect.anything() }),
    ]);

    const { stdout: markdown } = await idops('plan --format markdown');
    expect(markdown.replaceAll(/<\/?code>|`/g, '')).toContain(`${note} — `);
    expect((await idops('plan --format html')).stdout).toContain(
      `changed on the server since run ${run} (was &quot;ACME Corporation&quot;)`,
    );
    const { stdout: github } = await idops('plan --format github');
    expect(github).toContain(`Organization/acme: label; ${note}`);
    expect(github).toContain('Organization/globex: label\n');
  });

  it('can be shown without other changes, or left out and counted', async () => {
    const { idops, read, run, json } = await drifted(profile);
    const { stdout: drift } = await idops('plan --only drift');
    expect(drift).toContain('acme');
    expect(drift).not.toContain('globex');
    expect(drift).toContain('Left out by --only drift: 1 to update.');
    const { stdout: changes } = await idops('plan --only changes');
    expect(changes).not.toContain(run);
    expect(changes).toContain('globex');
    const whole = await json('plan --out whole.json');
    const part = await idops('plan --format json --only drift --out part.json --detailed-exitcode');
    expect(part.code).toBe(2);
    const shown = JSON.parse(part.stdout);
    expectToMatchSchema('plan', shown);
    expect(shown).toMatchObject({ only: 'drift', left_out: { update: 1 }, summary: whole.summary });
    expect(shown.changes).toEqual([whole.changes[0]]);
    expect(shown.digest).toBe(whole.digest);
    expect(JSON.parse(await read('part.json')).changes).toEqual(whole.changes);
  });
});

describe('drift', () => {
  it('is not reported if idops moved the default to another key pair', async () => {
    const pairs = (first: boolean): string =>
      `kind: KeyPair\nid: ${ids.firstKey}\nis_default: ${first}\n---\nkind: KeyPair\nid: ${ids.secondKey}\nis_default: ${!first}\n`;
    const { idops, write } = await borutaProject({ 'manifests/keys.yaml': pairs(false) });
    for (const first of [false, true, false]) {
      await write({ 'manifests/keys.yaml': pairs(first) });
      const { stdout } = await idops('apply --yes');
      expect(stdout).toContain('to update');
      expect(stdout).not.toContain('Drift');
    }
  });

  it('is not reported for what an undo restored', async () => {
    const { idops } = await projectOf(trustedConfig, {
      'manifests/all.yaml': organizations('ACME 1', 'Globex 1'),
    });
    expect((await idops('apply --yes')).code).toBe(0);
    expect((await idops('undo --last --yes')).code).toBe(0);
    const { stdout } = await idops('plan');
    expect(stdout).toContain('2 to update');
    expect(stdout).not.toContain('since run');
  });
});

describe('a change on the server since idops read it', () => {
  /** A project with manifests that `pull` wrote. */
  async function pulled(profile = boruta, options = ''): Promise<TestProject> {
    const made = await projectOf(profile);
    expect((await made.idops(`pull ${options}`)).code).toBe(0);
    return made;
  }
  it.each(profiles)('is drift after a pull, until another pull adopts it (%s)', async (_, profile) => {
    const made = await pulled(profile);
    await byHand(made.sandbox);
    const note = 'changed on the server since idops read it (was "ACME Corp")';
    const { stdout } = await made.idops('plan --only drift');
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(`label: "By hand" → "ACME Corp" ${note}`);
    const plan = await made.json('plan');
    expectToMatchSchema('plan', plan);
    expect(plan.summary.drift).toBe(1);
    expect(plan.changes[0].fields[0].drift).toEqual({ recorded: 'ACME Corp', run: null });
    const changes = await made.idops('plan --only changes');
    expect(changes.stdout).toContain('Left out by --only changes: 1 to update');
    // A plan records nothing.
    expect((await made.json('plan')).summary.drift).toBe(1);
    // A pull adopts it.
    expect((await made.idops('pull')).code).toBe(0);
    const file = 'manifests/organizations.yaml';
    await made.write({ [file]: (await made.read(file)).replace('By hand', 'Mine') });
    const mine = (await made.idops('plan')).stdout;
    expect(mine).toContain('1 to update');
    expect(mine).not.toContain('Drift');
  });

  it('is drift after an apply that sent nothing', async () => {
    const declared = 'kind: Organization\nname: acme\nlabel: ACME Corporation\n';
    const made = await projectOf(trustedConfig, { 'manifests/a.yaml': declared });
    await byHand(made.sandbox, 'ACME Corporation');
    expect((await succeeded(made.idops('apply --yes'))).stdout).toContain('1 unchanged');
    const state = await made.read('.idops/state.json');
    expect(JSON.parse(state)).toMatchObject({
      serial: 1,
      resources: { [`Organization/${ids.acme}`]: { run: null, left: { run: null } } },
    });
    expect((await made.idops('apply --yes')).code).toBe(0);
    expect(await made.read('.idops/state.json')).toBe(state);
    expect(Object.keys(await made.files()).filter((path) => path.includes('runs/'))).toEqual([]);
    await byHand(made.sandbox);
    expect((await made.idops('plan')).stdout).toContain('since idops last knew it');
  });

  it('of a metadata key that looks secret is shown without values, which the state omits', async () => {
    const made = await pulled();
    const ada = adaOf(made);
    const shown = async (): Promise<string> => {
      let text = '';
      for (const format of ['text', 'json', 'markdown', 'html', 'github'])
        text += (await made.idops(`plan --format ${format}`)).stdout;
      return text;
    };
    const manifest = await made.read('manifests/users.yaml');
    for (const token of ['s3cr3t-first', 's3cr3t-second']) {
      ada.metadata = { ...ada.metadata, api_token: { value: token, status: 'valid' } };
      const text = await shown();
      expect(text).toContain('metadata.api_token');
      expect(text).not.toContain('s3cr3t');
      await made.idops('pull');
      expect(await made.read('.idops/state.json')).not.toContain('s3cr3t');
      // Pull declares the key as a variable; here no manifest declares it.
      await made.write({ 'manifests/users.yaml': manifest });
      expect(await shown()).not.toContain('metadata.api_token');
    }
  });

  it('of a metadata key that no manifest declares is shown, but not planned', async () => {
    const made = await pulled();
    const ada = adaOf(made);
    ada.metadata = { ...ada.metadata, note: { value: 'by hand', status: 'valid' } };
    delete ada.metadata.phone;
    // The deleted key is declared, so it is planned; the added key isn't.
    const both = await made.json('plan');
    expect(both.changes[0].fields).toMatchObject([
      { path: 'metadata.phone', drift: { run: null } },
      { path: 'metadata.note', drift: { recorded: null, run: null, declared: 'nowhere' } },
    ]);
    const manifest = await made.read('manifests/users.yaml');
    await made.write({ 'manifests/users.yaml': manifest.replace(/ {2}phone:\n(?: {4}.*\n)+/, '') });

    const plan = await succeeded(made.idops('plan --detailed-exitcode'));
    const words = plan.stdout.replaceAll(/\s+/g, ' ');
    expect(words).toMatch(
      /metadata.note: \(absent\) → \{.*by hand.*\} changed on the server since idops read it, and no manifest declares it/,
    );
    expect(words).toMatch(/metadata.phone: .* → \(removed\) changed on the server/);
    expect(words).toContain('Drift: 2 fields of 1 object');
    expect(words).toContain('Plan: 0 to update');
    const json = await made.json('plan --only drift');
    expectToMatchSchema('plan', json);
    expect(json.changes).toMatchObject([{ action: 'unchanged', requests: [], fields: [{}, {}] }]);
    const nowhere = /no manifest declares (?:it|them)/;
    for (const format of ['markdown', 'html', 'github'])
      expect((await made.idops(`plan --format ${format}`)).stdout).toMatch(nowhere);
    expect((await made.idops('plan --out stored.json')).code).toBe(0);
    expect((await made.idops('plan stored.json')).stdout).toContain('no manifest declares it');
    expect((await made.idops('apply stored.json')).code).toBe(0);
    expect(made.writes()).toEqual([]);
    // Now idops has recorded it.
    expect((await made.idops('plan')).stdout).not.toContain('Drift');
  });

  it('is not recorded, with a warning, while another process holds the lock', async () => {
    const made = await borutaProject();
    const backend = await fileBackend({ path: join(made.folder, '.idops/state.json'), allowTracked: false });
    const lock = await backend.lock('apply', new Date());
    const held = await succeeded(made.idops('pull'));
    await lock.release();
    expect(held.stderr).toMatch(/warning\[not-recorded\].*\n.*the next apply records it/);
    expect(await made.read('manifests/organizations.yaml')).toContain('ACME');
    expect(Object.keys(await made.files())).not.toContain('.idops/state.json');
  });

  it("doesn't block a rename of a pulled organization, and then the stale name warns", async () => {
    const made = await pulled(boruta, '--by id');
    const file = 'manifests/organizations.yaml';
    await made.write({ [file]: (await made.read(file)).replace('name: globex', 'name: contoso') });
    const plan = await made.json('plan');
    expect(plan).toMatchObject({ summary: { update: 1, blocked: 0 }, warnings: [] });
    expect((await made.idops('apply --yes')).code).toBe(0);
    for (const command of ['plan --detailed-exitcode', 'apply --yes', 'plan --detailed-exitcode']) {
      const ran = await succeeded(made.idops(command));
      expect(ran.stdout.replaceAll(/\s+/g, ' ')).toMatch(
        /warning\[stale-name\]: User\/\S+ the organization with the id \S+ is called "contoso" now, .*: write "contoso" \(manifests\/users.yaml:\d+:1\)/,
      );
    }
    // Another organization has the former name.
    const [acme] = made.sandbox.data.organizations;
    if (acme !== undefined) acme.name = 'globex';
    await blocked(made.idops('plan'), 'is called "contoso" on the server, not "globex"');
    if (acme !== undefined) acme.name = 'acme';
    // A pull writes the new one.
    expect((await made.idops('pull')).code).toBe(0);
    expect((await made.idops('plan')).stdout).not.toContain('stale-name');
  });

  it('is reported after init too', async () => {
    const made = await project({}, { profile: 'boruta' });
    const { url, token } = made.sandbox;
    const env = { IDOPS_BASE_URL: undefined, IDOPS_TOKEN: token };
    await succeeded(made.idops(`init new --yes --base-url ${url} --ci none`, { env }));
    await byHand(made.sandbox);
    const cwd = join(made.folder, 'new');
    expect((await made.idops('plan --only drift', { cwd, env })).stdout).toContain('since idops read it');
  });
});
