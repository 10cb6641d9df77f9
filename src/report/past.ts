import { mergedJournal, type RunJournals } from '../apply/find-runs.js';
import { type Entry, entriesOf } from '../apply/journal-entries.js';
import type { ChangeResult } from '../apply/result.js';
import { parsePartName, type Shard } from '../base/shard.js';
import { type Fields, holdsSensitive, withoutUndefined } from '../base/values.js';
import { expectedValue } from '../kinds/desired.js';
import { absenceOf, compareField, value } from '../kinds/fields.js';
import { kindOf } from '../kinds/index.js';
import type { Kind } from '../kinds/kind.js';
import type { Change, FieldChange } from '../plan/plan.js';
import { endFields } from '../plan/until.js';
import { Hasher, restoreFields } from '../secrets/hash.js';
import { eachWithSlowHashes } from '../secrets/slow-hash.js';
import { type Profile, profiles } from '../server/profiles.js';
import type { JournalContent, RunLine } from '../state/journal.js';
import { labelIn, type Names, nameAfter, namesInJournal } from './names.js';

/** A change that a run sent, as its journal shows it. */
export interface PastChange {
  readonly change: Pick<Change, 'address' | 'label' | 'kind' | 'action' | 'fields'>;
  /** The address with ids instead of names. */
  readonly key: string;
  /** The object's name after the run, if known. */
  readonly nameAfter?: string;
  readonly at: string;
  readonly result: ChangeResult | null;
}

/** A run, as its journals show it. */
export interface PastRun {
  readonly run: RunLine;
  /** `unfinished`: it was killed, and no later run has recorded its outcome. */
  readonly ended: 'finished' | 'interrupted' | 'unfinished';
  readonly changes: readonly PastChange[];
  /** The journals of its shards, one for each start of a shard. */
  readonly parts?: readonly PastPart[];
}

export interface PastPart extends Pick<PastRun, 'run' | 'ended' | 'changes'> {
  readonly shard: Shard;
}

export async function pastRun(found: RunJournals): Promise<PastRun> {
  const { contents } = found;
  const whole = await pastOf(mergedJournal(found));
  const parts: PastPart[] = [];
  for (const content of contents) {
    const part = parsePartName(content.run.run);
    if (part !== undefined) parts.push({ ...(await pastOf(content)), shard: part.shard });
  }
  return parts.length === 0 ? whole : { ...whole, parts };
}

async function pastOf(content: JournalContent): Promise<PastRun> {
  const hasher = new Hasher(content.run);
  const last = content.lines.at(-1);
  const profile = profiles[content.run.profile] ?? profiles.documented;
  const entries = entriesOf(content);
  const names = namesInJournal(entries);
  return {
    run: content.run,
    ended: last?.type !== 'end' ? 'unfinished' : last.interrupted ? 'interrupted' : 'finished',
    changes: await eachWithSlowHashes(entries, (entry) => pastChange(entry, hasher, profile, names)),
  };
}

function pastChange(entry: Entry, hasher: Hasher, profile: Profile | undefined, names: Names): PastChange {
  const { sending, answered } = entry;
  const { address, kind, action } = sending;
  return {
    change: { address, ...labelIn(entry, names), kind, action, fields: fieldChanges(entry, hasher, profile) },
    key: sending.key,
    ...nameAfter(entry),
    at: answered?.at ?? sending.at,
    result:
      answered === undefined
        ? null
        : {
            address,
            action,
            status: answered.status,
            httpStatus: answered.http_status,
            attempts: answered.attempts,
            unverified: answered.unverified,
            error: answered.error,
            ...withoutUndefined({ notes: answered.notes }),
          },
  };
}

function regenerationFields(
  { regeneration }: Kind,
  fieldsBefore: Fields,
  fieldsAfter: Fields,
): FieldChange[] {
  if (regeneration === undefined) return [];
  const { [regeneration.field]: before } = fieldsBefore;
  const { [regeneration.field]: after } = fieldsAfter;
  return typeof after === 'string' && after !== before
    ? [{ path: regeneration.field, type: 'value', before, after, sensitive: false }]
    : [];
}

function fieldChanges(
  { sending, answered }: Entry,
  hasher: Hasher,
  profile: Profile | undefined,
): readonly FieldChange[] {
  const kind = kindOf(sending.kind);
  const before = restoreFields(sending.before, hasher);
  if (sending.action === 'delete') {
    return profile === undefined
      ? []
      : (kind.deletion?.verdict(sending.identity, before, profile).fields ?? []);
  }
  const regenerated =
    sending.action === 'regenerate'
      ? regenerationFields(kind, before, answered?.after == null ? {} : restoreFields(answered.after, hasher))
      : [];
  const { generation, recorded_generation: recorded } = sending;
  const counter: FieldChange[] =
    generation === undefined || (generation === recorded && sending.action === 'update')
      ? []
      : [
          {
            path: kind.regeneration?.counter ?? '',
            type: 'value',
            before: recorded,
            after: generation,
            sensitive: false,
          },
        ];
  if (sending.action === 'regenerate' || (sending.action === 'adopt' && counter.length > 0))
    return [...regenerated, ...counter];
  const changed = Object.entries(restoreFields(sending.expected, hasher))
    .flatMap(([name, wanted]) =>
      compareField(
        kind.fields[name] ?? value,
        name,
        wanted,
        Object.hasOwn(before, name) ? before[name] : sending.existed === false ? null : undefined,
      ),
    )
    .filter(({ verdict }) => verdict !== 'same')
    .map((part) => {
      const { path, type, wanted, got } = part;
      const sensitive = holdsSensitive(wanted) || (got !== undefined && holdsSensitive(got));
      return {
        path,
        type: type.type,
        before: got,
        after: expectedValue(part),
        sensitive,
        ...absenceOf(part),
      };
    });
  return [...changed, ...counter, ...endFields(sending.until, sending.until_before)];
}
