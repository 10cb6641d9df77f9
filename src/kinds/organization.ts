import * as z from 'zod';
import { nullish, optional } from '../base/members.js';
import { answers } from '../server/answers.js';
import { sendableFields, value } from './fields.js';
import type { Kind, PlanInput, Update } from './kind.js';
import { resource } from './resource.js';
import { unknownFieldsReason } from './rules.js';
import { identifier, text } from './schema.js';
import type { Traits } from './traits.js';

const traits: Traits = {
  resetUnlessSent: ['name', 'label'],
  emptyIsNull: ['label'],
  limits: { characters: { name: 255, label: 255 }, nonBlank: { name: null }, notEmpty: ['label'] },
};

export const organization: Kind = resource(
  {
    name: 'Organization',
    noun: 'organization',
    about: 'An organization that users can belong to.',
    documented: true,
    list: 'organizations',
    path: '/api/organizations',
    param: 'organization_id',
    scope: 'users:manage:all',
    fields: { name: value, label: value },
    shape: () => ({
      name: optional(
        z.union([identifier(), text()], { error: 'expected a string' }),
        'The name. Without an id, it identifies the organization; beside an id, it is the name to set.',
        'acme',
      ),
      label: nullish(text(), 'The display name.', 'ACME Corporation'),
    }),
    traits,
    answer: answers.organization,
    creation: {
      acceptsId: false,
      idRefusal: 'the server chooses the id of a new organization: leave out the id',
    },
    deletes: ', and ends all memberships in it',
  },
  { keepsFormerNames: true, update },
);

function update({ present, desired, profile }: PlanInput): Update {
  const id = present.identity.id ?? '';
  const body = { id, ...sendableFields(present.live, ['name', 'label']), ...desired };
  const { resetUnlessSent = [] } = organization.traits[profile.name];
  return {
    requests: [{ operation: 'updateOrganization', params: { organization_id: id }, body }],
    expected: body,
    reason: unknownFieldsReason('organization', resetUnlessSent, body),
  };
}
