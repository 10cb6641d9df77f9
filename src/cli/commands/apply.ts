import { changesServer } from '../../plan/plan.js';
import { ProblemsError } from '../../problems.js';
import type { Context, GlobalOptions } from '../context.js';
import { type ExitCode, exit } from '../exit.js';
import { parseFormats } from '../formats.js';
import { agreed, carryOut, showPlan } from './applying.js';
import { type PlanningOptions, planOptions } from './plan.js';

interface Options extends PlanningOptions {
  readonly yes?: boolean;
  readonly allowDestructive?: number;
}

/** `idops apply`: plans, shows, asks, applies. */
export async function apply(context: Context, options: Options & GlobalOptions): Promise<ExitCode> {
  const formats = parseFormats(options.format, ['text', 'json']);
  return await context.session(async (session) => {
    const plan = await session.plan(planOptions(options));
    showPlan(plan, formats, context);
    const refusals = session.refusals(plan, options.allowDestructive);
    if (refusals.length > 0) throw new ProblemsError(refusals);
    const go = !changesServer(plan) || (await agreed('Apply these changes?', options.yes === true, context));
    return go ? await carryOut(session, plan, 'apply', formats, context) : exit.failed;
  }, 'apply');
}
