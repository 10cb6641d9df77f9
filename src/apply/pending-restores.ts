import { kindOf } from '../kinds/index.js';
import { observedLoss, type PendingRestore } from '../kinds/loss.js';
import { Hasher, storeFields } from '../secrets/hash.js';
import type { JournalContent } from '../state/journal.js';
import type { ResourceRecord, State } from '../state/state.js';
import { type Entry, entriesOf, type RestoredEntry, restoreEntry } from './journal-entries.js';
import { otherStateTest, type StateLocation } from './owner.js';
import type { ObservedOutcome, RecordContext, RequestedChange } from './recorded-fields.js';

/** Adds the pending restores of a lost state, from the journals of its runs: no plan can find them. Returns a saved state unchanged. */
export async function withPendingRestores(state: State, location: StateLocation): Promise<State> {
  if (state.serial > 0) return state;
  const runs = await ownRuns(state, location);
  const newest = runs.at(-1);
  if (newest === undefined) return state;
  const adopted = { ...state, salt: newest.run.salt };
  const hasher = new Hasher(adopted);
  const resources: Record<string, ResourceRecord> = { ...state.resources };
  for (const content of runs.filter(({ run }) => run.salt === adopted.salt)) {
    for (const entry of entriesOf(content)) {
      const restore = restoreAfterEntry(restoreEntry(entry, hasher), content.run);
      if (restore === 'as before') continue;
      delete resources[entry.sending.key];
      if (restore !== undefined) resources[entry.sending.key] = recordWith(entry, restore, hasher);
    }
  }
  return Object.keys(resources).length === 0 ? state : { ...adopted, resources };
}

async function ownRuns(state: State, location: StateLocation): Promise<JournalContent[]> {
  const { runs } = location.backend;
  const names = await runs.list();
  if (names.length === 0) return [];
  const isOther = await otherStateTest(state, location);
  const contents = await Promise.all(names.map((name) => runs.read(name).catch(() => null)));
  return contents.filter((content): content is JournalContent => {
    return content?.ended === true && content.run.server === state.server && !isOther(content.run);
  });
}

/** The restore that a change leaves pending; undefined if there is none. */
function restoreAfterEntry(
  { sending, answered, before, asked: expected, after }: RestoredEntry,
  { run, profile }: JournalContent['run'],
): PendingRestore | undefined | 'as before' {
  if (sending.action !== 'update' || answered === undefined) return 'as before';
  const { status, ambiguous, other_profile: otherProfile } = answered;
  return pendingRestoreAfter(
    { kind: sending.kind, before, expected },
    { status, ambiguous, after, otherProfile },
    { run, readable: true, documented: profile === 'documented' },
  );
}

function recordWith({ sending, answered }: Entry, restore: PendingRestore, hasher: Hasher): ResourceRecord {
  return {
    kind: sending.kind,
    identity: { ...sending.identity },
    recorded_at: answered?.at ?? sending.at,
    run: restore.run,
    managed: [],
    fields: {},
    hashes: {},
    owed: storeRestore(restore, hasher),
  };
}

/** What an update removed and must be restored; undefined if nothing is. */
export function pendingRestoreAfter(
  { kind: name, before = {}, expected }: Pick<RequestedChange, 'kind' | 'before' | 'expected'>,
  { status, ambiguous, after, otherProfile }: Omit<ObservedOutcome, 'unverified'>,
  { run, readable, documented }: Pick<RecordContext, 'run' | 'readable' | 'documented'>,
): PendingRestore | undefined | 'as before' {
  const kind = kindOf(name);
  if (kind.lostFields === undefined || !readable) return 'as before';
  if (after !== undefined) {
    // A documented server that answered keeps a value in its own form, unless it seems to be one of another profile.
    const isOwnForm = documented && otherProfile === undefined;
    if (isOwnForm && (status === 'applied' || status === 'not_converged')) return undefined;
    const lost = kind.lostFields({ before, asked: expected, now: after });
    return Object.keys(lost).length === 0 ? undefined : observedLoss(run, lost, after);
  }
  // Without an answer and without doubt, nothing was sent.
  if (!ambiguous) return 'as before';
  return { run, before, asked: expected };
}

/** A pending restore as the state stores it. */
export function storeRestore(restore: PendingRestore, hasher: Hasher): NonNullable<ResourceRecord['owed']> {
  return 'before' in restore
    ? {
        run: restore.run,
        before: storeFields(restore.before, hasher),
        asked: storeFields(restore.asked, hasher),
      }
    : { run: restore.run, lost: storeFields(restore.lost, hasher), seen: storeFields(restore.seen, hasher) };
}
