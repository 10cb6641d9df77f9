import { describe, expect, it } from 'vitest';
import { ids } from '../demo-ids.js';
import { project, type TestProject } from '../e2e/running.js';

const id = '2b1d5c1e-6f3a-4a0e-8b1a-0d6f3e1c2b7f';
const capitals = id.toUpperCase();

const template = (backend: string, text: string) =>
  `kind: EmailTemplate\nbackend_id: ${backend}\ntype: tx_code\ntxt_content: "${text} {{ tx_code }}"\n`;

/** A project for a server whose backend has that id. */
async function withBackendId(text: string): Promise<TestProject> {
  const at = await project({ 'manifests/all.yaml': text });
  const { backends, templates } = at.sandbox.data;
  for (const backend of backends) if (backend.id === ids.backend) backend.id = id;
  for (const one of templates) if (one.backend_id === ids.backend) one.backend_id = id;
  return at;
}

describe('a UUID in upper case', () => {
  it('is the same object, so that it is a duplicate', async () => {
    const kinds = ['User', 'Client', 'KeyPair', 'Organization'].flatMap((kind) =>
      [id, capitals].map((one) => `kind: ${kind}\nid: ${one}\n`),
    );
    const templates = [template(id, 'a'), template(capitals, 'b')];
    const at = await project({ 'manifests/all.yaml': [...kinds, ...templates].join('---\n') });
    const { code, stdout, stderr } = await at.idops('validate');
    expect(code).toBe(1);
    expect((stdout + stderr).match(/error\[duplicate-object\]/g)).toHaveLength(5);
  });

  it('is not pruned if it is declared in lower case', async () => {
    const at = await withBackendId(template(capitals, 'one'));
    expect((await at.idops('apply --yes')).code).toBe(0);
    const key = `EmailTemplate/${id}/tx_code`;
    const state = JSON.parse(await at.read('.idops/state.json'));
    expect(Object.keys(state.resources)).toEqual([key]);
    await at.write({ 'manifests/all.yaml': template(id, 'two') });
    expect((await at.idops('apply --prune --yes')).code).toBe(0);
    expect(at.writes().filter((request) => request.startsWith('DELETE'))).toEqual([]);
    expect(Object.keys(JSON.parse(await at.read('.idops/state.json')).resources)).toEqual([key]);
    expect((await at.idops('plan --prune')).stdout).toContain('1 unchanged');
  });

  it('matches --target, complete or in part', async () => {
    const at = await withBackendId([template(id, 'one'), `kind: Client\nid: ${ids.portal}\n`].join('---\n'));
    for (const target of [
      `EmailTemplate/${capitals}/tx_code`,
      `EmailTemplate/${capitals}/*`,
      `*/${capitals.slice(0, 8)}*`,
    ]) {
      const { code, stdout } = await at.idopsWith(['plan', '--target', target, '--format', 'json']);
      expect([code, JSON.parse(stdout).changes.length]).toEqual([0, 1]);
    }
    const { code, stderr } = await at.idopsWith(['plan', '--target', `emailtemplate/${capitals}/TX_CODE`]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('no-such-target')]);
  });
});
