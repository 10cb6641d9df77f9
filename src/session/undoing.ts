import { entriesOf } from '../apply/entries.js';
import { labelIn, namesTold } from '../apply/history.js';
import type { Result } from '../apply/result.js';
import { type Left, undoRun } from '../apply/undo.js';
import { isUuid, sameIdentifier, type Value } from '../base/values.js';
import { contrast, desired, value } from '../kinds/fields.js';
import { kindOf } from '../kinds/index.js';
import type { Declared } from '../kinds/kind.js';
import type { Change, Plan } from '../plan/plan.js';
import type { JournalContent } from '../state/journal.js';
import { withSlowHashes } from '../state/slow-hash.js';
import type { UndoPlan } from './session.js';

/** What can't be put back as things are is left, and does not keep the rest from being put back. */
export function undoPlan(plan: Plan, given: readonly Left[], content: JournalContent): UndoPlan {
  const blocked = plan.changes.filter(({ action }) => action === 'blocked');
  const left = [
    ...given,
    ...blocked.map(({ address, reason }) => ({ address, path: null, reason: reason ?? 'it is blocked' })),
  ];
  return {
    plan: {
      ...plan,
      changes: plan.changes
        .filter(({ action }) => action !== 'blocked')
        .map((change) => ({ ...change, declaredAt: null, apply: { ...change.apply, managed: [] } })),
    },
    left: asPlanned(left, plan, content),
  };
}

/** What is left, by the one address that the plan has for each object, and by what it is called. */
function asPlanned(left: readonly Left[], { changes }: Plan, content: JournalContent): readonly Left[] {
  const entries = entriesOf(content);
  const names = namesTold(entries);
  const past = new Map(entries.map((entry) => [entry.sending.address, entry]));
  const planned = new Map(changes.map((change) => [change.apply.key, change]));
  return left.map((one) => {
    const entry = past.get(one.address);
    const change = planned.get(entry?.sending.key ?? one.address);
    const { label } = change ?? (entry === undefined ? {} : labelIn(entry, names));
    return { ...one, ...(change && { address: change.address }), ...(label === undefined ? {} : { label }) };
  });
}

/** What undoing a run would come to, as far as its journal tells; undefined where there is none to be read. */
export async function undoingOf(content: JournalContent | null): Promise<Result['undoing']> {
  if (content === null) return undefined;
  const { declared, left } = await withSlowHashes(() => undoRun(content, false));
  return { possible: declared.length > 0, left };
}

/**
 * Whether manifests say otherwise than an undo has left the objects that it put back; undefined where what is declared isn't
 * known for sure.
 */
export function saysOtherwise(
  declared: readonly Declared[],
  sure: boolean,
  { changes }: Plan,
  { results }: Result,
): boolean | undefined {
  if (!sure) return undefined;
  const done = new Set(results.flatMap(({ status, address }) => (status === 'applied' ? [address] : [])));
  return changes
    .filter(({ address }) => done.has(address))
    .some((change) => declared.some((document) => isOf(document, change) && isOther(document, change)));
}

function isOf({ kind, identity }: Declared, { kind: of, apply }: Change): boolean {
  const { name, ...ids } = identity;
  if (kind !== of) return false;
  const parts = Object.entries(ids);
  if (parts.length === 0) return name === (apply.expected.name ?? apply.before.name);
  return parts.every(([part, id]) => sameIdentifier(id, apply.identity[part] ?? ''));
}

function isOther({ kind: name, fields, absent, whole }: Declared, { action, apply }: Change): boolean {
  if (absent || action === 'delete') return absent !== (action === 'delete');
  const kind = kindOf(name);
  return Object.entries(fields).some(([field, said]) => {
    const now = apply.expected[field];
    if (now === undefined) return false;
    const type = kind.fields[field] ?? value;
    const wanted = desired(type, named(said), now, whole.includes(field));
    return (
      wanted !== undefined &&
      contrast(type, field, wanted, now).some(({ verdict }) => verdict === 'different')
    );
  });
}

/** A list with objects in the place of the texts that stand for them. */
function named(said: Value): Value {
  if (!Array.isArray(said)) return said;
  return said.map((one) => (typeof one !== 'string' ? one : isUuid(one) ? { id: one } : { name: one }));
}
