import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { applyAll } from '../approving.js';
import { type Doc, ids, type Site, site, todo } from '../boruta/site.js';
import { project } from '../e2e/running.js';

const template = (more: Doc | { [field: string]: string }): Doc => ({
  kind: 'EmailTemplate',
  backend_id: ids.backend,
  type: 'tx_code',
  ...more,
});
const generation = (number: number): Doc => ({ kind: 'Client', id: ids.portal, did_generation: number });
const ada = (group: string): Doc => ({ kind: 'User', id: ids.ada, group });

const stateOf = (at: Site): string => join(at.folder, '.idops', 'state.json');
const runsOf = (at: Site): string => join(at.folder, '.idops', 'runs');

function dangerous(at: Site): string[] {
  return at.sandbox.requests
    .filter(({ method }) => method === 'DELETE' || method === 'POST')
    .map(({ method, path }) => `${method} ${path}`);
}

const second: readonly Doc[] = [
  { kind: 'Organization', name: 'acme', label: 'New' },
  ada('staff'),
  { kind: 'KeyPair', id: ids.secondKey, is_default: true },
  template({ state: 'absent' }),
  generation(2),
];
const first: readonly Doc[] = [
  ada('first'),
  template({ txt_content: 'ours {{ code }}', html_content: '<p>ours</p>' }),
  generation(1),
];

/** Two runs, the second with a deletion and a regeneration; returns the states after each. */
async function twoRuns(at: Site): Promise<{ old: string; recent: string }> {
  await at.apply(...first);
  const old = readFileSync(stateOf(at), 'utf8');
  const { results } = await at.apply(...second);
  expect(results.every(({ status }) => status === 'applied')).toBe(true);
  const recent = readFileSync(stateOf(at), 'utf8');
  expect(dangerous(at)).toHaveLength(2);
  return { old, recent };
}

describe.each(['documented', 'boruta'] as const)('without the state (%s)', (profile) => {
  it('a run converges, and neither deletes nor regenerates', async () => {
    const at = await site({ profile });
    await twoRuns(at);
    rmSync(stateOf(at));
    const { plan, results } = await at.apply();
    expect(plan.changes.find(({ kind }) => kind === 'Client')?.action).toBe('adopt');
    expect(results.every(({ status }) => status === 'applied')).toBe(true);
    expect(dangerous(at)).toHaveLength(2);
    expect(todo(await at.plan())).toEqual([]);
    // Adopted generations are compared from now on.
    await at.apply(...second.slice(0, -1), generation(3));
    expect(dangerous(at)).toHaveLength(3);
  });

  it('a higher generation is adopted if the journals are missing too', async () => {
    const at = await site({ profile });
    await twoRuns(at);
    rmSync(join(at.folder, '.idops'), { recursive: true });
    await at.apply(...second.slice(0, -1), generation(9));
    expect(dangerous(at)).toHaveLength(2);
    expect(todo(await at.plan())).toEqual([]);
  });

  it('pruning deletes nothing', async () => {
    const at = await site({ profile });
    await at.apply(...first);
    rmSync(stateOf(at));
    await at.declare(generation(1));
    await at.writing('apply', async (session) => {
      const plan = await session.plan({ prune: true });
      expect(plan.changes.filter(({ action }) => action === 'delete')).toEqual([]);
      await applyAll(session, plan);
    });
    expect(dangerous(at)).toEqual([]);
  });
});

