import { objectKey } from '../base/identifiers.js';
import { problemError } from '../base/problems.js';
import type { StateBackend } from '../state/backend.js';
import { type JournalContent, unansweredLine } from '../state/journal.js';
import type { State } from '../state/state.js';
import { completeJournal, type Entry, entriesOf } from './journal-entries.js';

export interface SettleOptions {
  readonly content: JournalContent;
  /** `Client/<id>`. */
  readonly address: string;
  readonly done: boolean;
  readonly state: State;
  readonly backend: Pick<StateBackend, 'save' | 'runs'>;
  readonly by: string;
}

function regenerationIn(content: JournalContent, address: string): Entry | undefined {
  return entriesOf(content).find(
    ({ sending }) =>
      (sending.address === address || sending.key === objectKey(address)) && sending.action === 'regenerate',
  );
}

/** Whether a journal contains a regeneration of an object. */
export function hasRegenerationOf(content: JournalContent, address: string): boolean {
  return regenerationIn(content, address) !== undefined;
}

/**
 * Returns a function that records a person's answer about a regeneration with an unknown outcome: in the journal, and in the state if the
 * run is already in it. Throws a ProblemsError (`nothing-to-settle`) if the run left no regeneration open at that address.
 */
export function settlementOf(options: SettleOptions): () => Promise<void> {
  const { content, address, done, state, backend } = options;
  const entry = regenerationIn(content, address);
  const key = entry?.sending.key ?? '';
  const { [key]: record } = state.resources;
  const isInState = record?.pending_regeneration === content.run.run;
  if (entry === undefined || !(isInState || (entry.open && !content.ended))) {
    const why = `run ${content.run.run} left no regeneration open at ${address}`;
    throw problemError('nothing-to-settle', why, 'idops runs show lists the changes of a run');
  }
  return async () => {
    const at = new Date().toISOString();
    const error = done ? null : `not done, according to ${options.by}`;
    const answer = unansweredLine(entry.sending.seq, at, done ? 'applied' : 'failed', error);
    if (!isInState) {
      // The next apply settles the rest of the run.
      const journal = await backend.runs.reopen(content);
      await journal.write(answer).finally(() => journal.close());
      return;
    }
    const { pending_regeneration: _, ...known } = record;
    // The new DID is unknown; the next apply records it.
    const settled = done ? { ...known, fields: {}, hashes: {} } : known;
    const { generation } = entry.sending;
    const resources = {
      ...state.resources,
      [key]: {
        ...settled,
        recorded_at: at,
        ...(done && generation !== undefined ? { did_generation: generation } : {}),
      },
    };
    await backend.save({ ...state, serial: state.serial + 1, resources });
    await completeJournal(backend.runs, content, [answer], { interrupted: false, by: options.by });
  };
}
