import type * as z from 'zod';
import { optional } from '../base/members.js';
import { error, type Problem } from '../base/problems.js';
import { assign, type Fields, lazy, mapValues, type Value } from '../base/values.js';
import { withArticle } from '../base/words.js';
import { answers, type Parser } from '../server/answers.js';
import type { WriteOperation } from '../server/operations.js';
import type { Profile } from '../server/profiles.js';
import { areNamesUnique, findReference, namedReference } from './by-name.js';
import type { Catalog } from './catalog.js';
import { discoverInList, foundObject, missing, observeEach, readOne } from './discovery.js';
import {
  asElements,
  elementKey,
  firstNonBlank,
  isSecret,
  normalForm,
  sendableFields,
  textOf,
  value,
} from './fields.js';
import type { Declared, Discovery, Identity, Kind, KindName, Live, Naming, ObserveContext } from './kind.js';
import {
  absentProblems,
  type CreationOptions,
  creationOf,
  deletionOf,
  deletionRefusal,
  onlyBoruta,
  unsupportedLifecycle,
  usesOf,
} from './lifecycle.js';
import { isMissing, type ListName, listScope, nounOf, type References, readList } from './references.js';
import { inList, resolveSets } from './resolve-sets.js';
import { profileProblems, unknownFieldsReason } from './rules.js';
import { document, identifier, lifecycle, noFieldsIfAbsent, requireIdOrName, UUID } from './schema.js';
import type { Traits } from './traits.js';

/** A kind whose objects have names and are found in a list. */
export interface Resource extends Pick<Kind, 'name' | 'noun' | 'scope' | 'fields' | 'usedBy'> {
  /** Whether the documented API has it too, without a read of one object; by default only Boruta has it. */
  readonly documented?: true;
  /** What the schema says about it. */
  readonly about: string;
  readonly list: ListName;
  /** The path of the list, and the parameter of an object's id. */
  readonly path: string;
  readonly param: string;
  /** The schemas of the fields other than the name. */
  readonly shape: () => z.ZodRawShape;
  readonly traits: Traits;
  /** How its creation differs from the default. */
  readonly creation?: Partial<CreationOptions>;
  /** Sets that refer to rows of a list. An update without a set empties it, so every update sends all sets. */
  readonly sets?: { readonly [field: string]: ListName };
  /** Fields that refer to one row of a list. */
  readonly references?: { readonly [field: string]: ListName };
  /** The fields as requests have them. */
  readonly body?: (fields: Fields) => Fields;
  /** Parses the answer to the read of one object; by default accepts any object. */
  readonly answer?: Parser<Fields>;
  /** Whether the server caches reads of one object, so the list is read instead. */
  readonly cached?: true;
  /** Further live values, from the list of all objects. */
  readonly listValues?: (list: Catalog) => Fields;
  /** Why an object with these fields can't be deleted, given the list after the plan. */
  readonly deletionRefusal?: (fields: Fields, list: Catalog | null | undefined) => string | undefined;
  readonly problems?: (declared: readonly Declared[]) => Problem[];
  /** What else a deletion removes, as the end of "deletes the role". */
  readonly deletes?: string;
}

