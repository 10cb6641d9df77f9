import { describe, expect, it } from 'vitest';
import type { Intercept } from '../../src/sandbox/index.js';
import { ids } from '../demo-ids.js';
import { borutaProject, failed } from './running.js';

describe('messages', () => {
  it('show internals of the server only with --debug', async () => {
    const message = '** (Ecto.Query.CastError) value `"nope"` in `where` cannot be cast to type :binary_id';
    const answer: Intercept = { kind: 'answer', status: 400, body: { code: 'BAD_REQUEST', message } };
    const { idops } = await borutaProject({}, { intercept: () => answer });
    const args = `regenerate-did ${ids.portal} --yes`;
    const said = await failed(idops(args), 'raw internals of the server, which --debug shows');
    expect(said.stdout + said.stderr).not.toContain('Ecto');
    await failed(idops(`${args} --debug`), 'Ecto.Query.CastError');
  });

  it('report once that the server ignores a field, next to the rest of the plan', async () => {
    const users = `kind: User\nid: ${ids.ada}\nblocked: true\n---\nkind: User\nid: ${ids.grace}\ngroup: ops\n`;
    const { idops } = await borutaProject({ 'manifests/u.yaml': users });
    const { code, stdout, stderr } = await idops('plan --detailed-exitcode');
    expect(code).toBe(1);
    expect((stdout + stderr).match(/ignores "blocked"/g)).toHaveLength(1);
    expect(stdout).toContain('1 to update');
    expect(stdout).toContain('1 blocked');
    expect((await idops('validate')).code).toBe(1);
  });

  it('report a rejected token once, after any number of requests', async () => {
    const users = [ids.ada, ids.grace].map((id) => `kind: User\nid: ${id}\ngroup: ops\n`).join('---\n');
    const { idops } = await borutaProject({ 'manifests/u.yaml': users });
    const { code, stderr } = await idops('plan', { env: { IDOPS_TOKEN: 'not-the-token' } });
    expect(code).toBe(1);
    expect(stderr.match(/server-unauthorized/g)).toHaveLength(1);
    expect(stderr).toContain('\n1 error\n');
    expect(stderr).not.toContain('.;');
  });
});
