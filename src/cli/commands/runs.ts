import { recordsNamed, summarizeRecords } from '../../apply/find-records.js';
import { findJournals, readRuns, unusableJournals } from '../../apply/find-runs.js';
import { describeOwner, otherStateTest } from '../../apply/owner.js';
import { hasRegenerationOf, settlementOf } from '../../apply/settle-regeneration.js';
import { escapeText } from '../../base/escape.js';
import { type Problem, ProblemsError, warning } from '../../base/problems.js';
import { userName } from '../../base/process.js';
import { historyReport, runReport, runsReport } from '../../report/formats.js';
import { type History, historyOf } from '../../report/history.js';
import { type PastChange, type PastRun, pastRun } from '../../report/past.js';
import type { RunLine } from '../../state/journal.js';
import type { State } from '../../state/state.js';
import type { Context, GlobalOptions } from '../context.js';
import { type ExitCode, exit } from '../exit.js';
import { parseFormats, show } from '../formats.js';
import { wrongOption } from '../misuse.js';
import { openState, serverOf, withConsent, withLock } from './consent.js';

interface ShowOptions {
  readonly format: readonly string[];
}

interface ListOptions extends ShowOptions {
  readonly address?: string;
  readonly actor?: string;
  readonly kind: readonly string[];
  readonly since?: Date;
  readonly until?: Date;
}

export async function listRuns(context: Context, options: ListOptions & GlobalOptions): Promise<ExitCode> {
  const { address } = options;
  const formats = parseFormats(options.format, address === undefined ? runsReport : historyReport);
  const home = await openState(context);
  const isOther = await otherStateTest(await home.backend.identity(), home);
  const otherFiles = await home.backend.runs.otherFiles();
  context.output.problems(otherFiles.map((name) => otherFileWarning(name, home.backend.place)));
  const state = await home.backend.saved().catch(() => undefined);
  const { runs: found, problems } = await readRuns(home.backend.runs, state);
  const others = found.map(({ contents: [{ run }] }) => run).filter(isOther);
  const own = found.filter(({ contents: [{ run }] }) => !isOther(run));
  // The history of an object needs all its former names.
  const wanted =
    address === undefined ? own.filter(({ contents: [{ run }] }) => matchesFilter(run, options)) : own;
  const runs: PastRun[] = [];
  for (const one of wanted) runs.push(await pastRun(one));
  if (others.length > 0) context.output.message(otherRunsText(others));
  const { kind: kinds } = options;
  const isOfKind = ({ change }: PastChange): boolean => kinds.length === 0 || kinds.includes(change.kind);
  if (address === undefined) {
    const shown = kinds.length === 0 ? runs : runs.filter(({ changes }) => changes.some(isOfKind));
    const none = problems.length > 0 ? 'There are no runs that can be read.' : 'There are no runs yet.';
    await show(
      formats,
      runsReport,
      { runs: shown, kinds, none: own.length > 0 ? 'No run matches.' : none },
      context,
    );
  } else {
    const past = pastOf(address, runs, state, problems);
    const shown = past.filter(({ run, change }) => matchesFilter(run, options) && isOfKind(change));
    await show(formats, historyReport, { address, past: shown }, context);
  }
  context.output.problems(problems);
  return problems.length === 0 ? exit.done : exit.failed;
}

function matchesFilter(run: RunLine, { actor, since, until }: Omit<ListOptions, 'format' | 'kind'>): boolean {
  const at = new Date(run.at);
  return (
    (actor === undefined || namesOf(run).includes(actor.toLowerCase())) &&
    (since === undefined || at >= since) &&
    (until === undefined || at <= until)
  );
}

/** Who ran it, in lower case: the actor in CI; otherwise the user of the system and the author of the commit. */
function namesOf({ actor, user, author = '' }: RunLine): string[] {
  const [, name, email] = /^(.*) <(.*)>$/.exec(author) ?? [];
  const names = actor === undefined ? [user, author, name, email] : [actor];
  return names.flatMap((one) => one?.toLowerCase() ?? []);
}

/** The changes of one object by all runs. If there are none, throws a ProblemsError, with the problems of journals that may be the cause. */
function pastOf(
  address: string,
  runs: readonly PastRun[],
  state: State | undefined,
  problems: readonly Problem[],
): History['past'] {
  const records = recordsNamed(state === undefined ? [] : summarizeRecords(state), address);
  try {
    return historyOf(
      runs,
      address,
      records.map((record) => record.address),
    );
  } catch (failure) {
    if (!(failure instanceof ProblemsError)) throw failure;
    throw new ProblemsError([...problems, ...failure.problems]);
  }
}

