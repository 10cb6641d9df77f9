import { identify } from '../base/identifiers.js';
import { error, ProblemsError } from '../base/problems.js';
import type { RunLine } from '../state/journal.js';
import type { PastChange, PastRun } from './history.js';

/** A change of one object, and the run that made it. */
export interface PastOfObject {
  readonly run: RunLine;
  readonly change: PastChange;
}

/**
 * What runs did to what goes by an address, whatever it was called then; oldest first. Without a kind an id or a name
 * finds it, behind a kind its name does: of an email template its backend's, for all of them or with the type behind it. Throws a
 * ProblemsError (`no-such-address`) where none did anything to such a one.
 */
export function historyOf(runs: readonly PastRun[], address: string): PastOfObject[] {
  const all = runs.flatMap(({ run, changes }) => changes.map((change) => ({ run, change })));
  const changes = all.map(({ change }) => change);
  const keys = new Set(identify(changes, address, [addresses, ids, names]).map(({ key }) => key));
  if (keys.size > 0) return all.filter(({ change }) => keys.has(change.key));
  throw new ProblemsError([
    error(
      'no-such-address',
      `no run of this state wrote ${address}`,
      [],
      'an address is KIND/ID, such as User/9b1d…, as plans and idops runs show write it; an id or a name alone finds it too; idops runs lists the runs',
    ),
  ]);
}

function addresses({ change: { address }, key }: PastChange): string[] {
  return [address, key];
}

/** The ids behind the kind: all of them, and the first one, which for an email template is its backend's. */
function ids({ change: { kind }, key }: PastChange): string[] {
  const whole = key.slice(kind.length + 1);
  const [first = '', ...rest] = whole.split('/');
  return rest.length === 0 ? [whole] : [whole, first, `${kind}/${first}`];
}

/** What it was called, with and without its kind, and what stands behind its first id. */
function names({ change: { kind, label, address }, key, called }: PastChange): string[] {
  const [, ...rest] = key.slice(kind.length + 1).split('/');
  return [address.slice(kind.length + 1), label, called]
    .flatMap((name) =>
      name === undefined ? [] : rest.length === 0 ? [name] : [name, [name, ...rest].join('/')],
    )
    .flatMap((name) => [name, `${kind}/${name}`]);
}
