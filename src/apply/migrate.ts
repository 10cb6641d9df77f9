import { stringifyJson } from '../base/json.js';
import { hasProblem, type ProblemsError, problemError } from '../base/problems.js';
import { canonical, type Json } from '../base/values.js';
import type { RunStore, StateBackend } from '../state/backend.js';
import type { JournalContent } from '../state/journal.js';
import type { State } from '../state/state.js';
import { belongsTo, type StateLocation } from './owner.js';
import { unfinishedRuns } from './resume.js';

/** A state and the journals to move with it. */
export interface Migration {
  readonly state: State;
  /** The journals of the state's runs, oldest first. */
  readonly journals: readonly JournalContent[];
}

/** Reads the state and the journals to move. The caller holds both locks. Throws a ProblemsError if something prevents the move. */
export async function planMigration(
  from: StateLocation,
  to: StateBackend,
  server: string | undefined,
): Promise<Migration> {
  const { backend } = from;
  const saved = await backend.saved();
  if (saved === undefined) {
    throw problemError(
      'no-such-address',
      `there is no state at ${backend.place}`,
      'name it with --from: its file, or a configuration with its place',
    );
  }
  const state = server === undefined ? saved : await backend.load(server);
  const [unfinished] = await unfinishedRuns(state, from);
  if (unfinished !== undefined) {
    throw problemError(
      'record-needed',
      `run ${unfinished.run.run} did not end, and its changes are not yet in the state`,
      'run idops apply with the configuration of the present place, which settles that run; then repeat the move',
    );
  }
  await refuseOccupied(state, to);
  const journals: JournalContent[] = [];
  for (const run of await backend.runs.list()) {
    const content = await backend.runs.read(run);
    if (content !== null && belongsTo(content.run, state)) journals.push(content);
  }
  return { state, journals };
}

/** Refuses a destination with another state. The same state may be there after an earlier move or an interrupted one. */
async function refuseOccupied(state: State, to: StateBackend): Promise<void> {
  const name = await to.identity();
  if (name?.lineage === state.lineage) {
    const there = await to.saved().catch((failure: unknown) => {
      if (hasProblem(failure, 'state-moved')) return undefined;
      throw failure;
    });
    if (there === undefined || there.serial === state.serial) return;
    throw occupiedError(
      to.place,
      `the same state, ${there.serial > state.serial ? 'newer' : 'older'} than this one`,
    );
  }
  // An unreadable state is refused, too.
  const there = await to.saved();
  if (there !== undefined) throw occupiedError(to.place, `a state of ${there.server}`);
}

function occupiedError(place: string, what: string): ProblemsError {
  return problemError(
    'file-exists',
    `there is ${what} at ${place} already`,
    'nothing was moved: name another place for it in the configuration, or move away what is there',
  );
}

/**
 * Moves a state and its journals and verifies the copies. A state that names the new place stays behind, so that commands with the old
 * place are refused. It can be repeated after an interruption.
 */
export async function migrate(
  { state, journals }: Migration,
  from: StateBackend,
  to: StateBackend,
): Promise<void> {
  // Until everything has arrived, commands with the new place are refused.
  await to.save({ ...state, resources: {}, moved_to: from.place, arriving: true });
  const there = new Set(await to.runs.list());
  const alreadyThere: string[] = [];
  for (const content of journals) {
    const { run } = content.run;
    if (there.has(run)) {
      if (isSame(await to.runs.read(run).catch(() => null), content)) {
        alreadyThere.push(run);
        continue;
      }
      await to.runs.remove([run]);
    }
    await copy(content, to.runs);
  }
  // Both places may share the journals.
  await to.runs.assign?.(alreadyThere);
  await to.save(state);
  const arrived = await to.saved();
  if (arrived === undefined || canonical(arrived as Json) !== canonical(state as Json))
    throw new Error(`the state did not arrive at ${to.place} as it was`);
  await from.save({ ...state, moved_to: to.place });
}

async function copy({ run, lines }: JournalContent, to: RunStore): Promise<void> {
  const journal = await to.create(run);
  try {
    await Promise.all(lines.map((line) => journal.write(line)));
  } finally {
    await journal.close();
  }
  const there = await to.read(run.run);
  if (!isSame(there, { run, lines })) throw new Error(`the journal of ${run.run} did not arrive as it was`);
}

function isSame(
  there: Pick<JournalContent, 'run' | 'lines'> | null,
  { run, lines }: Pick<JournalContent, 'run' | 'lines'>,
): boolean {
  return there !== null && stringifyJson([there.run, there.lines]) === stringifyJson([run, lines]);
}
