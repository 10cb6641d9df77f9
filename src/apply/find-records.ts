import { identify } from '../base/identifiers.js';
import { error, type Problem, refuse } from '../base/problems.js';
import { compareText, type Fields, filterValues } from '../base/values.js';
import { kindOf } from '../kinds/index.js';
import { Hasher, restoreFields } from '../secrets/hash.js';
import type { ResourceRecord, State } from '../state/state.js';

/** A record of the state, with its secrets as hashes. */
export interface RecordSummary extends Omit<ResourceRecord, 'fields' | 'hashes' | 'left'> {
  /** Its address with ids only, the key of the record. */
  readonly address: string;
  /** Its name, if it is recorded and the address doesn't contain it. */
  readonly label?: string;
  readonly fields: Fields;
  /** The last observation of the object, and the run that made it; null for a plan. Undefined if there is none. */
  readonly left: { readonly run: string | null; readonly fields: Fields } | undefined;
}

/** All records of a state, sorted by address. */
export function summarizeRecords(state: State): RecordSummary[] {
  const hasher = new Hasher(state);
  return Object.entries(state.resources)
    .map(([address, record]) => summarizeRecord(address, record, hasher))
    .sort((a, b) => compareText(a.address, b.address));
}

function summarizeRecord(address: string, record: ResourceRecord, hasher: Hasher): RecordSummary {
  const { fields: stored, hashes, left: storedLeft, ...rest } = record;
  const fields = restoreFields({ fields: stored, hashes }, hasher);
  const left = storedLeft && { run: storedLeft.run, fields: restoreFields(storedLeft, hasher) };
  const label = kindOf(record.kind).displayName?.({ ...left?.fields, ...fields }) ?? record.identity.name;
  return {
    ...rest,
    address,
    ...(label === undefined || address === `${record.kind}/${label}` ? {} : { label }),
    managed: [...record.managed].sort(compareText),
    fields,
    left,
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
  for (const { address, kind, owed, pending_regeneration: open } of records) {
    const only = `only the record of ${address} has`;
    if (owed !== undefined) {
      const message = `${only} the values that run ${owed.run} removed from it`;
      problems.push(
        error('record-needed', message, [], 'run idops apply, which restores them; then remove the record'),
      );
    }
    if (open !== undefined) {
      const message = `${only} the regeneration that run ${open} left open`;
      const hint = `look at its ${kindOf(kind).regeneration?.noun ?? 'value'}, then run idops runs settle ${open} ${address} --done or --not-done`;
      problems.push(error('record-needed', message, [], hint));
    }
  }
  refuse(problems);
  const removed = new Set(records.map(({ address }) => address));
  const resources = filterValues(state.resources, (_, key) => !removed.has(key));
  return { ...state, serial: state.serial + 1, resources };
}
