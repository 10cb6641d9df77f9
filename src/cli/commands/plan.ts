import { escapeText, shellWord } from '../../base/escape.js';
import { refuse } from '../../base/problems.js';
import { writeOutput } from '../../base/write-file.js';
import { changesServer, type Plan, type Share } from '../../plan/plan.js';
import { planReport, type RenderOptions, type ShownPlan } from '../../report/formats.js';
import { planFileConflicts, planOptionsOf, type SelectionOptions } from '../../session/options.js';
import { refuseDuplicates } from '../../session/outputs.js';
import { readShownPlan } from '../../session/plan-file.js';
import { shardOptions } from '../../session/shard.js';
import type { Context, GlobalOptions } from '../context.js';
import { type ExitCode, exit } from '../exit.js';
import { type Format, filesOf, parseFormats, show } from '../formats.js';
import { commandLine, readSamples } from './apply-plan.js';

export interface PlanningOptions extends SelectionOptions {
  readonly format: readonly string[];
}

interface Options extends PlanningOptions {
  /** Which changes to show; the plan stays the same. */
  readonly only?: Share;
  readonly detailedExitcode?: boolean;
  readonly out?: string;
}

/** `idops plan`: makes and shows a plan. With a plan file, shows that plan and sends nothing. */
export async function plan(
  context: Context,
  options: Options & GlobalOptions,
  planFile: string | undefined,
): Promise<ExitCode> {
  const formats = parseFormats(options.format, planReport);
  const shown = options.only === undefined ? {} : { only: options.only };
  if (planFile !== undefined) {
    refuse(planFileConflicts(options));
    await refuseDuplicates([planFile, ...filesOf(formats)]);
    const stored = await readShownPlan(planFile);
    await context.addConfiguredTokens();
    await showPlan(formats, { plan: stored }, context, { ...shown, stored: true });
    return exitOf(stored, options);
  }
  const project = await context.project();
  const about = { ...shardOptions(options.shard, process.env), now: options.now };
  const made = await context.session(project, about, async (session) => {
    const outputs = [...filesOf(formats), ...(options.out === undefined ? [] : [options.out])];
    await context.refuseOutputs(outputs, { project, files: session.files });
    const plan = await session.plan(planOptionsOf(options));
    if (options.out !== undefined) {
      await writeOutput(options.out, await session.storePlan(plan), 0o600);
    }
    return plan;
  });
  const samples = await readSamples(made, project, formats, context);
  await showPlan(formats, { plan: made, samples }, context, shown);
  if (options.out !== undefined && isBlocked(made)) {
    context.output.message(
      "The plan is stored, but it can't be applied while a change is blocked. Make a new plan without it: use --target.",
    );
  } else if (options.out !== undefined && made.changes.some(({ action }) => action !== 'unchanged')) {
    const line = commandLine(`apply ${shellWord(options.out)}`, made.environment, options);
    context.output.message(escapeText(`The plan is stored. To apply it: ${line}`));
  }
  return exitOf(made, options);
}

async function showPlan(
  formats: readonly Format[],
  found: ShownPlan,
  context: Context,
  options: Partial<RenderOptions>,
): Promise<void> {
  const { failure, report } = context.output;
  await show(formats, planReport, found, context, options, isBlocked(found.plan) ? failure : report);
}

function exitOf(plan: Plan, { detailedExitcode = false }: Options): ExitCode {
  if (isBlocked(plan)) return exit.failed;
  return detailedExitcode && changesServer(plan) ? exit.changes : exit.done;
}

function isBlocked({ changes }: Plan): boolean {
  return changes.some(({ action }) => action === 'blocked');
}
