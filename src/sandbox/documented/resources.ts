import { randomUUID } from 'node:crypto';
import type { Answer } from '../http.js';
import { didOfKey } from '../seed.js';
import { errorsByField, flag, members, text } from './fields.js';
import { errors, notFound, type Operation, ok } from './operation.js';

/** Operation 1, with a new DID each time. */
export function regenerateDid({ data, params: [id] }: Operation): Answer {
  const client = data.clients.find((candidate) => candidate.id === id);
  if (client === undefined) return notFound();
  client.did = didOfKey(randomUUID());
  return ok(client);
}

const keyPairFields = members({ id: text, public_key: text, is_default: flag });

/** Operation 5. A new default replaces the old one. */
export function updateKeyPair({ data, params: [id], resource }: Operation): Answer {
  const keyPair = data.keyPairs.find((candidate) => candidate.id === id);
  if (keyPair === undefined) return notFound();
  const read = keyPairFields.safeParse(resource);
  if (!read.success) return errors(422, errorsByField(read.error));
  const { id: _, ...changes } = read.data;
  if (changes.is_default === true) for (const other of data.keyPairs) other.is_default = false;
  return ok(Object.assign(keyPair, changes));
}

const organizationFields = members({ id: text, name: text, label: text });

/** Operation 6. */
export function updateOrganization({ data, params: [id], resource }: Operation): Answer {
  const organization = data.organizations.find((candidate) => candidate.id === id);
  if (organization === undefined) return notFound();
  const read = organizationFields.safeParse(resource);
  if (!read.success) return errors(422, errorsByField(read.error));
  const { id: _, ...changes } = read.data;
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