describe.each(['documented', 'boruta'] as const)('with an older copy of the state (%s)', (profile) => {
  it('no regeneration is repeated, because the journals contain it', async () => {
    const at = await site({ profile });
    const { old, recent } = await twoRuns(at);
    writeFileSync(stateOf(at), old);
    await at.session(async (session) => {
      expect(session.notes.join('\n')).toContain(
        'is newer than the state: 5 of its answers were taken into the plan',
      );
      expect(todo(await session.plan())).toEqual([]);
    });
    await at.apply();
    expect(dangerous(at)).toHaveLength(2);
    const { resources } = JSON.parse(readFileSync(stateOf(at), 'utf8'));
    expect(resources).toEqual(JSON.parse(recent).resources);
  });

  it('a template that a person wrote after idops deleted it is not pruned', async () => {
    const at = await site({ profile });
    const { old } = await twoRuns(at);
    at.sandbox.data.templates.push({
      id: ids.nobody,
      backend_id: ids.backend,
      type: 'tx_code',
      txt_content: 'by a person',
      html_content: 'by a person',
    });
    writeFileSync(stateOf(at), old);
    await at.declare(generation(2));
    await at.writing('apply', async (session) => {
      await applyAll(session, await session.plan({ prune: true }));
    });
    expect(dangerous(at)).toHaveLength(2);
  });

  it('the journals of runs in the same second are still found', async () => {
    const at = await site({ profile });
    await at.apply(...first);
    const states = [readFileSync(stateOf(at), 'utf8')];
    // Runs in the same second.
    for (let number = 2; number < 6; number += 1) {
      await at.apply(generation(number));
      states.push(readFileSync(stateOf(at), 'utf8'));
    }
    const names = readdirSync(runsOf(at)).sort();
    expect(new Set(names).size).toBe(5);
    expect(dangerous(at)).toHaveLength(4);
    for (const state of states) {
      writeFileSync(stateOf(at), state);
      await at.apply();
      expect(dangerous(at)).toHaveLength(4);
    }
  });

  it('a regeneration with unknown outcome stays blocked', async () => {
    const at = await site({ profile });
    await at.apply(generation(1));
    const old = readFileSync(stateOf(at), 'utf8');
    let cut = false;
    at.fault = ({ method }) => {
      cut ||= method === 'POST';
      return cut ? { kind: 'reset', when: 'after' } : undefined;
    };
    const { results } = await at.apply(generation(2));
    expect(results[0]?.status).toBe('unknown');
    at.fault = undefined;
    writeFileSync(stateOf(at), old);
    expect((await at.plan()).changes[0]?.action).toBe('blocked');
    expect(dangerous(at)).toHaveLength(1);
  });

  it('journals of another state in the same folder are ignored', async () => {
    const at = await site({ profile });
    await at.apply(generation(1));
    const old = readFileSync(stateOf(at), 'utf8');
    const aside = join(at.folder, 'aside.json');
    cpSync(stateOf(at), aside);
    rmSync(stateOf(at));
    await at.apply(
      generation(1),
      template({ txt_content: 'other {{ code }}', html_content: '<p>other</p>' }),
    );
    writeFileSync(stateOf(at), old);
    await at.declare(generation(1));
    await at.session(async (session) => {
      expect(session.notes).toEqual([]);
      expect(todo(await session.plan({ prune: true }))).toEqual([]);
    });
    expect(dangerous(at)).toEqual([]);
  });
});

describe('an unusable state', () => {
  it('is refused and kept', async () => {
    const at = await site({ profile: 'documented' });
    await at.apply(...first);
    writeFileSync(stateOf(at), 'rubbish');
    const sent = at.sandbox.requests.length;
    await at.declare(...second);
    for (const run of [() => at.plan(), () => at.apply(), () => at.undo(readdirSync(runsOf(at))[0] ?? '')]) {
      await expect(run()).rejects.toMatchObject({ problems: [{ code: 'state-unreadable' }] });
    }
    expect(at.sandbox.requests).toHaveLength(sent);
    expect(readFileSync(stateOf(at), 'utf8')).toBe('rubbish');
    expect(existsSync(`${stateOf(at)}.lock`)).toBe(false);
  });
});

describe('an unreadable folder of the state', () => {
  it.each(['plan', 'apply --yes', 'state show', 'state rm User/1 --yes', 'runs', 'runs unlock --yes'])(
    'is reported by %s',
    async (command) => {
      const { idops, folder } = await project({ 'manifests/a.yaml': 'kind: Organization\nname: acme\n' });
      // Root may read everything, except a link to itself.
      await symlink('.idops', join(folder, '.idops'));
      const { code, stderr } = await idops(command);
      expect(code).toBe(1);
      expect(stderr).toMatch(/error\[(state|journal)-unreadable\]|error\[not-writable\]/);
      expect(stderr).toContain('a symbolic link leads to itself (ELOOP)');
    },
  );
});
