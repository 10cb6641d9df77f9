import { writeResult } from '../../base/through.js';
import type { SampleData } from '../../mail/samples.js';
import { changesServer, type Plan } from '../../plan/plan.js';
import type { Project } from '../../project/index.js';
import { planGithub } from '../../report/github.js';
import { planHtml } from '../../report/html.js';
import { planJson } from '../../report/json.js';
import { planMarkdown } from '../../report/markdown.js';
import { redactPlan, redactSamples } from '../../report/redacted.js';
import { planText } from '../../report/text.js';
import { planSamples } from '../../session/plan-samples.js';
import type { Context, GlobalOptions } from '../context.js';
import { type ExitCode, exit } from '../exit.js';
import { type Format, filesOf, githubFolder, parseFormats, type Renderers, show } from '../formats.js';

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
  readonly markdownBudget?: number;
}

/** `idops plan`: what would change. */
export async function plan(context: Context, options: Options & GlobalOptions): Promise<ExitCode> {
  const formats = parseFormats(options.format, planFormats);
  const { made, samples } = await context.session(async (session) => {
    await context.refuseOutputs(
      [...filesOf(formats), ...(options.out === undefined ? [] : [options.out])],
      session,
    );
    const plan = await session.plan(planOptions(options));
    if (options.out !== undefined) {
      await writeResult(options.out, await session.storePlan(plan), 0o600);
    }
    return { made: plan, samples: await readSamples(plan, session.project, formats, context) };
  });
  await show(formats, planRenderers(context, samples, options.markdownBudget), made, redactPlan, context);
  if (made.changes.some(({ action }) => action === 'blocked')) return exit.failed;
  return options.detailedExitcode === true && changesServer(made) ? exit.changes : exit.done;
}

/** The formats that a plan can be shown in. */
const planFormats = ['text', 'json', 'markdown', 'html', 'github'];

/** How a plan is shown in each format. */
function planRenderers(
  { options, output, redactor }: Context,
  samples: ReadonlyMap<string, SampleData>,
  budget: number | undefined,
): Renderers<Plan> {
  const debug = options.debug === true;
  return {
    markdown: (made) => ({
      text: planMarkdown(made, { debug, ...(budget === undefined ? {} : { budget }) }),
    }),
    html: (made) => ({ text: planHtml(made, { samples: redactSamples(samples, redactor), debug }) }),
    github: (made) => ({ text: planGithub(made, { folder: githubFolder() }) }),
    text: (made) => ({ text: planText(made, { color: output.color.stdout, debug }) }),
    json: (made) => ({ json: planJson(made, { debug }) }),
  };
}

/** What changed templates are rendered with; read where a page is asked for, since only that shows them. */
async function readSamples(
  plan: Plan,
  project: Project,
  formats: readonly Format[],
  { output }: Context,
): Promise<ReadonlyMap<string, SampleData>> {
  if (!formats.some(({ name }) => name === 'html')) return new Map();
  const { samples, warnings } = await planSamples(plan, project);
  if (warnings.length > 0) output.problems(warnings);
  return samples;
}

/** What the command line says about planning, as the session takes it. */
export function planOptions({ target, kind, prune = false, assert = false }: PlanningOptions) {
  return { targets: target, kinds: kind, prune, assert };
}
