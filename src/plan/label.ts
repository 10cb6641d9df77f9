import { assign } from '../base/values.js';
import { kindOf } from '../kinds/index.js';
import type { Live } from '../kinds/kind.js';
import type { State } from '../state/state.js';
import type { Change } from './plan.js';

/** Names of things that others belong to, such as backends, by their ids. */
export type Names = ReadonlyMap<string, string>;

/** The names that answers told beside what was asked for: those of former runs, and on top of them those of just now. */
export function namesOf(observed: Iterable<Live>, state: State): Names {
  const all = new Map<string, string>();
  const tell = (told: { readonly [id: string]: string } = {}): void => {
    for (const [id, name] of Object.entries(told)) all.set(id, name);
  };
  for (const { kind, fields, left } of Object.values(state.resources)) {
    const { names } = kindOf(kind);
    if (names === undefined) continue;
    tell(names(fields));
    if (left !== undefined) tell(names(left.fields));
  }
  for (const { names } of observed) tell(names);
  return all;
}

/**
 * A change with what the server calls its object, where it said so without being asked for that: by the answer, by the fields that
 * are known, or by what the object belongs to. Nothing that decides looks at it.
 */
export function withLabel(change: Change, live: Live | undefined, names: Names): Change {
  const { kind, apply } = change;
  const called = live?.called ?? kindOf(kind).called?.(apply.before);
  const { label } = labelled(change, called, names);
  return label === undefined ? change : assign(change, { label });
}

/** What stands beside the address of an object that is called so, or that belongs to something that has a name. */
export function labelled(
  {
    kind: name,
    address,
    apply: { identity },
  }: Pick<Change, 'kind' | 'address'> & {
    readonly apply: Pick<Change['apply'], 'identity'>;
  },
  called: string | undefined,
  names: Names,
): { readonly label?: string } {
  const label = called ?? names.get(identity[kindOf(name).within ?? ''] ?? '');
  return label === undefined || address === `${name}/${label}` ? {} : { label };
}
