import { isUuid } from '../base/identifiers.js';
import { problemError } from '../base/problems.js';
import { type Fields, isMap, type Value } from '../base/values.js';
import { listsOf } from '../kinds/fields.js';
import { addressOf, kindOf } from '../kinds/index.js';
import type { Declared, Identity, Selector } from '../kinds/kind.js';
import { matchesTarget } from '../plan/select.js';
import { type Contribution, type ShownContributions, unresolvedNote } from '../report/contributions.js';

/**
 * The documents that declare an object and what they declare, without the network. The address may have an id or a name. Throws a
 * ProblemsError (`no-such-address`) if no document declares the object.
 */
export function explain(
  declared: readonly Declared[],
  address: string,
): Pick<ShownContributions, 'documents' | 'unresolved'> {
  const names = namesOf(declared, address);
  const by = isById(address) ? 'name' : 'id';
  let count = 0;
  const documents = declared.flatMap((document): Contribution[] => {
    const { kind, identity, selector } = document;
    if (!address.startsWith(`${kind}/`)) return [];
    const { bulk, naming } = kindOf(kind);
    const isOne = (one: Identity): boolean => names.has(addressOf(kind, one).toLowerCase());
    // A user with the name in other letter case, or in another backend, still matches.
    const isLeftOut = (one: Identity): boolean =>
      isOne(one) && one.backend === undefined && (one.id !== undefined || address === addressOf(kind, one));
    const named = selector?.named ?? [identity];
    const isNamed = named.some(isOne);
    const isMatch = selector?.match !== undefined && selector.except?.some(isLeftOut) !== true;
    if (isNamed || isMatch) {
      const condition = isNamed ? null : conditionOf(selector);
      const name = (selector && bulk?.name) ?? kind;
      return [{ kind: name, at: document.places.of(), condition, declares: fieldsOf(document) }];
    }
    const isUnresolved = named.some((one) => {
      const own = addressOf(kind, one);
      return isById(own) === (by === 'id') && afterName(own) === afterName(address);
    });
    if (naming !== undefined && names.size === 1 && isUnresolved) count += 1;
    return [];
  });
  const unresolved = { count, by } as const;
  if (documents.length > 0) return { documents, unresolved };
  throw problemError(
    'no-such-address',
    `no document declares ${address}`,
    count > 0 ? unresolvedNote(unresolved) : 'an address is KIND/ID or KIND/NAME',
  );
}

/** The condition of a document about many objects, with the ids and names that it excludes. */
function conditionOf({ match = {}, except = [] }: Partial<Selector> = {}): Fields {
  const names = except.map(({ id, username: name = '', backend }) =>
    backend === undefined ? (id ?? name) : { name, backend },
  );
  return names.length === 0 ? match : { ...match, except: names };
}

function isById(address: string): boolean {
  return isUuid(address.split('/')[1] ?? '');
}

/** The part of an address after its id or name, such as the type of a template. */
function afterName(address: string): string {
  return address.split('/').slice(2).join('/');
}

/** The address in lower case, and its other form if a document has both an id and a name. */
function namesOf(declared: readonly Declared[], address: string): ReadonlySet<string> {
  const names = new Set([address.toLowerCase()]);
  for (const { kind, identity, fields } of declared) {
    const name = kindOf(kind).displayName?.(fields);
    if (identity.id === undefined || name === undefined) continue;
    const both = [`${kind}/${identity.id}`, `${kind}/${name}`];
    if (both.some((one) => matchesTarget(address, one))) for (const one of both) names.add(one.toLowerCase());
  }
  return names;
}

function fieldsOf(document: Declared): Contribution['declares'] {
  const { kind, absent, generation } = document;
  const { counter = '' } = kindOf(kind).regeneration ?? {};
  const others = {
    ...(absent ? { state: 'absent' } : {}),
    ...(generation === undefined ? {} : { [counter]: generation }),
  };
  return Object.entries({ ...others, ...document.fields }).flatMap(([field, value]) => {
    const isParts = isMap(value) && listsOf(value).length > 0 && Object.values(value).every(Array.isArray);
    const parts: [string[], Value][] = isParts
      ? Object.entries(value).map(([part, list]) => [[field, part], list])
      : [[[field], value]];
    return parts.map(([path, part]) => ({
      path: path.join('.'),
      at: document.places.of(...path),
      value: part,
    }));
  });
}
