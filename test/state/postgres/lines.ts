import type { JournalLine, RunLine } from '../../../src/state/journal.js';
import type { ResourceRecord, State } from '../../../src/state/state.js';
import { answer, at, runLine as ownRunLine } from '../journal-lines.js';

export { server as serverUrl } from '../journal-lines.js';

/** The first line of a run whose process is gone. */
export function runLine(run: string, state: Pick<State, 'lineage' | 'salt'>): RunLine {
  return { ...ownRunLine(run, state, 'a'), host: 'a-host-that-is-gone' };
}

export function line(seq: number, note?: string): JournalLine {
  return { ...answer, seq, ...(note === undefined ? {} : { notes: [note] }) };
}

export function recordOf(id: string, fields: ResourceRecord['fields'] = {}): ResourceRecord {
  return {
    kind: 'User',
    identity: { id },
    recorded_at: at,
    run: '20260131T120000Z-aaaaaa',
    managed: [],
    fields,
    hashes: {},
  };
}
