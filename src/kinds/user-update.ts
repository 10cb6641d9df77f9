import { type Fields, mapValues, type Value } from '../base/values.js';
import type { Catalog } from './catalog.js';
import type { PlanWarning } from './change.js';
import { asElements, idsIn } from './fields.js';
import type { PlanInput, Update } from './kind.js';
import type { References } from './references.js';
import { fieldsToSend, unknownFieldsReason } from './rules.js';
import { userTraits } from './user-schema.js';

/**
 * An update of a user on a server that resets fields it isn't sent and fails halfway on unknown elements. Checks every element, and
 * sends all fields.
 */
export function replaceUser({ present, desired, profile, references }: PlanInput): Update {
  const { [profile.name]: traits } = userTraits;
  const fields = fieldsToSend(desired, present.fields, traits);
  const unknown = unknownFieldsReason('user', traits.resetUnlessSent ?? [], fields);
  if (unknown !== undefined) return blocked(unknown, fields);
  const reasons: string[] = [];
  const body = withIds(fields, present.fields, references, reasons);
  reasons.push(...unknownMemberships(body, references.organizations));
  if (reasons.length > 0) return blocked([...new Set(reasons)].join('; '), body);
  return {
    requests: [{ operation: 'updateUser', params: { user_id: present.identity.id ?? '' }, body }],
    expected: body,
    warnings: unlisted(body, references),
  };
}

function blocked(reason: string, expected: Fields): Update {
  return { requests: [], expected, reason };
}

/** The lists with an id in each element. A missing id is found by name in the user's present elements. */
function withIds(fields: Fields, present: Fields, references: References, reasons: string[]): Fields {
  const scopes = asElements(present.authorized_scopes);
  const roles = asElements(present.roles);
  const identified = (list: Value, known: readonly Fields[], noun: string): Fields[] => {
    const elements = asElements(list).map((element) => identify(element, known, noun, reasons));
    const ids = idsIn(elements);
    for (const id of ids.filter((id, index) => ids.indexOf(id) !== index))
      reasons.push(`the ${noun} ${id} is twice: remove one of the two`);
    return elements;
  };
  return mapValues(fields, (list, name) => {
    if (name === 'roles') return identified(list, roles, 'role');
    if (name !== 'authorized_scopes') return list;
    return identified(list, scopes, 'scope').map((scope) => labelled(scope, references.scopes));
  });
}

function identify(element: Fields, known: readonly Fields[], noun: string, reasons: string[]): Fields {
  if (typeof element.id === 'string') return element;
  const ids = new Set(idsIn(known.filter(({ name }) => name === element.name)));
  const [id] = ids;
  if (id !== undefined && ids.size === 1) return { ...element, id };
  const why = ids.size === 0 ? 'the user does not have it yet' : 'several of the user have this name';
  reasons.push(
    `the ${noun} "${String(element.name)}" needs its id: ${why}, and this server offers no list to find it in`,
  );
  return element;
}

/** Adds the label that the API requires: from the list of scopes, otherwise the name. */
function labelled(scope: Fields, catalog: Catalog | null | undefined): Fields {
  if (scope.label !== undefined || scope.name === undefined) return scope;
  const listed = typeof scope.id === 'string' ? catalog?.byId(scope.id)?.label : undefined;
  return { ...scope, label: typeof listed === 'string' && listed !== '' ? listed : scope.name };
}

/** Warnings about elements that the lists of the server don't show; they are sent. */
function unlisted(body: Fields, { scopes, roles }: References): PlanWarning[] {
  const unlistedAmong = (elements: readonly Fields[], catalog: Catalog | null | undefined, noun: string) =>
    elements.flatMap(({ id, name }): PlanWarning[] => {
      if (catalog == null || catalog.isIncomplete || typeof id !== 'string' || catalog.byId(id) !== undefined)
        return [];
      const called = typeof name === 'string' ? `"${name}" (id ${id})` : id;
      const message = `the user has the ${noun} ${called}, which the server's list of ${noun}s doesn't show; it is sent unchanged. If the server runs on several nodes that aren't clustered, each may know other ${noun}s`;
      return [{ code: 'not-in-list', message }];
    });
  const found = [
    ...unlistedAmong(asElements(body.authorized_scopes), scopes, 'scope'),
    ...unlistedAmong(asElements(body.roles), roles, 'role'),
  ];
  return [...new Map(found.map((warning) => [warning.message, warning])).values()];
}

/** Memberships of organizations that the server's list doesn't have. */
function unknownMemberships({ organizations = null }: Fields, index: References['organizations']): string[] {
  const memberships = asElements(organizations);
  if (memberships.length === 0) return [];
  if (index == null) return ['the list of organizations was not read'];
  return memberships.flatMap((element) => {
    if (typeof element.id === 'string' && index.byId(element.id) !== undefined) return [];
    const name = typeof element.name === 'string' ? ` ("${element.name}")` : '';
    return [
      `the user is to be a member of the organization ${String(element.id)}${name}, which the list of organizations ` +
        'does not have, and the server would remove all memberships because of it: declare organizations without it, or create it there',
    ];
  });
}
