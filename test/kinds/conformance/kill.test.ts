import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Plan } from '../../../src/plan/plan.js';
import type { Intercept, SandboxRequest, SandboxSeed } from '../../../src/sandbox/index.js';
import { applyAll } from '../../approving.js';
import { runInProcess } from '../../e2e/in-process.js';
import { converge } from '../../properties/converge.js';
import { inWorkspace, type Workspace } from '../../properties/workspace.js';
import { type Case, cases, comparable, type Scenario, sampleScenarios } from './cases.js';
import { changeOf, samples } from './samples.js';

/** When a run is killed: at which write, and before or after the server executes it. */
interface Death {
  readonly write: number;
  readonly when: 'before' | 'after';
}

/** The server's data without regenerated values, which differ each time. */
function lasting({ kind }: Case, data: SandboxSeed, { second }: Scenario, plan: Plan): unknown {
  const rest = structuredClone(data);
  const regenerated = second.filter((doc) => changeOf(plan, doc)?.action === 'regenerate');
  for (const doc of regenerated) samples[kind.name].removeDeclared(rest, doc, changeOf(plan, doc));
  return comparable(rest);
}

/** The writes and the final data of a run that isn't killed. */
async function undisturbed(on: Case, scenario: Scenario) {
  return await inWorkspace({ seed: scenario.seed, profile: on.profile.name }, async (workspace) => {
    workspace.declare(scenario.first);
    await converge(workspace);
    workspace.declare(scenario.second);
    const before = workspace.sandbox.requests.length;
    const { plan } = await converge(workspace);
    const writes = workspace.sandbox.requests.slice(before).filter(({ method }) => method !== 'GET');
    return { plan, writes: writes.length, wanted: lasting(on, workspace.sandbox.snapshot(), scenario, plan) };
  });
}

/** Settles regenerations of a killed run, as a person does after a look at the server. */
async function settle(workspace: Workspace, made: ReadonlySet<string>): Promise<void> {
  const { changes } = await workspace.session((session) => session.plan());
  for (const { address, action, reason } of changes) {
    if (action !== 'blocked') continue;
    const run = /run (\S+) sent a regeneration/.exec(reason ?? '')?.[1];
    if (run === undefined) throw new Error(`${address} is blocked: ${reason}`);
    const id = address.slice(address.indexOf('/') + 1);
    const done = [...made].some((path) => path.includes(`/${id}/`));
    const { folder, sandbox } = workspace;
    await runInProcess(['runs', 'settle', run, address, done ? '--done' : '--not-done', '--yes'], {
      cwd: folder,
      env: { PATH: process.env.PATH, IDOPS_BASE_URL: sandbox.url, IDOPS_TOKEN: sandbox.token },
    });
  }
}

/**
 * A run that is killed at a write: no later request arrives, and only the files written before remain. Then the next run
 * continues.
 */
async function dieAndGoOn(on: Case, scenario: Scenario, death: Death) {
  let dying: Workspace | undefined;
  let writes = 0;
  let isDead = false;
  const made: string[] = [];
  const intercept = ({ method, path }: SandboxRequest): Intercept | undefined => {
    if (isDead) return { kind: 'reset', when: 'before' };
    if (method === 'GET') return undefined;
    isDead = dying !== undefined && ++writes === death.write;
    if (method === 'POST' && !(isDead && death.when === 'before')) made.push(path);
    if (dying === undefined || !isDead) return undefined;
    cpSync(join(dying.folder, '.idops'), join(dying.folder, 'left'), { recursive: true });
    return { kind: 'reset', when: death.when };
  };
  return await inWorkspace(
    { seed: scenario.seed, profile: on.profile.name, intercept },
    async (workspace) => {
      workspace.declare(scenario.first);
      await converge(workspace);
      workspace.declare(scenario.second);
      dying = workspace;
      await workspace.writing(async (it) => await applyAll(it, await it.plan()), {
        network: { retries: 0 },
        pause: async () => {},
      });
      expect(isDead).toBe(true);
      isDead = false;
      dying = undefined;
      const [left, idops] = ['left', '.idops'].map((name) => join(workspace.folder, name)) as [
        string,
        string,
      ];
      rmSync(join(left, 'state.json.lock'));
      rmSync(idops, { recursive: true });
      cpSync(left, idops, { recursive: true });
      await settle(workspace, new Set(made));
      const { result } = await workspace.writing(async (it) => await applyAll(it, await it.plan()));
      expect(result.results.filter(({ status }) => status !== 'applied')).toEqual([]);
      const next = await workspace.session((it) => it.plan());
      expect(next.changes.map(({ action }) => action)).toEqual(scenario.second.map(() => 'unchanged'));
      expect(new Set(made).size).toBe(made.length);
      return workspace.sandbox.snapshot();
    },
  );
}

describe.each(cases)('$kind.name, $profile.name', (on) => {
  it('a run that is killed at a write is resumed: it converges, and nothing is lost', async () => {
    for (const scenario of sampleScenarios(on, 1)) {
      const { plan, writes, wanted } = await undisturbed(on, scenario);
      expect(writes).toBeGreaterThan(0);
      const deaths: Death[] = [
        { write: 1, when: 'after' },
        { write: writes, when: 'before' },
      ];
      for (const death of deaths) {
        const end = await dieAndGoOn(on, scenario, death);
        expect([death, lasting(on, end, scenario, plan)]).toEqual([death, wanted]);
      }
    }
  });
});
