import { identifierKey } from '../base/identifiers.js';
import { textOf } from '../kinds/fields.js';
import { kindOf } from '../kinds/index.js';
import type { References } from '../kinds/references.js';
import { cycles } from './order.js';
import { blockedFor, type Change, isChanging } from './plan.js';

/**
 * Lets changes that take a unique name await those that free it, and blocks them if nothing frees it in time. `references` are the lists
 * of the server as they are now.
 */
export function orderRenames(given: readonly Change[], references: References): readonly Change[] {
  let changes = given;
  for (;;) {
    const byId = new Map(
      changes.flatMap((change) => (isChanging(change) ? [[idOf(change), change] as const] : [])),
    );
    const before = changes;
    changes = before.map((change) => awaitName(change, references, byId));
    // A blocked change frees no name.
    if (changes.every(({ action }, index) => action === before[index]?.action)) break;
  }
  const swaps = cycles(changes);
  return changes.map((change) => {
    const others = swaps.get(change)?.map(({ address }) => address);
    const reason = `it and ${others?.join(' and ')} take each other's name, and the server allows no name twice: rename one of them to a third name first, in a run of its own`;
    return others === undefined ? change : blockedFor(change, reason);
  });
}

function idOf({ kind, apply }: Change, id = apply.identity.id ?? ''): string {
  return `${kind} ${identifierKey(id)}`;
}

function awaitName(change: Change, references: References, byId: ReadonlyMap<string, Change>): Change {
  const { uniqueNames, listedIn = 'own', noun } = kindOf(change.kind);
  const { before, expected } = change.apply;
  const name = textOf(expected.name);
  if (uniqueNames !== true || listedIn === 'own' || !isChanging(change)) return change;
  if (name === '' || name === textOf(before.name)) return change;
  const rows = references[listedIn]?.byName(name).map(({ id }) => String(id)) ?? [];
  const holder = rows.find((id) => idOf(change, id) !== idOf(change));
  if (holder === undefined) return change;
  const other = byId.get(idOf(change, holder));
  if (other?.action === 'delete')
    return blockedFor(
      change,
      `the ${noun} "${String(expected.name)}" is deleted only after this: delete it in an earlier run`,
    );
  const next = textOf(other?.apply.expected.name) || name;
  if (other !== undefined && next !== name) return { ...change, awaits: [other.apply.key] };
  const reason = `the server has another ${noun} "${String(expected.name)}", with the id ${holder}: rename that one first, or choose another name`;
  return blockedFor(change, reason);
}
