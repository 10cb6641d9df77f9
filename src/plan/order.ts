import { kinds } from '../kinds/index.js';
import type { Change } from './plan.js';

/**
 * The order in which changes are applied, a level after the other:
 *
 *   organizations ─▶ users ─▶ key pairs ─▶ email templates ─▶ clients
 *                             (the new default ─▶ others ─▶ the former default)
 *
 * Users refer to organizations. Within a level the order of the addresses holds, so that a plan does not depend
 * on how the manifests are laid out. A key pair gives up being the default only after another has taken over.
 */
export function arrange(changes: readonly Change[]): Change[] {
  const sorted = [...changes].sort(
    (a, b) => level(a) - level(b) || defaultRank(a) - defaultRank(b) || compareText(a.address, b.address),
  );
  const successor = sorted.some((change) => change.action !== 'blocked' && isToBeDefault(change));
  return sorted.map((change) =>
    givesUpDefault(change) && !successor ? blockedWithoutDefault(change) : change,
  );
}

function level({ kind }: Change): number {
  return kinds.findIndex(({ name }) => name === kind);
}

function defaultRank(change: Change): number {
  if (isToBeDefault(change)) return -1;
  return givesUpDefault(change) ? 1 : 0;
}

/** Whether a key pair is declared the default, be it so already or not. */
export function isToBeDefault({ kind, apply }: Change): boolean {
  return kind === 'KeyPair' && apply.expected.is_default === true;
}

/** Whether a change takes the default away from a key pair. */
export function givesUpDefault({ kind, action, apply }: Change): boolean {
  const { is_default } = apply.expected;
  return kind === 'KeyPair' && action === 'update' && (is_default === false || is_default === null);
}

function blockedWithoutDefault(change: Change): Change {
  return {
    ...change,
    action: 'blocked',
    requests: [],
    destructions: [],
    reason:
      'no other key pair of this plan becomes the default, and a server must not be left without one: declare "is_default: true" on the new default',
  };
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
