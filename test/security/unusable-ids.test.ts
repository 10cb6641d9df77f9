import { describe, expect, it } from 'vitest';
import { Catalog } from '../../src/kinds/catalog.js';
import { unusableId } from '../../src/kinds/limits.js';
import { answers, pages } from '../../src/server/answers.js';
import { profiles } from '../../src/server/profiles.js';
import { ids } from '../demo-ids.js';
import { project } from '../e2e/running.js';

const unusable = ['', '.', '..', '\ud800', 'a\u0000b', 'a\nb', 'x'.repeat(600)];

describe("an id that can't be in a path", () => {
  it.each(unusable)('%j is refused in responses', (id) => {
    const wrong = { wrong: expect.stringContaining('an id that no path can carry') };
    for (const kind of ['organization', 'user', 'keyPair', 'client'] as const) {
      expect(answers[kind]({ data: { id } })).toEqual(wrong);
    }
    expect(pages.organization({ data: [{ id: ids.acme }, { id }] })).toEqual(wrong);
    expect(answers.keyPairs({ data: [{ id }] })).toEqual(wrong);
  });

  it.each(unusable)('%j is blocked for every profile', (id) => {
    for (const profile of Object.values(profiles)) {
      expect(unusableId({ id }, profile)).toContain("can't name an object in a path");
      expect(unusableId({ backend_id: id, type: 'tx_code' }, profile)).toContain('backend_id');
    }
  });

  it('is reported by regenerate-did without an internal error', async () => {
    const at = await project({});
    for (const id of ['..', '.', '']) {
      const { code, stdout, stderr } = await at.idopsWith(['regenerate-did', id, '--yes']);
      expect(code).toBe(1);
      expect(stdout + stderr).not.toContain('internal');
      expect(stdout + stderr).toContain('error[wrong-option]');
    }
    expect(at.writes()).toEqual([]);
  });

  it('is reported in a state or a journal without an internal error', async () => {
    const body = `kind: EmailTemplate\nbackend_id: ${ids.backend}\ntype: tx_code\ntxt_content: "{{ tx_code }}"\n`;
    const at = await project({ 'manifests/all.yaml': body });
    expect((await at.idops('apply --yes')).code).toBe(0);
    const path = Object.keys(await at.files()).find((name) => name.endsWith('.jsonl')) ?? '';
    const run = /([^/]+)\.jsonl$/.exec(path)?.[1];
    const broken = (text: string) =>
      text.replace(/("identity":\s*\{[^}]*"backend_id":\s*")[^"]*"/g, (_, before: string) => `${before}.."`);
    const journal = await at.read(path);
    expect(broken(journal)).not.toBe(journal);
    await at.write({ [path]: broken(journal) });
    const undone = await at.idops(`undo ${run} --yes`);
    expect(undone.code).toBe(1);
    expect(undone.stderr).not.toContain('internal');
    await at.write({ [path]: journal });
    const state = await at.read('.idops/state.json');
    expect(broken(state)).not.toBe(state);
    await at.write({ '.idops/state.json': broken(state) });
    await at.refused('plan --prune', 'state-unreadable');
  });
});

describe('a UUID in upper case', () => {
  it('is the same organization', () => {
    const index = new Catalog([{ id: ids.acme.toUpperCase(), name: 'acme' }]);
    expect(index.byId(ids.acme)?.name).toBe('acme');
    expect(index.find(ids.acme)).toMatchObject({ name: 'acme' });
    expect(index.afterPlan({ changed: new Map([[ids.acme, { name: 'new' }]]) }).byId(ids.acme)?.name).toBe(
      'new',
    );
    expect(new Catalog([{ id: ids.acme, name: 'acme' }]).byId(ids.acme.toUpperCase())?.name).toBe('acme');
  });
});
