import { planPruning, type RetentionPolicy } from '../../apply/prune.js';
import { pruningReport } from '../../report/formats.js';
import { journalLines } from '../../report/runs.js';
import type { Context, GlobalOptions } from '../context.js';
import { type ExitCode, exit } from '../exit.js';
import { parseFormats, show } from '../formats.js';
import { wrongOption } from '../misuse.js';
import { openState, serverOf, withConsent, withLock } from './consent.js';

interface Options {
  readonly keep?: number;
  readonly keepLast?: number;
  readonly yes?: boolean;
  readonly format: readonly string[];
}

export async function prune(context: Context, options: Options & GlobalOptions): Promise<ExitCode> {
  const formats = parseFormats(options.format, pruningReport);
  const keep: RetentionPolicy = { age: options.keep, last: options.keepLast };
  if (keep.age === undefined && keep.last === undefined) {
    throw wrongOption(
      'choose the journals to keep: --keep AGE, --keep-last N, or both',
      'for example: idops runs prune --keep 90d',
    );
  }
  const { backend, environment } = await openState(context, 'write');
  const now = new Date();
  return await withLock(backend, 'runs prune', context, async (lock) => {
    const state = await backend.saved();
    // Without a state it is unknown which journals are needed.
    const pruning =
      state === undefined
        ? { remove: [], keep: [], needed: [], problems: [] }
        : await planPruning(backend.runs, state, keep, now);
    const { remove, needed, problems } = pruning;
    if (state === undefined) context.output.message('There is no state, so no journal is removed.');
    for (const { run, why } of needed) {
      context.output.message(`Run ${run.run} is kept: ${why}.`);
    }
    if (options.yes !== true) context.output.report(journalLines(remove).join('\n'));
    const count = remove.length === 1 ? 'one journal' : `${remove.length} journals`;
    const which = `of the runs from ${remove[0]?.at} to ${remove.at(-1)?.at}`;
    const question = {
      text: `Remove ${count} ${which}, for ${await serverOf(backend, environment)}, permanently? undo and runs show can't use them afterwards.`,
      declinedMessage: 'Nothing was removed.',
    };
    return await withConsent(question, options.yes === true || remove.length === 0, context, async () => {
      // Another process may have removed the lock during the question.
      await lock.confirm();
      await backend.runs.remove(remove.map(({ run }) => run));
      await show(formats, pruningReport, pruning, context);
      context.output.problems(problems);
      return problems.length === 0 ? exit.done : exit.failed;
    });
  });
}
