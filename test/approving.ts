import type { Applied } from '../src/apply/apply.js';
import { approve } from '../src/plan/approve.js';
import type { Plan } from '../src/plan/plan.js';
import type { WritingSession } from '../src/session/session.js';

/** Applies a plan as somebody who allows all that it destroys. */
export async function applyAll(session: WritingSession, plan: Plan, asked = 0): Promise<Applied> {
  return await session.apply(approve(plan, { maxDestructive: Number.POSITIVE_INFINITY, asked }));
}
