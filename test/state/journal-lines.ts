import { currentProcess } from '../../src/base/process.js';
import {
  type AnsweredLine,
  JOURNAL_FORMAT,
  type RunLine,
  type SendingLine,
} from '../../src/state/journal.js';
import type { State } from '../../src/state/state.js';

export const server = 'https://id.example.com';
export const at = '2026-01-31T12:00:00.000Z';

/** The first line of a run of this process. */
export function runLine(run: string, state: Pick<State, 'lineage' | 'salt'>, name: string): RunLine {
  return {
    type: 'run',
    format_version: JOURNAL_FORMAT,
    run,
    tool_version: '0.0.0',
    at,
    command: 'apply',
    user: 'somebody',
    ...currentProcess(),
    state: { lineage: state.lineage, file: name },
    server,
    profile: 'documented',
    environment: null,
    digest: 'sha256:0',
    salt: state.salt,
  };
}

/** The line before the only request of a user's update. */
export const sending: SendingLine = {
  type: 'sending',
  seq: 1,
  at,
  address: 'User/u',
  key: 'User/u',
  kind: 'User',
  identity: { id: 'u' },
  action: 'update',
  operation: 'updateUser',
  method: 'PATCH',
  path: '/',
  last: true,
  existed: true,
  before: { fields: {}, hashes: {} },
  body: null,
  expected: { fields: {}, hashes: {} },
  managed: [],
};

/** The line after it. */
export const answer: AnsweredLine = {
  type: 'answered',
  seq: 1,
  at,
  status: 'applied',
  ambiguous: false,
  http_status: 200,
  attempts: 1,
  after: null,
  unverified: [],
  error: null,
};
