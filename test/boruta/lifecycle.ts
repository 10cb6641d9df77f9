import { type Doc, ids, type Site } from './site.js';

export const scope: Doc = { kind: 'Scope', name: 'invoices:read', label: 'Read invoices', create: true };
export const role: Doc = { kind: 'Role', name: 'clerk', scopes: ['invoices:read'], create: true };
export const organization: Doc = { kind: 'Organization', name: 'hooli', label: 'Hooli', create: true };
export const user: Doc = {
  kind: 'User',
  id: ids.ada,
  authorized_scopes: { add: ['invoices:read'] },
  roles: { add: ['clerk'] },
  organizations: { add: ['hooli'] },
};
export const all = [scope, role, organization, user];

export const namesIn = (rows: readonly { name: string | null }[], name: string): number =>
  rows.filter((row) => row.name === name).length;

/** How many of each new object the server has. */
export function counts({ sandbox: { data } }: Site): number[] {
  return [
    namesIn(data.scopes, 'invoices:read'),
    namesIn(data.roles, 'clerk'),
    namesIn(data.organizations, 'hooli'),
  ];
}

export async function reason(at: Site, address: string, ...documents: readonly Doc[]): Promise<string> {
  const { changes } = await at.plan(...documents);
  const change = changes.find((one) => one.address === address);
  return `${change?.action}: ${change?.reason}`;
}
