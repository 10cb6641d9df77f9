import { error, type Problem } from '../base/problems.js';
import type { Fields } from '../base/values.js';
import type { PlanWarning } from './change.js';
import { idsIn, isTrue } from './fields.js';
import type { Declared, Kind } from './kind.js';

/** A field of live objects with the ids of all default objects. Changes depend on it, so plans and journals contain it. */
export const DEFAULTS = 'defaults';

/** The parts of a kind of which a server has one default object, such as key pairs. */
export function oneDefault(noun: string) {
  const moves = `moves the default ${noun}`;
  return {
    preconditions: [DEFAULTS],
    succession: {
      field: 'is_default',
      holdersField: DEFAULTS,
      holders: recordedDefaults,
      describeMove(former) {
        if (former === undefined) return moves;
        return former.length === 0
          ? `${moves}: none is the default now`
          : `${moves} from ${former.join(' and ')}`;
      },
      withoutSuccessor: `no other ${noun} of this plan becomes the default, and a server must not be left without one: declare "is_default: true" on the new default`,
      successorFailed: `the new default ${noun} could not be set`,
    },
    destructions: (changes) =>
      changes.some(({ path, after }) => path === 'is_default' && isTrue(after)) ? [moves] : [],
  } satisfies Partial<Kind>;
}

/** The ids of the default objects, from the fields of any object of the kind; undefined if unknown. */
export function recordedDefaults({ [DEFAULTS]: defaults }: Fields): string[] | undefined {
  return Array.isArray(defaults) ? defaults.filter((id) => typeof id === 'string') : undefined;
}

/** The ids of the default objects in a list. */
export function defaultsOf(rows: Iterable<Fields>): string[] {
  return idsIn([...rows].filter(({ is_default }) => isTrue(is_default))).sort();
}

/** The problem of documents that declare several defaults. */
export function twoDefaults(declared: readonly Declared[], noun: string): Problem[] {
  const defaults = declared.filter(({ fields }) => isTrue(fields.is_default));
  if (defaults.length < 2) return [];
  const message = `${defaults.length} ${noun}s have "is_default: true", and a server has one default`;
  const places = defaults.map((one) => one.places.of('is_default'));
  return [error('two-defaults', message, places, 'keep it on the new default')];
}

/** Why the default can't be set if the server has several; undefined if it can. */
export function severalDefaults(present: Fields, noun: string, cure: string): string | undefined {
  const defaults = recordedDefaults(present) ?? [];
  if (defaults.length < 2) return undefined;
  return (
    `the server has ${defaults.length} default ${noun}s (${defaults.join(', ')}) and fails when one is set: ` +
    `take the default away from all but one ${cure}, and plan again`
  );
}

/** The warning that `false` isn't sent: the server would refuse it, or have no default. */
export function falseNotSent(noun: string): PlanWarning {
  const message = `is_default: false is not sent: the server sets it when the other ${noun} becomes the default`;
  return { code: 'by-server', message };
}
