import { describe, expect, it } from 'vitest';
import { ids } from '../demo-ids.js';
import { holdWrites } from './gate.js';
import { failed, project, succeeded, type TestProject, trustedConfig } from './running.js';

const secret = 'a-smtp-password-of-somebody';

const manifests = {
  'manifests/user.yaml': `kind: User\nid: ${ids.ada}\ngroup: staff\nmetadata: {pin: "\${PIN}"}\nwhole: [metadata]\n`,
  'manifests/acme.yaml': 'kind: Organization\nname: acme\nlabel: New\n',
};
const config = `${trustedConfig}allow_env: [PIN]\n`;
const env = { PIN: secret };

/** Changes the state file, and returns its text. */
async function altered(
  { read, write }: TestProject,
  change: (state: ReturnType<typeof JSON.parse>) => void,
): Promise<string> {
  const state = JSON.parse(await read('.idops/state.json'));
  change(state);
  await write({ '.idops/state.json': JSON.stringify(state) });
  return await read('.idops/state.json');
}

async function applied(): Promise<TestProject> {
  const made = await project({ 'idops.yaml': config, ...manifests });
  await succeeded(made.idops('apply --yes', { env }));
  return made;
}

describe('idops state show', () => {
  it('reports that there is no state', async () => {
    const { idops, json } = await project({});
    expect(await idops('state show')).toMatchObject({ code: 0, stdout: 'There is no state yet.\n' });
    expect(await json('state show')).toMatchObject({ format_version: 1, state: null, records: [] });
    expect((await idops('state show User/1')).stderr).toContain('error[no-such-address]: there is no state');
  });

  it('lists the records, without requests', async () => {
    const { idops, sandbox } = await applied();
    const sent = sandbox.requests.length;
    const { code, stdout, stderr } = await idops('state show', { env: { IDOPS_TOKEN: undefined } });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('State:    .idops/state.json (serial ');
    expect(stdout).toContain(`User/${ids.ada}`);
    expect(stdout).toMatch(/recorded \S+Z by run \d{8}T\d{6}Z-/);
    expect(stdout).toContain('declared then: group, metadata');
    expect(stdout.endsWith('2 records.\n')).toBe(true);
    expect(sandbox.requests).toHaveLength(sent);
  });

  it('shows the fields of a record by any of its names, without secrets or hashes', async () => {
    const { idops, json } = await applied();
    for (const name of [`User/${ids.ada}`, ids.ada, ids.ada.toUpperCase()]) {
      const { stdout } = await idops(`state show ${name}`);
      expect(stdout).toContain('    group: "staff"\n');
      expect(stdout).toContain('(sensitive)');
      expect(stdout).not.toContain('Organization');
      expect(stdout).not.toMatch(/scrypt|a-smtp/);
    }
    expect((await json(`state show ${ids.ada}`)).records).toMatchObject([
      { fields: { group: 'staff', metadata: { pin: { sensitive: true } } } },
    ]);
  });

  it('shows how a run left an object, and shortens long values', async () => {
    const at = await applied();
    const { idops, json } = at;
    const fields = { name: 'acme', label: 'long'.repeat(10_000) };
    const left = { run: 'some-run', fields, hashes: {} };
    await altered(at, ({ resources }) => Object.assign(resources[`Organization/${ids.acme}`], { left }));
    const { stdout } = await idops('state show acme');
    expect(stdout).toContain('    as run some-run left it:\n      name: "acme"\n      label: "longlong');
    expect(stdout.length).toBeLessThan(1500);
    expect((await idops('state show acme --debug')).stdout.length).toBeGreaterThan(40_000);
    expect((await json('state show acme')).records[0].left).toEqual({ run: 'some-run', fields });
  });

  it('lists every address without a record', async () => {
    const { idops } = await applied();
    const { code, stdout, stderr } = await idops(`state show User/${ids.ada}x Client/none`);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(`the state has no record of User/${ids.ada}x\n`);
    expect(stderr).toContain('the state has no record of Client/none');
    const other = '20000000-0000-4000-8000-000000000001';
    expect((await idops(`state show ${other}`)).stderr).toContain(`no record of ${other}\n`);
  });
});

describe('idops state rm', () => {
  it('removes only the record, without requests', async () => {
    const { idops, sandbox, read } = await applied();
    const sent = sandbox.requests.length;
    const before = JSON.parse(await read('.idops/state.json'));
    const { stderr } = await succeeded(idops(`state rm User/${ids.ada} --yes`));
    expect(stderr).toContain(`Removed the record of User/${ids.ada}.`);
    expect(sandbox.requests).toHaveLength(sent);
    const after = JSON.parse(await read('.idops/state.json'));
    const { [`User/${ids.ada}`]: _, ...left } = before.resources;
    expect(after).toEqual({ ...before, serial: before.serial + 1, resources: left });
    // An object without a record is asserted again.
    const plan = await idops('plan', { env });
    expect(plan.stdout).toContain('1 to update');
    expect((await idops('runs')).stdout).toContain('2 applied');
  });

  it('asks for confirmation', async () => {
    const { idops, files } = await applied();
    const before = await files();
    expect((await idops(`state rm ${ids.ada}`)).stderr).toContain('error[no-terminal]');
    expect((await idops(`state rm ${ids.ada} Client/none --yes`)).stderr).toContain(
      'no record of Client/none',
    );
    expect((await idops('state rm --yes')).code).toBe(1);
    expect(await files()).toEqual(before);
  });

  it('is refused while a run holds the lock, and while a killed run is not settled', async () => {
    const { arrived, open, intercept } = holdWrites();
    const { begin, idops, files } = await project({ 'idops.yaml': config, ...manifests }, { intercept });
    const running = begin(['apply', '--yes'], { env });
    await arrived;
    expect((await idops(`state rm ${ids.ada} --yes`)).stderr).toContain('error[locked]');
    running.child.kill('SIGKILL');
    await running.ended;
    open();
    const before = (await files())['.idops/state.json'];
    await failed(idops(`state rm ${ids.ada} --yes`), /error\[record-needed\]: run \S+ did not end/);
    expect((await files())['.idops/state.json']).toBe(before);
  });

  it('is refused for the state of another server', async () => {
    const at = await applied();
    const { idops, read } = at;
    const before = await altered(at, (state) => Object.assign(state, { server: 'https://other.example' }));
    expect((await idops('state rm acme --yes')).stderr).toContain('error[state-other-server]');
    expect(await read('.idops/state.json')).toBe(before);
    expect((await idops('state show')).stdout).toContain('Server:   https://other.example\n');
  });

  it('is refused if only the record knows what a run removed', async () => {
    const at = await applied();
    const { idops, read } = at;
    const key = `User/${ids.ada}`;
    const stored = { fields: {}, hashes: {} };
    const owed = { run: 'an-earlier-run', lost: stored, seen: stored };
    const before = await altered(at, ({ resources }) => Object.assign(resources[key], { owed }));
    await failed(
      idops(`state rm ${key} --yes`),
      `error[record-needed]: only the record of ${key} has the values that run an-earlier-run removed from it`,
    );
    expect(await read('.idops/state.json')).toBe(before);
    expect((await idops('state show')).stdout).toContain(
      'run an-earlier-run took something away from it, which apply restores',
    );
  });
});
