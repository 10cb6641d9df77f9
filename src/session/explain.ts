import { problemError } from '../base/problems.js';
import { holdsSensitive, isMap, type Value } from '../base/values.js';
import { listsOf } from '../kinds/fields.js';
import { addressOf, kindOf } from '../kinds/index.js';
import type { Declared } from '../kinds/kind.js';
import { matchesTarget } from '../plan/select.js';
import type { Contribution } from '../report/contributions.js';

/**
 * Which documents declare what about an object, without the network: by its address with an id or a name. Throws a ProblemsError
 * (`no-such-address`) if none does.
 */
export function explain(declared: readonly Declared[], address: string): readonly Contribution[] {
  const names = namesOf(declared, address);
  const found = declared.flatMap((document): Contribution[] => {
    const { kind, identity, covers } = document;
    const { many } = kindOf(kind);
    const isNamed = (covers?.named ?? [identity]).some((one) =>
      names.has(addressOf(kind, one).toLowerCase()),
    );
    const isLeftOut = covers?.except?.some((one) => names.has(addressOf(kind, one).toLowerCase()));
    const isMatch = covers?.match !== undefined && !isLeftOut && address.startsWith(`${kind}/`);
    if (!isNamed && !isMatch) return [];
    return [
      {
        kind: covers === undefined ? kind : (many?.name ?? kind),
        at: placeOf(document),
        condition: isNamed ? null : (covers?.match ?? null),
        declares: fieldsOf(document),
      },
    ];
  });
  if (found.length === 0)
    throw problemError(
      'no-such-address',
      `no document declares ${address}`,
      'an address is KIND/ID or KIND/NAME',
    );
  return found;
}

/** The address in lower case, and those of documents that have both an id and a name. */
function namesOf(declared: readonly Declared[], address: string): ReadonlySet<string> {
  const names = new Set([address.toLowerCase()]);
  for (const { kind, identity, fields } of declared) {
    const { byName, called } = kindOf(kind);
    const name = called?.(fields);
    if (byName === undefined || identity[byName.id] === undefined || name === undefined) continue;
    const both = [addressOf(kind, identity), `${kind}/${name}`];
    if (both.some((one) => matchesTarget(address, one))) for (const one of both) names.add(one.toLowerCase());
  }
  return names;
}

function fieldsOf(document: Declared): Contribution['declares'] {
  return Object.entries(document.fields).flatMap(([field, value]) => {
    const isParts = isMap(value) && listsOf(value).length > 0 && Object.values(value).every(Array.isArray);
    const parts: [string[], Value][] = isParts
      ? Object.entries(value).map(([part, list]) => [[field, part], list])
      : [[[field], value]];
    return parts.map(([path, part]) => ({
      path: path.join('.'),
      at: placeOf(document, ...path),
      value: holdsSensitive(part) ? '(sensitive)' : part,
    }));
  });
}

function placeOf(document: Declared, ...path: string[]): string {
  const { file, line } = path.length === 0 ? document.place : document.placeOf(...path);
  return `${file}:${line}`;
}
