import type { Applied } from '../src/apply/apply.js';
import { approve } from '../src/plan/approve.js';
import type { Plan } from '../src/plan/plan.js';
import type { Session, WritingSession } from '../src/session/session.js';

/** Runs work with a session, and closes it. */
export async function within<S extends Session, T>(session: S, work: (session: S) => Promise<T>): Promise<T> {
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}

/** Applies a plan, with approval of everything destructive or privileged. */
export async function applyAll(session: WritingSession, plan: Plan, asked = 0): Promise<Applied> {
  const all = Number.POSITIVE_INFINITY;
  return await session.apply(approve(plan, { maxDestructive: all, maxPrivileged: all, asked }));
}
