import { randomUUID } from 'node:crypto';
import type { Answer } from '../http.js';
import { didOfKey } from '../seed.js';
import { flag, members, text } from './fields.js';
import { named, type Operation, ok, readResource } from './operation.js';

/** Operation 1, with a new DID each time. */
export function regenerateDid(operation: Operation): Answer {
  const client = named(operation.data.clients, operation);
  client.did = didOfKey(randomUUID());
  return ok(client);
}

const keyPairFields = members({ id: text, public_key: text, is_default: flag });

/** Operation 5. A new default replaces the old one. */
export function updateKeyPair(operation: Operation): Answer {
  const { keyPairs } = operation.data;
  const keyPair = named(keyPairs, operation);
  const { id: _, ...changes } = readResource(keyPairFields, operation);
  if (changes.is_default === true) for (const other of keyPairs) other.is_default = false;
  return ok(Object.assign(keyPair, changes));
}

const organizationFields = members({ id: text, name: text, label: text });

/** Operation 6. */
export function updateOrganization(operation: Operation): Answer {
  const organization = named(operation.data.organizations, operation);
  const { id: _, ...changes } = readResource(organizationFields, operation);
  return ok(Object.assign(organization, changes));
}

/** Operation 8: oldest first, so that pages don't shift. `q` searches in names. */
export function listOrganizations({ data, pageSize, query }: Operation): Answer {
  const q = query.get('q') ?? '';
  const found = data.organizations.filter(({ name }) => (name ?? '').includes(q));
  const requestedPage = query.get('page') ?? '';
  const page = /^[1-9]\d{0,8}$/.test(requestedPage) ? Number(requestedPage) : 1;
  return {
    status: 200,
    body: {
      data: found.slice((page - 1) * pageSize, page * pageSize),
      page_number: page,
      page_size: pageSize,
      total_pages: Math.ceil(found.length / pageSize),
      total_entries: found.length,
    },
  };
}
