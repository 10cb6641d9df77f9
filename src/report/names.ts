import type { Entry } from '../apply/journal-entries.js';
import type { Answers, Result } from '../apply/result.js';
import { quoteIfNeeded } from '../base/escape.js';
import { assign } from '../base/values.js';
import { isAddressedByName, kindOf, regenerated } from '../kinds/index.js';
import type { Identity, KindName } from '../kinds/kind.js';
import type { Planned } from '../plan/build.js';
import type { Plan } from '../plan/plan.js';
import type { State } from '../state/state.js';

/** An object as people see it: its address, and its name if the address doesn't contain it. */
export interface NamedObject {
  readonly address: string;
  readonly label?: string | undefined;
}

/** The label to append to an address: ` (ada@acme.example)`; empty if there is none. Escaped. */
export function labelSuffix({ label }: Pick<NamedObject, 'label'>): string {
  return label === undefined ? '' : ` (${quoteIfNeeded(label)})`;
}

/** An object in text: `User/4000… (ada@acme.example)`. Escaped. */
export function nameOf(named: NamedObject): string {
  return `${quoteIfNeeded(named.address)}${labelSuffix(named)}`;
}

/** Names by id of what other objects belong to, such as backends. */
export type Names = ReadonlyMap<string, string>;

/** The label of an object: its own name, or that of what it belongs to; none if the address contains it. */
function labelOf(
  { kind, address }: { readonly kind: KindName; readonly address: string },
  identity: Identity,
  ownName: string | undefined,
  names: Names,
): { readonly label?: string } {
  const label = ownName ?? names.get(identity[kindOf(kind).parentId ?? ''] ?? '');
  return label === undefined || address === `${kind}/${label}` ? {} : { label };
}

/** The plan with labels from observed objects and the state. */
export function labelPlan({ plan, observed }: Planned, { resources }: State): Plan {
  const recorded = Object.values(resources).flatMap(({ kind, fields, left }) => {
    const { referencedNames } = kindOf(kind);
    return [fields, left?.fields ?? {}].flatMap((known) => Object.entries(referencedNames?.(known) ?? {}));
  });
  const live = [...observed.values()].flatMap(({ names = {} }) => Object.entries(names));
  const names = new Map([...recorded, ...live]);
  const changes = plan.changes.map((change) => {
    const { key, identity, before } = change.apply;
    const { displayName } = kindOf(change.kind);
    const live = observed.get(key);
    const record = live === undefined ? resources[key] : undefined;
    const ownName = displayName?.(before) ?? displayName?.(record?.fields ?? {});
    return assign(change, labelOf(change, identity, ownName, names));
  });
  return { ...plan, changes };
}

/** The result with the labels of its plan, and the labels and DIDs that the server's answers add. */
export function labelResult(result: Result, { changes }: Plan, answers: Answers): Result {
  const byAddress = new Map(changes.map((change) => [change.address, change]));
  const answered = changes.map((change) => ({ kind: kindOf(change.kind), after: answers.get(change) ?? {} }));
  const names = new Map(
    answered.flatMap(({ kind, after }) => Object.entries(kind.referencedNames?.(after) ?? {})),
  );
  const results = result.results.map((one) => {
    const change = byAddress.get(one.address);
    if (change === undefined) return one;
    const { displayName } = kindOf(change.kind);
    const answer = answers.get(change) ?? {};
    // If the address contains the name, the label stays as planned.
    const name = isAddressedByName(change.kind) ? undefined : displayName?.(answer);
    const isDid = change.action === 'regenerate' && change.kind === regenerated.kind.name;
    const did = isDid ? answer[regenerated.regeneration.field] : undefined;
    return {
      ...one,
      ...labelOf(change, change.apply.identity, change.label ?? name, names),
      ...(one.status === 'applied' && typeof did === 'string' ? { did } : {}),
    };
  });
  return { ...result, results };
}

/** The names of what objects belong to, from the answers in a journal. */
export function namesInJournal(entries: readonly Entry[]): Names {
  return new Map(
    entries.flatMap(({ sending: { kind, identity, label, before }, answered }) => {
      const { referencedNames, parentId = '' } = kindOf(kind);
      const { [parentId]: whole } = identity;
      return [
        ...(whole === undefined || label === undefined ? [] : [[whole, label] as const]),
        ...[before.fields, answered?.after?.fields ?? {}].flatMap((fields) =>
          Object.entries(referencedNames?.(fields) ?? {}),
        ),
      ];
    }),
  );
}

/** The label of an object at the end of a run, if the journal contains it. */
export function labelIn({ sending, answered }: Entry, names: Names): { readonly label?: string } {
  const { displayName } = kindOf(sending.kind);
  // If the address contains the name, the label stays as it was.
  const after = isAddressedByName(sending.kind) ? {} : (answered?.after?.fields ?? {});
  const ownName = displayName?.(sending.before.fields) ?? displayName?.(after) ?? sending.label;
  return labelOf(sending, sending.identity, ownName, names);
}

/** The object's own name after a run, which may have renamed it. */
export function nameAfter({ sending, answered }: Entry): { readonly nameAfter?: string } {
  const changed = answered?.status === 'applied' ? sending.expected.fields : {};
  const name = kindOf(sending.kind).displayName?.({
    ...sending.before.fields,
    ...changed,
    ...answered?.after?.fields,
  });
  return name === undefined ? {} : { nameAfter: name };
}
