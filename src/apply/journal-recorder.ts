import { type Fields, mapValues, withoutUndefined } from '../base/values.js';
import { value as plain, withoutForeignSecrets } from '../kinds/fields.js';
import { kindOf } from '../kinds/index.js';
import type { Change, Plan } from '../plan/plan.js';
import { type Hasher, storeFields } from '../secrets/hash.js';
import { type Redactor, redactAddress } from '../secrets/redactor.js';
import { withSlowHashes } from '../secrets/slow-hash.js';
import { operationPath, operations, type WriteRequest } from '../server/operations.js';
import type { Profile } from '../server/profiles.js';
import type { Journal, SendingLine } from '../state/journal.js';
import type { State } from '../state/state.js';
import { type Outcome, skippedOutcome } from './attempt-outcome.js';
import { prepareRecord } from './record.js';
import { concealDeclared } from './recorded-fields.js';

/** Called before and after each request. Each call resolves when its line is on disk. */
export interface Recorder {
  /** Before a request (null for an adoption, which sends nothing). After a rejection the request isn't sent. */
  sending(change: Change, request: WriteRequest | null, last: boolean): Promise<void>;
  /** After the answer to a request that isn't the last of its change. */
  answered(change: Change, httpStatus: number, attempts: number): Promise<void>;
  /** After a change's last answer, once its outcome is known. */
  settled(change: Change, outcome: Outcome): Promise<void>;
}

interface JournalOptions {
  /** The name of the journal. */
  readonly run: string;
  readonly profile: Profile;
  readonly hasher: Hasher;
  /** Redacts the server's messages and names. */
  readonly redactor: Pick<Redactor, 'redactName' | 'redactSentence'>;
  /** Called before the first request of each change. After a rejection the request isn't sent. */
  readonly beforeChange: () => Promise<void>;
}

/** Writes the journal of a run, and the outcomes into its records. */
export function journalRecorder(
  { changes }: Plan,
  journal: Journal,
  resources: State['resources'],
  { run, profile, hasher, redactor, beforeChange }: JournalOptions,
): Recorder {
  // Only the original plan has labels; a change that is planned again has none.
  const labels = new Map(changes.map(({ label, apply }) => [apply.key, label]));
  const begun = new Set<string>();
  const sequences = new Map<Change, number>();
  let sequence = 0;

  const record = async (change: Change, outcome: Outcome, at: string): Promise<void> => {
    const readable = kindOf(change.kind).readable(profile);
    const asked = { ...change, ...change.apply };
    const context = { run, at, hasher, readable, documented: profile.name === 'documented' };
    const store = await withSlowHashes(() => prepareRecord(resources, asked, outcome, context));
    store?.();
  };

  const writeAnswer = async (change: Change, at: string, outcome: Outcome): Promise<void> => {
    const { after, notes = [], otherProfile } = outcome;
    const shown = after && concealSecrets(after, change);
    const stored = shown && (await withSlowHashes(() => storeFields(shown, hasher)));
    await journal.write({
      type: 'answered',
      seq: sequences.get(change) ?? 0,
      at,
      status: outcome.status,
      ambiguous: outcome.ambiguous,
      http_status: outcome.httpStatus,
      attempts: outcome.attempts,
      after: stored ?? null,
      unverified: outcome.unverified.map(redactor.redactName),
      error: outcome.error === null ? null : redactor.redactSentence(outcome.error),
      ...withoutUndefined({ other_profile: otherProfile }),
      ...(notes.length === 0 ? {} : { notes: notes.map(redactor.redactSentence) }),
    });
  };

  return {
    async sending(change, request, last) {
      const { key, identity, expected, before, existed, managed, byMember, ended, ...other } = change.apply;
      // A change with several requests is finished: between two of them a template could be missing.
      if (!begun.has(key)) await beforeChange();
      begun.add(key);
      const stored = await withSlowHashes(() => ({
        before: storeFields(concealSecrets(before, change), hasher),
        body: request?.body === undefined ? null : storeFields(request.body, hasher),
        expected: storeFields(declaredFields(expected, change), hasher),
      }));
      const label = labels.get(key);
      sequence += 1;
      sequences.set(change, sequence);
      await journal.write({
        type: 'sending',
        seq: sequence,
        at: new Date().toISOString(),
        address: redactAddress(change.address, redactor),
        key,
        kind: change.kind,
        identity: { ...identity },
        action: change.action as SendingLine['action'],
        operation: request?.operation ?? null,
        method: request === null ? null : operations[request.operation].method,
        path: request === null ? null : operationPath(request.operation, request.params),
        last,
        existed,
        ...stored,
        managed: [...managed],
        ...withoutUndefined({
          label: label && redactor.redactName(label),
          replaces: other.replaces,
          until: other.until,
          until_before: resources[key]?.until,
          ended: ended && mapValues(ended, (ids) => [...ids]),
          by_member: byMember && [...byMember],
          generation: other.generation,
          recorded_generation: other.recordedGeneration,
        }),
      });
    },
    answered: (change, httpStatus, attempts) =>
      writeAnswer(change, new Date().toISOString(), {
        ...skippedOutcome(null),
        status: 'applied',
        httpStatus,
        attempts,
      }),
    async settled(change, outcome) {
      const at = new Date().toISOString();
      await record(change, outcome, at);
      await writeAnswer(change, at, outcome);
    },
  };
}

function declaredFields(fields: Fields, { kind }: Change): Fields {
  const { fields: types } = kindOf(kind);
  return mapValues(fields, (value, field) => withoutForeignSecrets(types[field] ?? plain, value));
}

function concealSecrets(fields: Fields, { kind, apply: { expected } }: Change): Fields {
  const { fields: types } = kindOf(kind);
  return mapValues(fields, (value, field) => concealDeclared(types[field] ?? plain, value, expected[field]));
}
