import { type Asking, ids } from './asking.js';

export const path = `/api/users/${ids.ada}`;

/** What every list of Ada is changed to. */
export const changed = {
  metadata: { department: { value: 'audit', status: 'valid' } },
  group: 'audit',
  authorized_scopes: [{ id: ids.reportsRead }],
  organizations: [{ id: ids.initech }],
  roles: [{ id: ids.accountant }],
};

/** Where Ada's fields are: as they were, empty, or as they were sent. */
export function state({ user }: Asking): Record<string, string> {
  const ada = user(ids.ada);
  const list = (elements: readonly { id: string }[], sent: string): string => {
    if (elements.length === 0) return 'empty';
    return elements.length === 1 && elements[0]?.id === sent ? 'sent' : 'old';
  };
  return {
    group: ada.group === 'audit' ? 'sent' : 'old',
    metadata: Object.keys(ada.metadata).length === 1 ? 'sent' : 'old',
    scopes: list(ada.authorized_scopes, ids.reportsRead),
    organizations: list(ada.organizations, ids.initech),
    // Ada has one role before and another one after.
    roles: list(ada.roles, ids.accountant),
  };
}

/** The same after each of a PATCH's writes. */
export const steps = [
  { group: 'old', metadata: 'old', scopes: 'old', organizations: 'old', roles: 'old' },
  { group: 'sent', metadata: 'sent', scopes: 'old', organizations: 'old', roles: 'old' },
  { group: 'sent', metadata: 'sent', scopes: 'empty', organizations: 'old', roles: 'old' },
  { group: 'sent', metadata: 'sent', scopes: 'sent', organizations: 'old', roles: 'old' },
  { group: 'sent', metadata: 'sent', scopes: 'sent', organizations: 'empty', roles: 'old' },
  { group: 'sent', metadata: 'sent', scopes: 'sent', organizations: 'sent', roles: 'old' },
  { group: 'sent', metadata: 'sent', scopes: 'sent', organizations: 'sent', roles: 'empty' },
  { group: 'sent', metadata: 'sent', scopes: 'sent', organizations: 'sent', roles: 'sent' },
].map((expected, step) => ({ step, expected }));
