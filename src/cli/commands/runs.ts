import { findParts, readRuns, unusableJournals } from '../../apply/find-runs.js';
import { othersOf, ownerOf, type StateHome } from '../../apply/owner.js';
import { isAbout, settleRegeneration } from '../../apply/settle-regeneration.js';
import { escapeText } from '../../base/escape.js';
import { type Problem, ProblemsError, warning } from '../../base/problems.js';
import { userName } from '../../base/process.js';
import type { Project } from '../../project/index.js';
import { historyReport, runReport, runsReport } from '../../report/formats.js';
import { type History, historyOf } from '../../report/history.js';
import { type PastRun, pastRun } from '../../report/past.js';
import { backendOf } from '../../session/backend.js';
import type { RunLine } from '../../state/journal.js';
import type { Context, GlobalOptions } from '../context.js';
import { type ExitCode, exit } from '../exit.js';
import { type Format, parseFormats, show } from '../formats.js';
import { wrongOption } from '../misuse.js';
import { consent, holding, where } from './apply-plan.js';

interface ShowOptions {
  readonly format: readonly string[];
}

interface ListOptions extends ShowOptions {
  readonly address?: string;
}

/** `idops runs`: lists the runs of the project's state, or with an address what they did to one object. */
export async function listRuns(context: Context, options: ListOptions & GlobalOptions): Promise<ExitCode> {
  const { address } = options;
  const formats =
    address === undefined
      ? parseFormats(options.format, runsReport)
      : parseFormats(options.format, historyReport);
  const project = await context.project();
  await context.learnTokens();
  const { home, isOther } = await told(project, context);
  const strangers = await home.backend.runs.otherFiles();
  if (strangers.length > 0)
    context.output.problems(strangers.map((name) => noJournal(name, home.backend.place)));
  const { runs: found, problems } = await readRuns(
    home.backend.runs,
    await home.backend.saved().catch(() => undefined),
  );
  const others = found.map(({ contents: [{ run }] }) => run).filter(isOther);
  const runs: PastRun[] = [];
  for (const one of found) if (!isOther(one.contents[0].run)) runs.push(await pastRun(one));
  if (others.length > 0) context.output.message(leftOut(others));
  if (address === undefined) await show(formats, runsReport, { runs, all: problems.length === 0 }, context);
  else await showHistory(address, runs, problems, formats, context);
  if (problems.length === 0) return exit.done;
  context.output.problems(problems);
  return exit.failed;
}

/** What runs did to one object; if none did, problems of journals may be the reason. */
async function showHistory(
  address: string,
  runs: readonly PastRun[],
  problems: readonly Problem[],
  formats: readonly Format[],
  context: Context,
): Promise<void> {
  let past: History['past'];
  try {
    past = historyOf(runs, address);
  } catch (failure) {
    if (!(failure instanceof ProblemsError)) throw failure;
    throw new ProblemsError([...problems, ...failure.problems]);
  }
  await show(formats, historyReport, { address, past }, context);
}

/** `idops runs show`: one run with its changes. */
export async function showRun(
  context: Context,
  options: ShowOptions & GlobalOptions,
  name: string,
): Promise<ExitCode> {
  const formats = parseFormats(options.format, runReport);
  const project = await context.project();
  await context.learnTokens();
  const { home, isOther } = await told(project, context);
  const found = await findParts(home.backend.runs, name);
  const [{ run: first }] = found.contents;
  if (isOther(first)) context.output.message(escapeText(`Note: ${ownerOf(first, home)}.`));
  const run = await pastRun(found);
  await show(formats, runReport, run, context);
  return exit.done;
}

