import { kindOf } from '../kinds/index.js';
import type { Live } from '../kinds/kind.js';
import type { Change } from './plan.js';

/** Names of things that others belong to, such as backends, by their ids. */
export type Names = ReadonlyMap<string, string>;

/** The names that answers told beside what was asked for. */
export function namesOf(observed: Iterable<Live>): Names {
  return new Map([...observed].flatMap(({ names = {} }) => Object.entries(names)));
}

/**
 * A change with what the server calls its object, where it said so without being asked for that: by the fields that are known,
 * by the answer, or by what the object belongs to. Nothing that decides looks at it.
 */
export function withLabel(change: Change, live: Live | undefined, names: Names): Change {
  const { kind: name, address, apply } = change;
  const kind = kindOf(name);
  const called =
    kind.called?.(apply.before) ?? live?.called ?? names.get(apply.identity[kind.within ?? ''] ?? '');
  return called === undefined || address === `${name}/${called}` ? change : { ...change, label: called };
}
