import { ownMark } from '../../../src/base/process.js';
import { JOURNAL_FORMAT, type JournalLine, type RunLine } from '../../../src/state/journal.js';
import type { ResourceRecord, State } from '../../../src/state/state.js';

export const serverUrl = 'https://id.example.com';
const at = '2026-01-31T12:00:00.000Z';

/** The first line of a run, of a process that is gone. */
export function runLine(run: string, state: Pick<State, 'lineage' | 'salt'>): RunLine {
  return {
    type: 'run',
    format_version: JOURNAL_FORMAT,
    run,
    tool_version: '0.0.0',
    at,
    command: 'apply',
    user: 'somebody',
    ...ownMark(),
    host: 'a-host-that-is-gone',
    state: { lineage: state.lineage, file: 'a' },
    server: serverUrl,
    profile: 'documented',
    environment: null,
    digest: 'sha256:0',
    salt: state.salt,
  };
}

/** One of the lines of a run. */
export function line(seq: number, note?: string): JournalLine {
  return {
    type: 'answered',
    seq,
    at,
    status: 'applied',
    ambiguous: false,
    http_status: 200,
    attempts: 1,
    after: null,
    unverified: [],
    error: null,
    ...(note === undefined ? {} : { notes: [note] }),
  };
}

/** A record of a user, with these fields. */
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
