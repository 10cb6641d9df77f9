import { expect } from 'vitest';
import { kinds } from '../../src/kinds/index.js';
import { type Plan, summarize } from '../../src/plan/plan.js';
import { operationPath, operations } from '../../src/server/operations.js';
import { applyAll } from '../approving.js';
import type { Workspace } from './workspace.js';

/** A plan, and the run that applied it; null if there was nothing to do. */
export interface Converged {
  readonly plan: Plan;
  readonly run: string | null;
}

interface Planned {
  /** `METHOD path`, as in the server's log. */
  readonly request: string;
  /** The position of its kind in the order of kinds. */
  readonly level: number;
}

/** The requests of a plan. */
export function planned(plan: Plan): Planned[] {
  return plan.changes.flatMap(({ kind, action, requests }) =>
    requests.map(({ operation, params }) => ({
      request: `${operations[operation].method} ${operationPath(operation, params)}`,
      // Regenerations come last.
      level: action === 'regenerate' ? kinds.length : kinds.findIndex(({ name }) => name === kind),
    })),
  );
}

/** Plans and applies, and checks what must hold for every run. */
export async function converge({ sandbox, session, writing }: Workspace): Promise<Converged> {
  const start = sandbox.requests.length;
  const before = sandbox.snapshot();
  const plan = await session((it) => it.plan());
  const reads = sandbox.requests.slice(start);
  expect(reads.map(({ method }) => method).filter((method) => method !== 'GET')).toEqual([]);
  expect(sandbox.snapshot()).toEqual(before);
  expect(plan.changes.flatMap(({ reason }) => reason ?? [])).toEqual([]);

  const middle = sandbox.requests.length;
  const { result, made } = await writing(async (it) => {
    const again = await it.plan();
    return { made: again, ...(await applyAll(it, again)) };
  });
  expect(made.digest).toBe(plan.digest);
  expect(result.results.filter(({ status }) => status !== 'applied')).toEqual([]);
  const writes = sandbox.requests
    .slice(middle)
    .filter(({ method }) => method !== 'GET')
    .map(({ method, path }) => `${method} ${path}`);
  const wanted = planned(plan);
  expect([...writes].sort()).toEqual(wanted.map(({ request }) => request).sort());
  const levels = writes.map((sent) => wanted.find(({ request }) => request === sent)?.level ?? -1);
  expect(levels).toEqual([...levels].sort((a, b) => a - b));
  const inTurn = ({ level }: Planned): boolean => kinds[level]?.succession !== undefined;
  const turns = wanted.filter(inTurn).map(({ request }) => request);
  expect(writes.filter((sent) => turns.includes(sent))).toEqual(turns);

  const next = await session((it) => it.plan());
  const { unchanged, ...rest } = summarize(next);
  expect(rest).toEqual({ create: 0, update: 0, delete: 0, regenerate: 0, adopt: 0, blocked: 0 });
  expect(unchanged).toBe(plan.changes.length);
  return { plan, run: result.run };
}
