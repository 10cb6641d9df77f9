import { identify } from '../base/identifiers.js';
import type { KindName } from '../base/kind-names.js';
import { error, type Problem, refuse } from '../base/problems.js';
import { compareText, type Fields, filterValues } from '../base/values.js';
import { kindOf } from '../kinds/index.js';
import { Hasher, restoreFields } from '../secrets/hash.js';
import type { ResourceRecord, State } from '../state/state.js';

/** A record of the state, without secrets. */
export interface RecordSummary {
  /** Its address with ids only, the key of the record. */
  readonly address: string;
  /** Its name, if it is recorded and the address doesn't contain it. */
  readonly label?: string;
  readonly kind: KindName;
  /** The time of the record: ISO 8601, UTC. */
  readonly at: string;
  /** The run that wrote the object; null if it was only read. */
  readonly run: string | null;
  /** The fields that the manifest declared at that time. */
  readonly managed: readonly string[];
  /** The recorded fields, with secrets as hashes. */
  readonly fields: Fields;
  /** The last observation of the object, and the run that made it; null for a plan. */
  readonly left: { readonly run: string | null; readonly fields: Fields } | null;
  readonly generation: number | null;
  /** Fields whose outcome is unknown. */
  readonly uncertain: readonly string[];
  /** The run after which values of it must be restored; null if none. */
  readonly restoreRun: string | null;
  /** The run of a regeneration with an unknown outcome; null if none. */
  readonly regenerationRun: string | null;
  /** Whether the last request deleted it. */
  readonly deleted: boolean;
}

/** All records of a state, sorted by address. */
export function summarizeRecords(state: State): RecordSummary[] {
  const hasher = new Hasher(state);
  return Object.entries(state.resources)
    .map(([address, record]) => summarizeRecord(address, record, hasher))
    .sort((a, b) => compareText(a.address, b.address));
}

function summarizeRecord(address: string, record: ResourceRecord, hasher: Hasher): RecordSummary {
  const fields = restoreFields(record, hasher);
  const left =
    record.left === undefined ? null : { run: record.left.run, fields: restoreFields(record.left, hasher) };
  const label = kindOf(record.kind).displayName?.({ ...left?.fields, ...fields }) ?? record.identity.name;
  return {
    address,
    ...(label === undefined || address === `${record.kind}/${label}` ? {} : { label }),
    kind: record.kind,
    at: record.recorded_at,
    run: record.run,
    managed: [...record.managed].sort(compareText),
    fields,
    left,
    generation: record.did_generation ?? null,
    uncertain: record.uncertain ?? [],
    restoreRun: record.owed?.run ?? null,
    regenerationRun: record.pending_regeneration ?? null,
    deleted: record.deleted !== undefined,
  };
}

/**
 * Finds one record for each address, id or name, with or without its kind. Throws a ProblemsError (`no-such-address`) for all that match
 * no record, or several.
 */
export function findRecords(state: State, names: readonly string[]): RecordSummary[] {
  const all = summarizeRecords(state);
  const problems: Problem[] = [];
  const found = new Map<string, RecordSummary>();
  for (const name of names) {
    const matches = recordsNamed(all, name);
    const [only] = matches;
    if (only !== undefined && matches.length === 1) found.set(only.address, only);
    else problems.push(noSingleMatch(name, matches));
  }
  refuse(problems);
  return [...found.values()];
}

/** The records that an address, an id or a name matches, with or without the kind. */
export function recordsNamed(all: readonly RecordSummary[], name: string): readonly RecordSummary[] {
  return identify(all, name, [addressOf, idOf, namesOf]);
}

const addressOf = ({ address }: RecordSummary): string[] => [address];
const idOf = ({ address, kind }: RecordSummary): string[] => [address.slice(kind.length + 1)];
const namesOf = ({ label, kind }: RecordSummary): string[] =>
  label === undefined ? [] : [label, `${kind}/${label}`];

function noSingleMatch(name: string, matches: readonly RecordSummary[]): Problem {
  if (matches.length === 0) {
    const why = `the state has no record of ${name === '' ? '""' : name}`;
    return error('no-such-address', why, [], 'idops state show lists all records');
  }
  const addresses = matches.map(({ address }) => address).join(', ');
  const why = `${matches.length} records match ${name}: ${addresses}`;
  return error('no-such-address', why, [], 'name one of them');
}

/**
 * The state without these records. Throws a ProblemsError (`record-needed`) for all that are still needed for a pending restore, or for
 * a regeneration with an unknown outcome.
 */
export function withoutRecords(state: State, records: readonly RecordSummary[]): State {
  const problems: Problem[] = [];
  for (const { address, kind, restoreRun, regenerationRun } of records) {
    const only = `only the record of ${address} has`;
    if (restoreRun !== null) {
      const message = `${only} the values that run ${restoreRun} removed from it`;
      problems.push(
        error('record-needed', message, [], 'run idops apply, which restores them; then remove the record'),
      );
    }
    if (regenerationRun !== null) {
      const message = `${only} the regeneration that run ${regenerationRun} left open`;
      const hint = `look at its ${kindOf(kind).regeneration?.noun ?? 'value'}, then run idops runs settle ${regenerationRun} ${address} --done or --not-done`;
      problems.push(error('record-needed', message, [], hint));
    }
  }
  refuse(problems);
  const removed = new Set(records.map(({ address }) => address));
  const resources = filterValues(state.resources, (_, key) => !removed.has(key));
  return { ...state, serial: state.serial + 1, resources };
}
