import { changesServer, type Plan } from '../../plan/plan.js';
import { jsonText, planJson } from '../../report/json.js';
import { planText } from '../../report/text.js';
import type { Context, GlobalOptions } from '../context.js';
import { type ExitCode, exit } from '../exit.js';
import { parseFormats, type Renderers, show, writeResult } from '../formats.js';

/** The options of the commands that plan. */
export interface PlanningOptions {
  readonly target: readonly string[];
  readonly kind: readonly string[];
  readonly prune?: boolean;
  readonly assert?: boolean;
  readonly format: readonly string[];
}

interface Options extends PlanningOptions {
  readonly detailedExitcode?: boolean;
  readonly out?: string;
}

/** `idops plan`: what would change. */
export async function plan(context: Context, options: Options & GlobalOptions): Promise<ExitCode> {
  const renderers = planRenderers(context);
  const formats = parseFormats(options.format, Object.keys(renderers));
  const made = await context.session(async (session) => {
    const plan = await session.plan(planOptions(options));
    if (options.out !== undefined) {
      const stored = { ...planJson(plan, { debug: false }), apply: session.seal(plan, planOptions(options)) };
      await writeResult(options.out, jsonText(context.redactor.redactJson(stored)));
    }
    return plan;
  });
  await show(formats, renderers, made, context);
  if (made.changes.some(({ action }) => action === 'blocked')) return exit.failed;
  return options.detailedExitcode === true && changesServer(made) ? exit.changes : exit.done;
}

/** How a plan is shown in each format. */
export function planRenderers({ options, output }: Context): Renderers<Plan> {
  const debug = options.debug === true;
  return {
    text: (made) => ({ text: planText(made, { color: output.color.stdout, debug }) }),
    json: (made) => ({ json: planJson(made, { debug }) }),
  };
}

/** What the command line says about planning, as the session takes it. */
export function planOptions({ target, kind, prune = false, assert = false }: PlanningOptions) {
  return { targets: target, kinds: kind, prune, assert };
}
