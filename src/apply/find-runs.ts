import { hasProblem, type Problem, ProblemsError, problemError } from '../base/problems.js';
import { matchesJournal, partWithoutAttempt, runOf } from '../base/shard.js';
import { firstFew } from '../base/words.js';
import type { RunStore } from '../state/backend.js';
import type { JournalContent } from '../state/journal.js';
import type { State } from '../state/state.js';
import { mergeJournals } from './journal-entries.js';
import { knowsRun, missingFirstLine } from './resume.js';

/** The journals of all runs, oldest first, and the problems of unreadable ones. With `state`, also of empty ones that it records. */
export async function readRuns(
  store: RunStore,
  state?: State,
): Promise<{ runs: RunJournals[]; problems: Problem[] }> {
  const byRun = new Map<string, [JournalContent, ...JournalContent[]]>();
  const problems: Problem[] = [];
  for (const name of await store.list()) {
    try {
      const content = await store.read(name);
      if (content !== null) {
        const others = byRun.get(runOf(name));
        if (others === undefined) byRun.set(runOf(name), [content]);
        else others.push(content);
      } else if (knowsRun(state, name)) problems.push(missingFirstLine(name));
    } catch (failure) {
      if (!(failure instanceof ProblemsError)) throw failure;
      problems.push(...failure.problems);
    }
  }
  return { runs: [...byRun].map(([name, contents]) => ({ name, contents })), problems };
}

/**
 * Finds a run by its name or a unique prefix, and merges the journals of its shards. The name of a part finds only that part.
 * Throws a ProblemsError (`no-such-run`) if there is no such run, or several.
 */
export async function findRun(store: RunStore, name: string): Promise<JournalContent> {
  return mergedJournal(await findJournals(store, name));
}

/** The journals of a run, or of a part of one. */
export interface RunJournals {
  readonly name: string;
  readonly contents: readonly [JournalContent, ...JournalContent[]];
}

/** Finds the journals of a run, or of each attempt of a part. */
export async function findJournals(store: RunStore, given: string): Promise<RunJournals> {
  const names = await store.list();
  const name = identifyRun(names, given);
  const matches = names.filter((one) => matchesJournal(one, name));
  const contents: JournalContent[] = [];
  for (const one of matches) {
    const content = await store.read(one);
    if (content !== null) contents.push(content);
  }
  const [first, ...others] = contents;
  if (first === undefined) throw new ProblemsError(matches.map(missingFirstLine));
  return { name, contents: [first, ...others] };
}

/**
 * The unreadable journals of a run, or of a part of one. Throws a ProblemsError (`no-such-run`) if there is no such run, or
 * (`journal-readable`) if all are readable.
 */
export async function unusableJournals(store: RunStore, given: string): Promise<string[]> {
  const names = await store.list();
  const name = identifyRun(names, given);
  const unusable: string[] = [];
  for (const one of names.filter((journal) => matchesJournal(journal, name))) {
    const content = await store.read(one).catch((failure: unknown) => {
      if (hasProblem(failure, 'journal-unreadable')) return null;
      throw failure;
    });
    if (content === null) unusable.push(one);
  }
  if (unusable.length > 0) return unusable;
  throw problemError(
    'journal-readable',
    `the journal of run ${name} can be read`,
    'idops runs prune removes journals that are no longer needed',
  );
}

/** The run, part or journal with this name or unique prefix. Throws a ProblemsError (`no-such-run`). */
function identifyRun(names: readonly string[], name: string): string {
  const levels = [names.map(runOf), names.map(partWithoutAttempt), names].map((level) => [...new Set(level)]);
  const exact = levels.flat().find((one) => one === name);
  if (exact !== undefined) return exact;
  // The shortest name comes first: a run before its parts.
  const found = levels.map((level) => level.filter((one) => name !== '' && one.startsWith(name)));
  const first = found.find((level) => level.length > 0) ?? [];
  const [only] = first;
  if (only !== undefined && first.length === 1) return only;
  const why =
    first.length > 1
      ? `${first.length} runs begin with "${name}": ${firstFew(first, 5)}`
      : `there is no run "${name}"`;
  throw problemError('no-such-run', why, 'idops runs lists them');
}

/** Merges the journals under the name of the run or part. */
export function mergedJournal({ name, contents }: RunJournals): JournalContent {
  const [first, ...others] = contents;
  return others.length === 0 && first.run.run === name ? first : mergeJournals(contents, name);
}
