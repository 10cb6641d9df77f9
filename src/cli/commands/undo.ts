import type { Left } from '../../apply/undo.js';
import { type Problem, warning } from '../../base/problems.js';
import { resultReport } from '../../report/formats.js';
import { type NamedObject, nameOf } from '../../report/names.js';
import { requestCounts } from '../../report/review.js';
import type { AllowOptions } from '../../session/options.js';
import type { Context, GlobalOptions } from '../context.js';
import type { ExitCode } from '../exit.js';
import { parseFormats } from '../formats.js';
import { wrongOption } from '../misuse.js';
import { applyPlan } from './apply-plan.js';
import { serverAndEnvironment } from './consent.js';

interface Options extends AllowOptions {
  readonly last?: boolean;
  readonly force?: boolean;
  readonly yes?: boolean;
  readonly message?: string;
  readonly format: readonly string[];
}

export async function undo(
  context: Context,
  options: Options & GlobalOptions,
  given: string | undefined,
): Promise<ExitCode> {
  const formats = parseFormats(options.format, resultReport);
  if ((given === undefined) !== (options.last === true)) {
    throw wrongOption('name either a run or --last', 'idops runs lists the runs');
  }
  return await applyPlan(context, {
    command: 'undo',
    formats,
    about: { manifests: false, message: options.message },
    yes: options.yes === true,
    allow: options,
    async preparePlan(session) {
      const run = given ?? (await session.lastRun());
      const { plan, left } = await session.planUndo(run, { force: options.force === true });
      const question = `Undo run ${run} with ${requestCounts(plan)} to ${serverAndEnvironment(plan)}?`;
      return { plan, left: leftWarnings(left), question };
    },
  });
}

function leftWarnings(left: readonly Left[]): Problem[] {
  const groups = new Map<string, NamedObject & { readonly reason: string; readonly paths: string[] }>();
  for (const { address, label, path, reason } of left) {
    const key = JSON.stringify([address, reason]);
    const group = groups.get(key) ?? { address, label, reason, paths: [] };
    if (path !== null) group.paths.push(path);
    groups.set(key, group);
  }
  return [...groups.values()].map(({ reason, paths, ...named }) => {
    const what = paths.length === 0 ? '' : `: ${paths.join(', ')}`;
    return warning(
      'not-undone',
      `${nameOf(named)}${what} ${paths.length > 1 ? 'are' : 'is'} left: ${reason}`,
    );
  });
}
