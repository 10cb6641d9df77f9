import { othersOf, type StateHome } from '../../apply/owner.js';
import { knowsOf, unfinishedRuns, withoutFirstLine } from '../../apply/resume.js';
import { type Check, fail, ok, warn } from '../../base/checks.js';
import { type Problem, ProblemsError } from '../../base/problems.js';
import { shardText } from '../../base/shard.js';
import { isUnderWay, type JournalContent, runHolder } from '../../state/journal.js';
import type { State } from '../../state/state.js';
import { failedBy } from './cure.js';

/** What was found of a state, and the versions of idops that have worked with it. */
export interface StateFound {
  readonly checks: readonly Check[];
  readonly versions: readonly string[];
}

/** Looks at a state, its lock and its journals, and changes nothing of them. `server` is null where no address is known. */
export async function lookAtState(home: StateHome, server: string | null): Promise<StateFound> {
  const { state, check } = await lookAtFile(home, server);
  const [locks, journals] = [await lookAtLocks(home), await lookAtJournals(home, state)];
  return {
    checks: [check, ...(state === null ? [] : owing(state)), ...locks, ...journals.checks],
    versions: journals.versions,
  };
}

async function lookAtFile(
  { backend }: StateHome,
  server: string | null,
): Promise<{ readonly state: State | null; readonly check: Check }> {
  try {
    const saved = await backend.saved();
    const state = server === null ? saved : await backend.load(server);
    if (saved === undefined) {
      const check = ok('state', `there is none at ${backend.place} yet: the first apply writes it`);
      return { state: state ?? null, check };
    }
    const count = Object.keys(saved.resources).length;
    const objects = count === 1 ? '1 object' : `${count} objects`;
    return {
      state: state ?? null,
      check: ok('state', `${backend.place} records ${objects} of ${saved.server}`),
    };
  } catch (failure) {
    return { state: null, check: failed('state', failure) };
  }
}

/** What the state says that a person, or the next run, has still to do. */
function owing({ resources }: State): Check[] {
  return Object.entries(resources).flatMap(([address, { pending_regeneration: run, owed }]) => [
    ...(run === undefined
      ? []
      : [
          warn(
            'state',
            `what became of the regeneration of ${address} in run ${run} is not known`,
            `look at the client's DID on the server, then idops runs settle ${run} ${address} --done or --not-done`,
          ),
        ]),
    ...(owed === undefined
      ? []
      : [
          warn(
            'state',
            `run ${owed.run} took something from ${address} that is not put back yet`,
            'the next plan shows it, and its apply puts it back',
          ),
        ]),
  ]);
}

async function lookAtLocks({ backend }: StateHome): Promise<Check[]> {
  try {
    const holdings = await backend.holdings();
    return holdings.length === 0 ? [ok('lock', 'it is free')] : holdings.map(lockCheck);
  } catch (failure) {
    return [failed('lock', failure)];
  }
}

function lockCheck({
  holder,
  readable,
  fate,
  elsewhere,
  shard,
}: Awaited<ReturnType<StateHome['backend']['holdings']>>[number]): Check {
  const which = shard === undefined ? 'it' : `that of the shard ${shardText(shard)}`;
  if (!readable)
    return fail(
      'lock',
      `${which} is held by ${holder}`,
      'idops runs unlock removes it, where surely nothing runs',
    );
  if (fate === 'gone')
    return warn(
      'lock',
      `${which} was left by ${holder}, which is gone`,
      'the next run takes it over; idops runs unlock removes it',
    );
  if (fate === 'alive')
    return warn('lock', `${which} is held by ${holder}`, 'wait until that has ended, or end it');
  return warn(
    'lock',
    `${which} is held by ${holder}, and nobody can tell from here whether that still runs`,
    `that process ${elsewhere ?? 'is not known here'}: make sure that it doesn't run any more, then use idops runs unlock`,
  );
}

async function lookAtJournals(home: StateHome, state: State | null): Promise<StateFound> {
  const { backend } = home;
  const contents: JournalContent[] = [];
  const problems: Problem[] = [];
  const collect = (failure: unknown): void => {
    if (!(failure instanceof ProblemsError)) throw failure;
    problems.push(...failure.problems);
  };
  const names = await backend.runs.list().catch((failure: unknown) => {
    collect(failure);
    return [];
  });
  for (const name of names) {
    const content = await backend.runs.read(name).catch(collect);
    if (content != null) contents.push(content);
    else if (content === null && knowsOf(state, name)) problems.push(withoutFirstLine(name));
  }
  const isOther = await othersOf(state ?? (await backend.told()), home);
  const others = contents.filter(({ run }) => isOther(run));
  const own = contents.filter(({ run }) => !isOther(run));
  const open =
    state === null || problems.length > 0
      ? own.filter(({ ended }) => !ended)
      : await unfinishedRuns(state, home);
  const checks = [...unreadable(problems), ...open.map(unsettled)];
  return {
    checks: checks.length > 0 ? checks : [ok('journals', counted(own.length, others.length))],
    versions: own.map(({ run }) => run.tool_version),
  };
}

function unreadable(problems: readonly Problem[]): Check[] {
  return problems.map((problem) => failedBy('journals', problem));
}

function unsettled(content: JournalContent): Check {
  const { run, ended } = content;
  if (isUnderWay(content))
    return warn('journals', `${runHolder(run)} is under way`, 'wait until it has ended, or end it');
  return ended
    ? warn(
        'journals',
        `run ${run.run} is newer than the state`,
        'the next plan takes its answers into the state',
      )
    : warn(
        'journals',
        `${runHolder(run)} had not ended`,
        'the next plan takes its answers into the state, and reads back what had none',
      );
}

function counted(own: number, others: number): string {
  const runs = (count: number): string => (count === 1 ? '1 run' : `${count} runs`);
  const beside = others === 0 ? '' : `; ${runs(others)} of other states beside them`;
  return own === 0 ? `there are none yet${beside}` : `${runs(own)}, all of them settled${beside}`;
}

/** What is wrong, as one check: the first of it says what to do. */
function failed(name: string, failure: unknown): Check {
  if (!(failure instanceof ProblemsError)) throw failure;
  const message = failure.problems.map((problem) => problem.message).join('; ');
  const [first] = failure.problems;
  if (first === undefined) throw failure;
  return failedBy(name, { ...first, message });
}