/** `idops runs settle`: records the outcome of a regeneration. */
export async function settleRun(
  context: Context,
  options: { readonly done?: boolean; readonly notDone?: boolean } & GlobalOptions,
  name: string,
  address: string,
): Promise<ExitCode> {
  if (options.done === options.notDone) {
    throw wrongOption('use either --done or --not-done', "look at the client's DID on the server first");
  }
  const backend = await backendOf(await context.project(), context.redactor.add);
  await backend.check('write');
  await holding(backend, 'runs settle', context, async () => {
    const { contents } = await findParts(backend.runs, name);
    const content = contents.findLast((one) => isAbout(one, address)) ?? contents[0];
    await settleRegeneration({
      content,
      address,
      done: options.done === true,
      state: await backend.load(content.run.server),
      backend,
      by: userName(),
      now: new Date(),
    });
  });
  context.output.message(`${address} is settled.`);
  return exit.done;
}

/** `idops runs forget`: removes an unreadable journal, after a question. */
export async function forgetRun(
  context: Context,
  options: { readonly yes?: boolean } & GlobalOptions,
  name: string,
): Promise<ExitCode> {
  const project = await context.project();
  const backend = await backendOf(project, context.redactor.add);
  await backend.check('write');
  return await holding(backend, 'runs forget', context, async (lock) => {
    const runs = await unusableJournals(backend.runs, name);
    const which = runs.join(' and ');
    const { environment } = project;
    const state = await backend.saved().catch(() => undefined);
    const whose = where({ server: state?.server ?? backend.place, environment });
    const agreed = await consent(
      {
        text: `Remove the unreadable journal of run ${which}, for ${whose}? What the run did is lost unless the state has it: a DID that it regenerated may be regenerated again.`,
        otherwise: 'Nothing was removed.',
      },
      options.yes === true,
      context,
    );
    if ('refused' in agreed) return agreed.refused;
    // The lock may have been removed during the question.
    await lock.confirm();
    await backend.runs.remove(runs);
    context.output.message(`Removed the journal of run ${which}.`);
    return exit.done;
  });
}

/** `idops runs unlock`: removes a lock, after a question. */
export async function unlock(
  context: Context,
  options: { readonly yes?: boolean } & GlobalOptions,
): Promise<ExitCode> {
  const project = await context.project();
  const backend = await backendOf(project, context.redactor.add);
  await backend.check('write');
  const lock = await backend.removable();
  if (lock === null) {
    context.output.message('There is no lock.');
    return exit.done;
  }
  // The lock of an unreadable state can be removed too.
  const state = await backend.saved().catch(() => undefined);
  const { environment } = project;
  const whose = where({ server: state?.server ?? backend.place, environment });
  const agreed = await consent(
    {
      text: `Remove the lock of ${lock.holder}, for ${whose}? Make sure that its process has ended.`,
      otherwise: 'The lock stays.',
    },
    options.yes === true,
    context,
  );
  if ('refused' in agreed) return agreed.refused;
  await lock.remove();
  context.output.message(`Removed the lock of ${lock.holder}.`);
  return exit.done;
}

/** The project's state, and whether a run beside it belongs to another state. */
async function told(
  project: Project,
  context: Context,
): Promise<{ home: StateHome; isOther: (run: RunLine) => boolean }> {
  const backend = await backendOf(project, context.redactor.add);
  const home = { backend, environment: project.environment };
  return { home, isOther: await othersOf(await backend.identity(), home) };
}

function noJournal(name: string, place: string): Problem {
  return warning(
    'journal-unreadable',
    `${JSON.stringify(name)} among the journals of ${place} is not the name of a run, so it is ignored`,
    [],
    'move it elsewhere; idops did not create it',
  );
}

function leftOut(runs: readonly RunLine[]): string {
  const files = [...new Set(runs.flatMap(({ state }) => state?.file ?? []))].sort();
  const count =
    runs.length === 1
      ? '1 run of another state in the same place is'
      : `${runs.length} runs of other states in the same place are`;
  const which = files.length === 0 ? '' : ` (${escapeText(files.join(', '))})`;
  return `${count} not listed${which}: choose that state with --env, or with state in the configuration.`;
}