export async function showRun(
  context: Context,
  options: ShowOptions & GlobalOptions,
  name: string,
): Promise<ExitCode> {
  const formats = parseFormats(options.format, runReport);
  const home = await openState(context);
  const isOther = await otherStateTest(await home.backend.identity(), home);
  const found = await findJournals(home.backend.runs, name);
  const [{ run: first }] = found.contents;
  if (isOther(first)) context.output.message(escapeText(`Note: ${describeOwner(first, home)}.`));
  const run = await pastRun(found);
  await show(formats, runReport, run, context);
  return exit.done;
}

export async function settleRun(
  context: Context,
  options: { readonly done?: boolean; readonly notDone?: boolean; readonly yes?: boolean } & GlobalOptions,
  name: string,
  address: string,
): Promise<ExitCode> {
  if (options.done === options.notDone) {
    throw wrongOption('use either --done or --not-done', 'look at the object on the server first');
  }
  const { backend, environment } = await openState(context, 'write');
  return await withLock(backend, 'runs settle', context, async (lock) => {
    const { contents } = await findJournals(backend.runs, name);
    const content = contents.findLast((one) => hasRegenerationOf(one, address)) ?? contents[0];
    const done = options.done === true;
    const state = await backend.load(content.run.server);
    const settle = settlementOf({ content, address, done, state, backend, by: userName() });
    const question = {
      text: `Record that run ${content.run.run} ${done ? 'regenerated' : 'did not regenerate'} ${escapeText(address)}, for ${await serverOf(backend, environment)}?`,
      declinedMessage: 'Nothing was recorded.',
    };
    return await withConsent(question, options.yes, context, async () => {
      // The lock may have been removed during the question.
      await lock.confirm();
      await settle();
      context.output.message(`${address} is settled.`);
      return exit.done;
    });
  });
}

export async function forgetRun(
  context: Context,
  options: { readonly yes?: boolean } & GlobalOptions,
  name: string,
): Promise<ExitCode> {
  const { backend, environment } = await openState(context, 'write');
  return await withLock(backend, 'runs forget', context, async (lock) => {
    const runs = await unusableJournals(backend.runs, name);
    const which = runs.join(' and ');
    const question = {
      text: `Remove the unreadable journal of run ${which}, for ${await serverOf(backend, environment)}? Changes of the run that the state does not record are lost: a DID that it regenerated may be regenerated again.`,
      declinedMessage: 'Nothing was removed.',
    };
    return await withConsent(question, options.yes, context, async () => {
      // Another process may have removed the lock during the question.
      await lock.confirm();
      await backend.runs.remove(runs);
      context.output.message(`Removed the journal of run ${which}.`);
      return exit.done;
    });
  });
}

export async function unlock(
  context: Context,
  options: { readonly yes?: boolean } & GlobalOptions,
): Promise<ExitCode> {
  const { backend, environment } = await openState(context, 'write');
  const lock = await backend.removable();
  if (lock === null) {
    context.output.message('There is no lock.');
    return exit.done;
  }
  const question = {
    text: `Remove the lock of ${lock.holder}, for ${await serverOf(backend, environment)}? Make sure that its process has ended.`,
    declinedMessage: 'The lock stays.',
  };
  return await withConsent(question, options.yes, context, async () => {
    await lock.remove();
    context.output.message(`Removed the lock of ${lock.holder}.`);
    return exit.done;
  });
}

function otherFileWarning(name: string, place: string): Problem {
  return warning(
    'journal-unreadable',
    `${JSON.stringify(name)} among the journals of ${place} is not the name of a run, so it is ignored`,
    [],
    'move it elsewhere; idops did not create it',
  );
}

function otherRunsText(runs: readonly RunLine[]): string {
  const files = [...new Set(runs.flatMap(({ state }) => state?.file ?? []))].sort();
  const count =
    runs.length === 1
      ? '1 run of another state in the same place is'
      : `${runs.length} runs of other states in the same place are`;
  const which = files.length === 0 ? '' : ` (${escapeText(files.join(', '))})`;
  return `${count} not listed${which}: choose that state with --env, or with state in the configuration.`;
}
