import { describe, expect, it } from 'vitest';
import { refusalsOf } from '../../src/plan/approve.js';
import { applyAll } from '../approving.js';
import { comparable, type Doc, ids, type Site, site, todo } from '../boruta/site.js';

const template = (type: string, more: { [field: string]: string } = {}): Doc => ({
  kind: 'EmailTemplate',
  backend_id: ids.backend,
  type,
  txt_content: `${type} {{ code }}`,
  html_content: `<p>${type}</p>`,
  ...more,
});
const acme: Doc = { kind: 'Organization', name: 'acme', label: 'New' };
const types = (at: Site): string[] => at.sandbox.data.templates.map(({ type }) => type).sort();

async function prune(
  at: Site,
  more: { targets?: string[]; kinds?: string[] } = {},
): Promise<{ run: string | null }> {
  return await at.writing('apply', async (session) => {
    const { result } = await applyAll(session, await session.plan({ prune: true, ...more }));
    return { run: result.run };
  });
}

describe.each(['documented', 'boruta'] as const)('pruning (%s)', (profile) => {
  it('deletes only templates that idops applied and no manifest names', async () => {
    const at = await site({ profile });
    await at.apply(acme, template('tx_code'), template('confirmation_instructions'));
    expect(types(at)).toEqual(['confirmation_instructions', 'reset_password_instructions', 'tx_code']);
    await at.declare(acme, template('tx_code'));
    expect(todo(await at.plan())).toEqual([]);
    await prune(at);
    // idops never applied the template for resetting passwords.
    expect(types(at)).toEqual(['reset_password_instructions', 'tx_code']);
    at.writes();
    await prune(at);
    expect(at.writes()).toEqual([]);
  });

  it('deletes nothing that was only compared, adopted or refused', async () => {
    const at = await site({ profile });
    const [there] = at.sandbox.data.templates;
    const same = template(there?.type ?? '', {
      txt_content: there?.txt_content ?? '',
      html_content: there?.html_content ?? '',
    });
    at.fault = ({ method, path }) =>
      method !== 'GET' && path.includes('tx_code') ? { kind: 'answer', status: 422, body: {} } : undefined;
    await at.apply(same, template('tx_code'));
    at.fault = undefined;
    await at.declare(acme);
    const before = types(at);
    await prune(at);
    expect(types(at)).toEqual(before);
  });

  it('keeps what --target or --kind leaves out', async () => {
    const at = await site({ profile });
    await at.apply(acme, template('tx_code'), template('confirmation_instructions'));
    await at.declare({ ...acme, label: 'Newer' });
    await prune(at, { targets: ['Organization/*'] });
    await prune(at, { kinds: ['Organization'] });
    expect(types(at)).toHaveLength(3);
    await prune(at, { targets: [`EmailTemplate/${ids.backend}/tx_*`] });
    expect(types(at)).toEqual(['confirmation_instructions', 'reset_password_instructions']);
  });

  it('can be undone', async () => {
    const at = await site({ profile });
    await at.apply(acme, template('tx_code'), template('confirmation_instructions'));
    const before = comparable(at.sandbox.snapshot());
    await at.declare(acme);
    const { run } = await prune(at);
    expect(types(at)).toEqual(['reset_password_instructions']);
    const undone = await at.undo(run);
    expect(undone.left).toEqual([]);
    expect(comparable(at.sandbox.snapshot())).toEqual(before);
  });

  it('is destructive', async () => {
    const at = await site({ profile });
    await at.apply(acme, template('tx_code'));
    await at.declare(acme);
    await at.session(async (session) => {
      const plan = await session.plan({ prune: true });
      expect(refusalsOf(plan, 0)).toEqual([expect.objectContaining({ code: 'too-destructive' })]);
      expect(plan.changes.find(({ action }) => action === 'delete')?.warnings).toEqual([
        expect.objectContaining({ code: 'pruned' }),
      ]);
    });
  });
});