/** The kind of a resource. */
export function resource(given: Resource, own: Partial<Kind> = {}): Kind {
  const { name, noun, list, fields, sets = {}, references = {}, usedBy = [], param } = given;
  const { body: bodyOf = (all) => all, listValues = () => ({}) } = given;
  const traits = { documented: {}, boruta: given.traits };
  const { scope } = given;
  const one = { title: `show ${withArticle(noun)}`, path: `${given.path}/:${param}`, scope };
  const parse: Parser<Fields> = given.answer ?? answers.object;
  const operation = (verb: 'create' | 'update' | 'delete') => `${verb}${name}` as WriteOperation;
  const wholeSets = Object.keys(sets);
  // No secret, and either a reference or the id beside it.
  const pulledFields = Object.keys(fields).filter(
    (field) =>
      !isSecret(fields[field] ?? value) && !Object.keys(references).some((one) => field === `${one}_id`),
  );
  const schema = lazy(() => {
    const shape = given.shape();
    const values = Object.keys(shape).filter((field) => field !== 'name');
    const id = optional(identifier(), `The id of the ${noun}; if left out, the name identifies it.`, UUID);
    const called = optional(
      identifier(),
      `The name of the ${noun}. Without an id, it identifies the ${noun}; beside an id, it is the name to set.`,
      'billing',
    );
    return document(
      name,
      given.about,
      { id, name: called, ...shape, ...lifecycle(noun) },
      { ...requireIdOrName, ...noFieldsIfAbsent(values) },
    );
  });
  const shown = (row: Fields): Fields =>
    Object.fromEntries(
      ['id', ...Object.keys(fields)].flatMap((field): [string, Value][] =>
        row[field] === undefined ? [] : [[field, normalForm(fields[field] ?? value, row[field])]],
      ),
    );
  return {
    name,
    noun,
    ...(given.documented ? {} : ({ onlyProfile: 'boruta' } as const)),
    schema,
    identity: ['id', 'name'],
    fields,
    scope,
    traits,
    check: (declared, profile) => [
      ...declared.flatMap((one) => [
        ...(given.documented ? unsupportedLifecycle : unknownToProfile)(one, noun, profile),
        ...unnamed(one, name),
        ...absentProblems(one, noun, ['name']),
      ]),
      ...(given.problems?.(declared) ?? []),
      ...profileProblems(declared, profile, traits),
    ],
    identifyingParts: (has) => (has('id') ? ['id'] : ['id', 'name']),
    displayName: ({ name: called }) => firstNonBlank(called),
    addressPart: ({ id, name: called }) => called ?? id ?? '',
    naming: namingIn(list),
    readable: (profile) => listScope(list, profile) !== undefined,
    listedIn: list,
    usedBy,
    async observe(objects, context) {
      const rereadsList = context.oneByOne && given.cached === true;
      const readsEach = context.oneByOne && !rereadsList && context.profile.name === 'boruta';
      const index = await (rereadsList
        ? context.limit(() => readList(list, context.reader, context.profile))
        : context.list(list));
      if (index === null) return new Map();
      return await observeEach(objects, async (identity) => {
        const live = lookUp(identity, index, context);
        const { id } = live.identity;
        // A new object may change these values too.
        const all = { ...(live.exists ? shown(live.fields) : {}), ...listValues(index) };
        if (!live.exists || id === undefined || !readsEach) return { ...live, fields: all };
        const row = await readOne(context, one, { [param]: id }, parse);
        if (row === null) return missing(live.identity, noun, context.profile);
        return { ...live, fields: shown(row) };
      });
    },
    referenceLists: ({ fields: wanted, absent }) =>
      absent
        ? usedBy.map((one) => one.list)
        : Object.entries({ ...sets, ...references }).flatMap(([field, other]) =>
            wanted[field] === undefined && wanted[`${field}_id`] === undefined ? [] : [other],
          ),
    resolve(wanted, context) {
      const lookups = mapValues(sets, (other, field) => inList(field, other, context));
      const result = resolveSets(wanted, lookups, context);
      const reasons = [...result.reasons];
      const confirmed = [...result.confirmed];
      const found = { ...result.fields };
      for (const [field, other] of Object.entries(references)) {
        const { [field]: reference, [`${field}_id`]: id } = wanted;
        const { [other]: rows } = context.references;
        if (rows != null && typeof rows.lookUp({ id: textOf(id) }) === 'string' && textOf(id) !== '')
          reasons.push(rows.noSuchId(String(id)));
        if (reference === undefined || reference === null) continue;
        const row = findReference(nounOf(other), reference, context.references);
        if (typeof row === 'string') reasons.push(row);
        else found[field] = namedReference(rows, row.id);
        if (areNamesUnique(rows, [found[field], context.present[field]])) confirmed.push(field);
      }
      for (const [field, other] of Object.entries(sets)) {
        const ids = asElements(found[field]).map(elementKey);
        if (new Set(ids).size < ids.length) reasons.push(`${field} has a ${nounOf(other)} twice: remove one`);
      }
      return { ...result, fields: found, reasons, confirmed };
    },
    decide({ declared, present, references }) {
      if (!declared.absent || present.exists === false) return undefined;
      const { id = '' } = present.identity;
      const uses = usesOf(usedBy, id, references, (one, row) => references[one]?.deleted.has(row) === true);
      const reason = deletionRefusal([
        ...[given.deletionRefusal?.(present.fields, references[list]) ?? []].flat(),
        ...uses,
      ]);
      return reason === undefined ? undefined : { action: 'blocked', reason };
    },
    update({ present, desired }) {
      const params = { [param]: present.identity.id ?? '' };
      const body = { ...sendableFields(present.fields, wholeSets), ...desired };
      return {
        requests: [{ operation: operation('update'), params, body: bodyOf(body) }],
        expected: body,
        reason: unknownFieldsReason(noun, wholeSets, body),
      };
    },
    creation: creationOf(operation('create'), {
      acceptsId: true,
      body: bodyOf,
      ...given.creation,
      required: ['name', ...(given.creation?.required ?? [])],
    }),
    deletion: deletionOf(operation('delete'), param, `deletes the ${noun}${given.deletes ?? ''}`),
    discovery: { ...discoveryIn(list, `${noun}s`, shown), fields: pulledFields },
    ...own,
  };
}

