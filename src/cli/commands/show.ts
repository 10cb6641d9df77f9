import type { Share } from '../../plan/share.js';
import { planReport } from '../../report/formats.js';
import { refuseTwice } from '../../session/outputs.js';
import { readShownPlan } from '../../session/plan-file.js';
import type { Context, GlobalOptions } from '../context.js';
import { type ExitCode, exit } from '../exit.js';
import { filesOf, parseFormats, show as showIn } from '../formats.js';
import type { PlanningOptions } from './plan.js';

type Options = Pick<PlanningOptions, 'format'> & { readonly only?: Share };

/** `idops show`: a stored plan as it was when it was made. Nothing is sent. */
export async function show(
  context: Context,
  { format, only }: Options & GlobalOptions,
  planFile: string,
): Promise<ExitCode> {
  const formats = parseFormats(format, planReport);
  await refuseTwice([planFile, ...filesOf(formats)]);
  const plan = await readShownPlan(planFile);
  await context.learnTokens();
  const look = {
    stored: true,
    ...(only === undefined ? {} : { only }),
  };
  await showIn(formats, planReport, { plan, samples: new Map() }, context, look);
  return exit.done;
}
