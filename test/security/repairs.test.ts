import { describe, expect, it } from 'vitest';
import type { Intercept, SandboxRequest } from '../../src/sandbox/index.js';
import { project } from '../e2e/running.js';
import { ids } from '../sandbox/asking.js';

const config = `version: 1
server: {profile: boruta, base_url: "\${IDOPS_BASE_URL}", auth: {token: "\${IDOPS_TOKEN}"}}
`;
const document = (bodies: string): string =>
  `kind: EmailTemplate\nbackend_id: ${ids.backend}\ntype: reset_password_instructions\n${bodies}`;
const original = { txt_content: 'Original {{ reset_password_url }}\n', html_content: '<p>Original</p>\n' };

describe('undoing the run that repaired a killed one', () => {
  it.each([
    ['both halves', 'txt_content: new {{ reset_password_url }}\nhtml_content: |\n  <p>Original</p>\n'],
    ['one half', 'txt_content: new {{ reset_password_url }}\n'],
  ])('gives back exactly the bodies from before, of a template with %s declared', async (_, bodies) => {
    let kill: (() => Promise<unknown>) | undefined;
    const intercept = async ({ method, path }: SandboxRequest): Promise<Intercept | undefined> => {
      if (kill === undefined || method !== 'PATCH' || !path.includes('/email-templates/')) return undefined;
      const now = kill;
      kill = undefined;
      await now();
      return { kind: 'reset', when: 'before' };
    };
    const at = await project(
      { 'idops.yaml': config, 'manifests/all.yaml': document(bodies) },
      { profile: 'boruta', intercept },
    );
    const stored = () => at.sandbox.data.templates.find(({ type }) => type === 'reset_password_instructions');
    Object.assign(stored() ?? {}, original);
    expect(stored()).toMatchObject(original);

    const first = at.begin(['apply', '--yes']);
    kill = async () => {
      first.child.kill('SIGKILL');
      await first.ended;
    };
    expect((await first.ended).signal).toBe('SIGKILL');
    // The DELETE was done, and the PATCH never came.
    expect(at.writes().map((write) => write.split(' ')[0])).toEqual(['DELETE', 'PATCH']);
    expect(stored()).toBeUndefined();

    expect((await at.idops('apply --yes')).code).toBe(0);
    expect(stored()?.txt_content).toContain('new');
    expect((await at.idops('undo --last --yes')).code).toBe(0);
    expect(stored()).toMatchObject(original);
  });
});
