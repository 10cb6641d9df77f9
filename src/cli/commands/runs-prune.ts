import { choosePruning, type Keep } from '../../apply/prune.js';
import { pruningReport } from '../../report/formats.js';
import { journalLines } from '../../report/runs.js';
import { backendOf } from '../../session/backend.js';
import type { Context, GlobalOptions } from '../context.js';
import { type ExitCode, exit } from '../exit.js';
import { parseFormats, show } from '../formats.js';
import { wrongOption } from '../misuse.js';
import { consent, holding } from './apply-plan.js';

interface Options {
  readonly keep?: number;
  readonly keepLast?: number;
  readonly yes?: boolean;
  readonly format: readonly string[];
}

/** `idops runs prune`: removes the journals of old runs, after a question. */
export async function prune(context: Context, options: Options & GlobalOptions): Promise<ExitCode> {
  const formats = parseFormats(options.format, pruningReport);
  const keep: Keep = { age: options.keep, last: options.keepLast };
  if (keep.age === undefined && keep.last === undefined) {
    throw wrongOption(
      'say which journals to keep: --keep AGE, --keep-last N, or both',
      'for example: idops runs prune --keep 90d',
    );
  }
  const backend = await backendOf(await context.project(), context.redactor.add);
  await context.learnTokens();
  await backend.check('write');
  const now = new Date();
  return await holding(backend, 'runs prune', context, async () => {
    const state = await backend.saved();
    // Without a state it is unknown which journals it needs.
    const pruning =
      state === undefined
        ? { remove: [], keep: [], needed: [], problems: [] }
        : await choosePruning(backend.runs, state, keep, now);
    if (state === undefined) context.output.message('There is no state, so no journal is removed.');
    for (const { run, why } of pruning.needed) {
      context.output.message(`Run ${run.run} is kept: ${why}.`);
    }
    if (pruning.remove.length > 0) {
      const count = pruning.remove.length === 1 ? 'one journal' : `${pruning.remove.length} journals`;
      const [oldest] = pruning.remove;
      const until = pruning.remove.at(-1);
      const which = `of the runs from ${oldest?.at} to ${until?.at}`;
      const question = `Remove ${count} ${which} permanently? undo and runs show can't use them afterwards.`;
      if (options.yes !== true) context.output.beside(journalLines(pruning.remove).join('\n'));
      const consented = await consent(
        { text: question, otherwise: 'Nothing was removed.' },
        options.yes === true,
        context,
      );
      if ('refused' in consented) return consented.refused;
      await backend.runs.remove(pruning.remove.map(({ run }) => run));
    }
    await show(formats, pruningReport, pruning, context);
    if (pruning.problems.length === 0) return exit.done;
    context.output.problems(pruning.problems);
    return exit.failed;
  });
}
