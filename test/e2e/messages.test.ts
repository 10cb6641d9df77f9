import { describe, expect, it } from 'vitest';
import type { Intercept } from '../../src/sandbox/index.js';
import { ids } from '../sandbox/asking.js';
import { config, journals, project } from './running.js';

const boruta = { 'idops.yaml': config.replace('server:\n', 'server:\n  profile: boruta\n') };

describe('messages', () => {
  it('of an id that is no UUID come before anything is sent', async () => {
    const { idops, sandbox } = await project(boruta, { profile: 'boruta' });
    const { code, stderr } = await idops('regenerate-did nope --yes');
    expect(code).toBe(1);
    expect(stderr).toContain('the id nope is not a UUID');
    expect(sandbox.requests).toEqual([]);
  });

  it("hold none of a server's internals, but with --debug", async () => {
    const message = '** (Ecto.Query.CastError) value `"nope"` in `where` cannot be cast to type :binary_id';
    const answer: Intercept = { kind: 'answer', status: 400, body: { code: 'BAD_REQUEST', message } };
    const { idops } = await project(boruta, { profile: 'boruta', intercept: () => answer });
    const said = await idops(`regenerate-did ${ids.portal} --yes`);
    expect(said.code).toBe(1);
    expect(said.stdout + said.stderr).not.toContain('Ecto');
    expect(said.stderr).toContain('raw internals of the server, which --debug shows');
    expect((await idops(`regenerate-did ${ids.portal} --yes --debug`)).stderr).toContain(
      'Ecto.Query.CastError',
    );
  });

  it('of a past regeneration show the DID, which came out the same without a new key', async () => {
    const { idops, files } = await project(boruta, { profile: 'boruta' });
    expect((await idops(`regenerate-did ${ids.portal} --yes`)).code).toBe(0);
    const run = journals(await files())[0]?.match(/([^/]+)\.jsonl$/)?.[1];
    const { stdout } = await idops(`runs show ${run}`);
    expect(stdout).toMatch(/came out the same\s+\(did:key:/);
  });

  it('say that a generation is recorded since the server does not show it', async () => {
    const { idops, write } = await project(
      { ...boruta, 'manifests/c.yaml': `kind: Client\nid: ${ids.portal}\ndid_generation: 1\n` },
      { profile: 'boruta' },
    );
    expect((await idops('apply --yes')).code).toBe(0);
    await write({ 'manifests/c.yaml': `kind: Client\nid: ${ids.portal}\ndid_generation: 2\n` });
    const { stdout } = await idops('plan');
    expect(stdout).toContain("since the server doesn't show it");
    expect(stdout).not.toContain('not read');
  });

  it('tell an ignored field once', async () => {
    const { idops } = await project(
      { ...boruta, 'manifests/u.yaml': `kind: User\nid: ${ids.ada}\nblocked: true\n` },
      { profile: 'boruta' },
    );
    const { stdout, stderr } = await idops('plan');
    expect((stdout + stderr).match(/ignored-field/g)).toHaveLength(1);
  });

  it('tell a token that is refused once, however many requests meet it', async () => {
    const users = [ids.ada, ids.grace].map((id) => `kind: User\nid: ${id}\ngroup: ops\n`).join('---\n');
    const { idops } = await project({ ...boruta, 'manifests/u.yaml': users }, { profile: 'boruta' });
    const { code, stderr } = await idops('plan', { env: { IDOPS_TOKEN: 'not-the-token' } });
    expect(code).toBe(1);
    expect(stderr.match(/server-unauthorized/g)).toHaveLength(1);
    expect(stderr).toContain('\n1 error\n');
    expect(stderr).not.toContain('.;');
  });
});
