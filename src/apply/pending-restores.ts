import { kindOf } from '../kinds/index.js';
import { type PendingRestore, seenLoss } from '../kinds/loss.js';
import { Hasher, restoreFields } from '../secrets/hash.js';
import type { JournalContent } from '../state/journal.js';
import type { ResourceRecord, State } from '../state/state.js';
import { type Entry, entriesOf } from './journal-entries.js';
import { othersOf, type StateHome } from './owner.js';
import { storeOwed } from './record.js';

/**
 * A state that was lost, with what the journals of its runs say that is owed to objects: the rest of it can be done
 * without, and that can't. A state that anything was ever saved in is given back as it is.
 */
export async function withPendingRestores(state: State, home: StateHome): Promise<State> {
  if (state.serial > 0) return state;
  const runs = await ownRuns(state, home);
  const newest = runs.at(-1);
  if (newest === undefined) return state;
  const heir = { ...state, salt: newest.run.salt };
  const hasher = new Hasher(heir);
  const resources: Record<string, ResourceRecord> = { ...state.resources };
  for (const content of runs.filter(({ run }) => run.salt === heir.salt)) {
    for (const entry of entriesOf(content)) {
      const owed = debtOf(entry, content.run.run, hasher);
      if (owed === 'as before') continue;
      delete resources[entry.sending.key];
      if (owed !== undefined) resources[entry.sending.key] = debtor(entry, owed, hasher);
    }
  }
  return Object.keys(resources).length === 0 ? state : { ...heir, resources };
}

async function ownRuns(state: State, home: StateHome): Promise<JournalContent[]> {
  const { runs } = home.backend;
  const names = await runs.list();
  if (names.length === 0) return [];
  const isOther = await othersOf(state, home);
  const contents = await Promise.all(names.map((name) => runs.read(name).catch(() => null)));
  return contents.filter((content): content is JournalContent => {
    return content?.ended === true && content.run.server === state.server && !isOther(content.run);
  });
}

/** What a change left owing; undefined where nothing, not even of what was owed before it. */
function debtOf(
  { sending, answered }: Entry,
  run: string,
  hasher: Hasher,
): PendingRestore | undefined | 'as before' {
  const kind = kindOf(sending.kind);
  if (sending.action !== 'update' || kind.lost === undefined || answered === undefined) return 'as before';
  const before = restoreFields(sending.before, hasher);
  const asked = restoreFields(sending.expected, hasher);
  if (answered.after === null) return answered.ambiguous ? { run, before, asked } : 'as before';
  const now = restoreFields(answered.after, hasher);
  const lost = kind.lost({ before, asked, now });
  return Object.keys(lost).length === 0 ? undefined : seenLoss(run, lost, now);
}

function debtor({ sending, answered }: Entry, owed: PendingRestore, hasher: Hasher): ResourceRecord {
  return {
    kind: sending.kind,
    identity: { ...sending.identity },
    recorded_at: answered?.at ?? sending.at,
    run: owed.run,
    managed: [],
    fields: {},
    hashes: {},
    owed: storeOwed(owed, hasher),
  };
}
