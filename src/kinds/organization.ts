import * as z from 'zod';
import { allSettledEach } from '../base/concurrency.js';
import { nullish, optional } from '../base/members.js';
import { error } from '../base/problems.js';
import { assign, lazy } from '../base/values.js';
import { answers } from '../server/answers.js';
import type { ExtraRead } from '../server/operations.js';
import { missing, readOne, withoutIds } from './discovery.js';
import { carried, firstText, value } from './fields.js';
import type { DiscoverContext, Discovered, Identity, Kind, Live, Naming } from './kind.js';
import type { OrganizationIndex } from './organizations.js';
import type { References } from './references.js';
import { profileProblems, unknownWhole, wholeFields } from './rules.js';
import { document, identifier, idOrName, organizationId, text } from './schema.js';
import type { ProfileTraits, Traits } from './traits.js';

interface OrganizationTraits extends Traits {
  /** The read of one; omitted if there is only the list. */
  readonly one?: ExtraRead;
}

const traits: ProfileTraits<OrganizationTraits> = {
  documented: {},
  boruta: {
    one: {
      title: 'show an organization',
      path: '/api/organizations/:organization_id',
      scope: 'users:manage:all',
    },
    whole: ['name', 'label'],
    emptyIsNull: ['label'],
    limits: { characters: { name: 255, label: 255 }, filled: { name: null }, notEmpty: ['label'] },
  },
};

const schema = lazy(() =>
  document(
    'Organization',
    'An organization that users can belong to.',
    {
      id: organizationId,
      name: optional(
        z.union([identifier(), text()], { error: 'expected a string' }),
        'The name. Without an id, it identifies the organization; beside an id, it is the name to set.',
        'acme',
      ),
      label: nullish(text(), 'The display name.', 'ACME Corporation'),
    },
    idOrName,
  ),
);

export const organization: Kind = {
  name: 'Organization',
  noun: 'organization',
  get schema() {
    return schema();
  },
  identity: ['id', 'name'],
  fields: { name: value, label: value },
  scopes: { read: 'users:manage:all', write: 'users:manage:all' },
  traits,
  identities: ({ identity }) =>
    identity.id === undefined ? [`name ${identity.name}`] : [`id ${identity.id}`],
  check: (declared, profile) => [
    ...declared
      .filter(({ identity }) => identity.id === undefined && identity.name === undefined)
      .map(({ place }) =>
        error(
          'missing-field',
          'an Organization needs an "id" or a "name"',
          [place],
          'add the name that it has on the server',
        ),
      ),
    ...profileProblems(declared, profile, traits),
  ],
  // Beside an id, the name is a value to set.
  deciding: (has) => (has('id') ? ['id'] : ['id', 'name']),
  called: ({ name }) => firstText(name),
  addressPart: ({ id, name }) => name ?? id ?? '',
  naming,
  readable: () => true,
  listed: 'organizations',
  async observe(objects, context) {
    const index = await context.list('organizations');
    if (index === null) return new Map();
    const found = objects.map((object) => [object, lookUp(object.identity, index)] as const);
    const { one } = traits[context.profile.name];
    if (!context.alone || one === undefined) return new Map(found);
    return new Map(
      await allSettledEach(found, async ([object, live]) => {
        const { id } = live.identity;
        if (!live.exists || id === undefined) return [object, live] as const;
        const shown = await readOne(context, one, { organization_id: id }, answers.organization);
        if (shown === null) return [object, missing(live.identity, 'organization')] as const;
        return [object, { ...live, fields: shown }] as const;
      }),
    );
  },
  update({ present, desired, profile }) {
    const id = present.identity.id ?? '';
    const { unknown } = wholeFields(desired, present.fields, traits[profile.name]);
    const body = { id, ...carried(present.fields, ['name', 'label']), ...desired };
    return {
      requests: [{ operation: 'updateOrganization', params: { organization_id: id }, body }],
      expected: body,
      ...(unknown.length === 0 ? {} : { trouble: unknownWhole('organization', unknown) }),
    };
  },
  discovery: {
    options: {},
    find,
    named: {
      lists: () => ['organizations'],
      identity: (
        {
          live: {
            fields: { name },
          },
        },
        { organizations },
      ) => (typeof name === 'string' && organizations?.byName(name).length === 1 ? { name } : undefined),
    },
  },
  destructions: () => [],
};

async function find({ list }: DiscoverContext): Promise<Discovered> {
  const index = await list('organizations');
  if (index === null) return { found: [], notes: [] };
  return {
    found: index.rows().map((row) => {
      const identity = { id: String(row.id) };
      const { name } = row;
      return {
        identity,
        called: typeof name === 'string' ? name : null,
        live: { exists: true, identity, fields: row },
      };
    }),
    notes: withoutIds(index.anonymous, 'organizations'),
  };
}

/** By name if it is unique, otherwise by id; by the new name if the plan renames it. */
function naming({ id, name: given }: Identity, { organizations }: References): Naming {
  const row = id === undefined ? undefined : organizations?.byId(id);
  const name = typeof row?.name === 'string' ? row.name : given;
  const unique = name !== undefined && (organizations?.byName(name).length ?? 0) <= 1;
  const byName = name === undefined ? [] : [{ name }];
  // While a plan renames it, its live name selects it too, unless another one has that name.
  const present = id === undefined ? undefined : organizations?.presentName(id);
  const found = present === undefined || present === name ? undefined : organizations?.findNamed(present);
  if (present !== undefined && typeof found === 'object' && found.id === row?.id)
    byName.push({ name: present });
  const byId = id === undefined ? [] : [{ id }];
  const address = (unique || id === undefined ? byName[0] : undefined) ?? byId[0] ?? {};
  return { address, key: byId[0] ?? address, all: [...byName, ...byId] };
}

function lookUp(identity: Identity, index: OrganizationIndex): Live {
  if (identity.id === undefined) {
    const found = index.findNamed(identity.name ?? '');
    if (typeof found === 'string') return { exists: false, identity, fields: {}, trouble: found };
    return { exists: true, identity: assign(identity, { id: String(found.id) }), fields: found };
  }
  const row = index.byId(identity.id);
  if (row !== undefined) return { exists: true, identity, fields: row };
  // It may be a row without an id.
  if (index.unsure) return { exists: true, identity, fields: {} };
  const trouble = index.lacksId(identity.id);
  return { exists: false, identity, fields: {}, trouble };
}
