import * as z from 'zod';
import { nullish, optional } from '../base/members.js';
import { lazy } from '../base/values.js';
import { answers } from '../server/answers.js';
import { missing, observeEach, readOne } from './discovery.js';
import { carried, firstText, value } from './fields.js';
import type { Kind } from './kind.js';
import { absentProblems, creationOf, deletionOf, unsupportedLifecycle } from './lifecycle.js';
import { discoveryIn, lookUp, namedIdentities, namingIn, unnamed } from './resource.js';
import { profileProblems, unknownWhole, wholeFields } from './rules.js';
import { absentAlone, document, identifier, idOrName, lifecycle, organizationId, text } from './schema.js';
import type { ProfileTraits } from './traits.js';

const traits: ProfileTraits = {
  documented: {},
  boruta: {
    read: {
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
      ...lifecycle('organization'),
    },
    { ...idOrName, ...absentAlone(['label']) },
  ),
);

export const organization: Kind = {
  name: 'Organization',
  noun: 'organization',
  get schema() {
    return schema();
  },
  identity: ['id', 'name'],
  keepsFormerNames: true,
  fields: { name: value, label: value },
  scopes: { read: 'users:manage:all', write: 'users:manage:all' },
  traits,
  identities: namedIdentities,
  check: (declared, profile) => [
    ...declared.flatMap((one) => [
      ...unnamed(one, 'Organization'),
      ...absentProblems(one, 'organization', ['name']),
      ...unsupportedLifecycle(one, 'organization', profile),
    ]),
    ...profileProblems(declared, profile, traits),
  ],
  // Beside an id, the name is a value to set.
  deciding: (has) => (has('id') ? ['id'] : ['id', 'name']),
  called: ({ name }) => firstText(name),
  addressPart: ({ id, name }) => name ?? id ?? '',
  naming: namingIn('organizations'),
  readable: () => true,
  listed: 'organizations',
  async observe(objects, context) {
    const index = await context.list('organizations');
    if (index === null) return new Map();
    const { read } = traits[context.profile.name];
    return await observeEach(objects, async (identity) => {
      const live = lookUp(identity, index, context);
      const { id } = live.identity;
      if (!context.alone || read === undefined || !live.exists || id === undefined) return live;
      const shown = await readOne(context, read, { organization_id: id }, answers.organization);
      if (shown === null) return missing(live.identity, 'organization', context.profile);
      return { ...live, fields: shown };
    });
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
  creation: creationOf('createOrganization', {
    takesId: false,
    needs: ['name'],
    withoutId: 'the server chooses the id of a new organization: leave out the id',
  }),
  deletion: deletionOf(
    'deleteOrganization',
    'organization_id',
    'deletes the organization, and ends all memberships in it',
  ),
  discovery: discoveryIn('organizations', 'organizations'),
  destructions: () => [],
};
