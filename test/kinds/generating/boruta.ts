import fc from 'fast-check';
import type { Json } from '../../../src/base/values.js';
import { ids } from '../../demo-ids.js';

/** A text that Boruta accepts and keeps in every field: it treats white space as empty. */
export const acceptedText = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
  .map((word) => word.replaceAll('$', '-'))
  .filter((word) => word.trim() !== '');
const element = fc.record({
  value: fc.oneof(acceptedText, fc.integer(), fc.boolean()),
  status: acceptedText,
});
const scopes = fc.subarray([
  { id: ids.billingRead, name: 'billing:read', label: 'Read invoices' },
  { id: ids.billingWrite, name: 'billing:write', label: 'Issue invoices' },
  { id: ids.reportsRead, name: 'reports:read', label: 'Read reports' },
]);
const roles = fc.subarray([
  { id: ids.member, name: 'member' },
  { id: ids.accountant, name: 'accountant' },
]);
const organizations = fc.subarray([ids.acme, ids.globex, ids.initech, ids.umbrella]);
const memberships = organizations.map((chosen) => chosen.map((id) => ({ id })));
const membershipsWithRoles = organizations.chain((chosen) =>
  fc.tuple(...chosen.map((id) => fc.record({ id: fc.constant(id), roles }))),
);

export const userGroup = fc.option(
  fc
    .uniqueArray(fc.stringMatching(/^[a-z]{1,8}$/), { minLength: 1, maxLength: 3 })
    .map((words) => words.join(' ')),
);
export const userMetadata = fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), element, {
  maxKeys: 3,
  noNullPrototype: true,
});

/** Fields that both profiles keep. */
const common = { group: userGroup, metadata: userMetadata, authorized_scopes: scopes };

/** Fields of a user, each optional, with values that the profile accepts and keeps. */
export function userFields(profile: 'documented' | 'boruta'): fc.Arbitrary<{ [field: string]: Json }> {
  return profile === 'boruta'
    ? fc.record({ ...common, organizations: memberships, roles }, { requiredKeys: [] })
    : fc.record({ ...common, organizations: membershipsWithRoles }, { requiredKeys: [] });
}
