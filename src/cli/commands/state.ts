import { findRecords, summarizeRecords, withoutRecords } from '../../apply/find-records.js';
import { unfinishedRuns } from '../../apply/resume.js';
import { quoteIfNeeded } from '../../base/escape.js';
import { type ProblemsError, problemError } from '../../base/problems.js';
import { stateReport } from '../../report/formats.js';
import type { ShownState } from '../../report/recorded.js';
import { plural } from '../../report/words.js';
import { redactAddress } from '../../secrets/redactor.js';
import { newestRunIn, openRuns } from '../../state/shards.js';
import type { State } from '../../state/state.js';
import type { Context, GlobalOptions } from '../context.js';
import { type ExitCode, exit } from '../exit.js';
import { parseFormats, show } from '../formats.js';
import { openState, serverAndEnvironment, withConsent, withLock } from './consent.js';

/** `idops state show`: shows the records of all or some objects, without the network. */
export async function showState(
  context: Context,
  options: { readonly format: readonly string[] } & GlobalOptions,
  names: readonly string[],
): Promise<ExitCode> {
  const formats = parseFormats(options.format, stateReport);
  const { backend } = await openState(context, 'read');
  const state = await backend.saved();
  if (state === undefined && names.length > 0) throw noState(backend.place);
  await show(formats, stateReport, state && shownState(state, backend.place, names), context);
  return exit.done;
}

function shownState(state: State, place: string, names: readonly string[]): ShownState {
  const { server, lineage, serial } = state;
  return {
    place,
    server,
    lineage,
    serial,
    lastRun: newestRunIn(state) ?? null,
    openRun: [...openRuns(state)].sort().at(-1) ?? null,
    records: names.length === 0 ? summarizeRecords(state) : findRecords(state, names),
    withFields: names.length > 0,
  };
}

export async function removeRecords(
  context: Context,
  options: { readonly yes?: boolean } & GlobalOptions,
  names: readonly string[],
): Promise<ExitCode> {
  const home = await openState(context, 'write');
  const { project, backend, environment } = home;
  return await withLock(backend, 'state rm', context, async (lock) => {
    const saved = await backend.saved();
    if (saved === undefined) throw noState(backend.place);
    // `load` refuses the state of another server.
    const server = await project.server(context.sessionOptions()).catch(() => undefined);
    const state = server === undefined ? saved : await backend.load(server.baseUrl);
    const [unfinished] = await unfinishedRuns(state, home);
    if (unfinished !== undefined) {
      const message = `run ${unfinished.run.run} did not end, and the state doesn't have its outcome yet`;
      throw problemError('record-needed', message, 'run idops apply, then remove the record');
    }
    const records = findRecords(state, names);
    const left = withoutRecords(state, records);
    const what = records.length === 1 ? 'the record' : plural(records.length, 'record');
    const which = records
      .map(({ address }) => quoteIfNeeded(redactAddress(address, context.redactor)))
      .join(', ');
    const question = {
      text: `Remove ${what} of ${which} from the state, for ${serverAndEnvironment({ server: state.server, environment })}? After that, values that the server doesn't show are unknown; nothing is deleted or regenerated.`,
      declinedMessage: 'Nothing was removed.',
    };
    return await withConsent(question, options.yes, context, async () => {
      // Another process may have removed the lock during the question.
      await lock.confirm();
      await backend.save(left);
      context.output.message(`Removed ${what} of ${which}.`);
      return exit.done;
    });
  });
}

function noState(place: string): ProblemsError {
  return problemError('no-such-address', `there is no state at ${place} yet`, 'apply creates one');
}