/** The problem of a kind that the profile's servers don't have. */
export function unknownToProfile({ kind, places }: Declared, noun: string, { name }: Profile): Problem[] {
  if (name === 'boruta') return [];
  const message = `a server of the profile ${name} has no operations for ${withArticle(noun)}, so ${kind} can't be declared`;
  return [onlyBoruta(message, places.of())];
}

/** The problem of a document without an id and a name. */
function unnamed({ identity, places }: Declared, kind: KindName): Problem[] {
  if (identity.id !== undefined || identity.name !== undefined) return [];
  const message = `${withArticle(kind)} needs an "id" or a "name"`;
  return [error('missing-field', message, [places.of()], 'add the name that it has on the server')];
}

/** The addresses of an object: by name if it is unique, otherwise by id. If the plan renames it, the new name is used. */
function namingIn(name: ListName): NonNullable<Kind['naming']> {
  return ({ id, name: given }: Identity, { [name]: list }: References): Naming => {
    const row = id === undefined ? undefined : list?.byId(id);
    const called = typeof row?.name === 'string' ? row.name : given;
    const unique = called !== undefined && (list?.byName(called).length ?? 0) <= 1;
    const byName = called === undefined ? [] : [{ name: called }];
    // While a plan renames an object, the live name selects it too, unless another object has that name.
    const present = id === undefined ? undefined : list?.liveName(id);
    const found = present === undefined || present === called ? undefined : list?.findNamed(present);
    if (present !== undefined && typeof found === 'object' && found.id === row?.id)
      byName.push({ name: present });
    const byId = id === undefined ? [] : [{ id }];
    const address = (unique || id === undefined ? byName[0] : undefined) ?? byId[0] ?? {};
    return { address, key: byId[0] ?? address, all: [...byName, ...byId] };
  };
}

/** The object with an identity in a list. */
function lookUp(identity: Identity, list: Catalog, { profile }: Pick<ObserveContext, 'profile'>): Live {
  const { id, name = '' } = identity;
  const absent = profile.creates && isMissing(list, identity) ? { missing: true as const } : {};
  const nothing = { exists: false, identity, fields: {} };
  if (id === undefined) {
    if (absent.missing)
      return {
        ...nothing,
        ...absent,
        reason: list.noSuchObject(name),
        suggestion: () => list.suggestion(name),
      };
    const found = list.findNamed(name);
    if (typeof found === 'string') return { ...nothing, reason: found };
    return { exists: true, identity: assign(identity, { id: String(found.id) }), fields: found };
  }
  const row = list.lookUp({ id });
  if (typeof row === 'string') return { ...nothing, reason: row, ...absent };
  // It may be a row without an id.
  return { exists: true, identity, fields: row ?? {} };
}

/** Finds the objects of a list, and names them if their name is unique. */
function discoveryIn(name: ListName, nouns: string, shown: (row: Fields) => Fields): Discovery {
  return {
    options: {},
    find: async ({ list }) =>
      discoverInList(await list(name), nouns, (row) => foundObject(row.id, row.name, shown(row))),
    byName: {
      lists: () => [name],
      identity({ live: { fields } }, { [name]: list }) {
        const { name: called } = fields;
        return typeof called === 'string' && list?.byName(called).length === 1 ? { name: called } : undefined;
      },
    },
  };
}
