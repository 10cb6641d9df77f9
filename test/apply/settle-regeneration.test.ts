import { expect, it } from 'vitest';
import { settlementOf } from '../../src/apply/settle-regeneration.js';
import type { StateBackend } from '../../src/state/backend.js';
import type { JournalContent, RunLine, SendingLine } from '../../src/state/journal.js';
import { emptyState, type State } from '../../src/state/state.js';

const at = '2026-01-31T12:00:00Z';
const address = 'Client/c';

/** The journal of a run that sent a regeneration. */
function journalOf(run: string): JournalContent {
  const sending = { type: 'sending', seq: 1, action: 'regenerate', address, key: address };
  const line = { ...sending, identity: { id: 'c' }, generation: 2, last: true } as unknown as SendingLine;
  return { run: { run } as RunLine, lines: [line], bytes: 0, ended: true };
}

/** A state in which the outcome of a run's regeneration is unknown. */
function openSince(run: string): State {
  const record = { kind: 'Client' as const, identity: { id: 'c' }, recorded_at: at, run, managed: [] };
  const open = { ...record, fields: {}, hashes: {}, pending_regeneration: run };
  return { ...emptyState('https://id.example.com'), resources: { [address]: open } };
}

it('a regeneration is settled only under the name of the run that left it open', async () => {
  const saved: State[] = [];
  const written: unknown[] = [];
  const backend = {
    save: async (state: State) => void saved.push(state),
    runs: { reopen: async () => ({ write: async (line: unknown) => void written.push(line), close() {} }) },
  } as unknown as StateBackend;
  const settle = async (run: string) =>
    await settlementOf({
      content: journalOf(run),
      address,
      done: true,
      state: openSince('run-2'),
      backend,
      by: 'ada',
    })();
  await expect(settle('run-1')).rejects.toMatchObject({ problems: [{ code: 'nothing-to-settle' }] });
  expect([saved, written]).toEqual([[], []]);
  await settle('run-2');
  expect(saved.map(({ resources }) => resources[address]?.did_generation)).toEqual([2]);
  expect(written).toHaveLength(2);
});
