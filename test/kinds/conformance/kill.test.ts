import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Plan } from '../../../src/plan/plan.js';
import type { Intercept, SandboxRequest, SandboxSeed } from '../../../src/sandbox/index.js';
import { applyAll } from '../../approving.js';
import { runInProcess } from '../../e2e/in-process.js';
import { converge } from '../../properties/converge.js';
import { inPlace, type Place } from '../../properties/writing.js';
import { changeOf, samples } from './samples.js';
import { type Case, cases, comparable, type KindWorld, someOf } from './worlds.js';

/** Where a run dies: at which of its writes, and whether the server still does that one. */
interface Death {
  readonly write: number;
  readonly when: 'before' | 'after';
}

/** A server's data without what is made anew each time. */
function lasting({ kind }: Case, data: SandboxSeed, { next }: KindWorld, plan: Plan): unknown {
  const rest = structuredClone(data);
  const anew = next.filter((doc) => changeOf(plan, doc)?.action === 'regenerate');
  for (const doc of anew) samples[kind.name].strip(rest, doc, changeOf(plan, doc));
  return comparable(rest);
}

/** What an undisturbed run sends, and leaves behind. */
async function undisturbed(on: Case, world: KindWorld) {
  return await inPlace({ seed: world.seed, profile: on.profile.name }, async (place) => {
    place.declare(world.known);
    await converge(place);
    place.declare(world.next);
    const before = place.sandbox.requests.length;
    const { plan } = await converge(place);
    const writes = place.sandbox.requests.slice(before).filter(({ method }) => method !== 'GET');
    return { plan, writes: writes.length, wanted: lasting(on, place.sandbox.snapshot(), world, plan) };
  });
}

/** Says of what a dead run regenerated what became of it, as a person does who looks at the server. */
async function settle(place: Place, made: ReadonlySet<string>): Promise<void> {
  const { changes } = await place.session((session) => session.plan());
  for (const { address, action, reason } of changes) {
    if (action !== 'blocked') continue;
    const run = /run (\S+) sent a regeneration/.exec(reason ?? '')?.[1];
    if (run === undefined) throw new Error(`${address} is blocked: ${reason}`);
    const id = address.slice(address.indexOf('/') + 1);
    const done = [...made].some((path) => path.includes(`/${id}/`));
    const { folder, sandbox } = place;
    await runInProcess(['runs', 'settle', run, address, done ? '--done' : '--not-done', '--yes'], {
      cwd: folder,
      env: { PATH: process.env.PATH, IDOPS_BASE_URL: sandbox.url, IDOPS_TOKEN: sandbox.token },
    });
  }
}

/**
 * A run whose process is gone from one of its writes on: nothing more of it arrives, and what it had written down by then is all
 * that it leaves.
 */
async function dieAndGoOn(on: Case, world: KindWorld, death: Death) {
  let dying: Place | undefined;
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
  return await inPlace({ seed: world.seed, profile: on.profile.name, intercept }, async (place) => {
    place.declare(world.known);
    await converge(place);
    place.declare(world.next);
    dying = place;
    await place.writing(async (it) => await applyAll(it, await it.plan()), {
      network: { retries: 0 },
      pause: async () => {},
    });
    expect(isDead).toBe(true);
    isDead = false;
    dying = undefined;
    const [left, idops] = ['left', '.idops'].map((name) => join(place.folder, name)) as [string, string];
    rmSync(join(left, 'state.json.lock'));
    rmSync(idops, { recursive: true });
    cpSync(left, idops, { recursive: true });
    await settle(place, new Set(made));
    const { result } = await place.writing(async (it) => await applyAll(it, await it.plan()));
    expect(result.results.filter(({ status }) => status !== 'applied')).toEqual([]);
    const next = await place.session((it) => it.plan());
    expect(next.changes.map(({ action }) => action)).toEqual(world.next.map(() => 'unchanged'));
    expect(new Set(made).size).toBe(made.length);
    return place.sandbox.snapshot();
  });
}

describe.each(cases)('$kind.name, $profile.name', (on) => {
  it('a run that is killed at a write is resumed: it converges, and nothing is lost', async () => {
    for (const world of someOf(on, 1)) {
      const { plan, writes, wanted } = await undisturbed(on, world);
      expect(writes).toBeGreaterThan(0);
      const deaths: Death[] = [
        { write: 1, when: 'after' },
        { write: writes, when: 'before' },
      ];
      for (const death of deaths) {
        const end = await dieAndGoOn(on, world, death);
        expect([death, lasting(on, end, world, plan)]).toEqual([death, wanted]);
      }
    }
  });
});
