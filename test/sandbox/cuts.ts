import { ids } from '../demo-ids.js';
import type { SandboxApi } from './api.js';

export const path = `/api/users/${ids.ada}`;

/** A change of all fields of Ada. */
export const changed = {
  metadata: { department: { value: 'audit', status: 'valid' } },
  group: 'audit',
  authorized_scopes: [{ id: ids.reportsRead }],
  organizations: [{ id: ids.initech }],
  roles: [{ id: ids.accountant }],
};

/** Whether each of Ada's fields is as before, empty, or as sent. */
export function state({ user }: SandboxApi): Record<string, string> {
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
    // Ada has one role before, and another after.
    roles: list(ada.roles, ids.accountant),
  };
}

/** The expected `state` after each write of a PATCH. */
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
