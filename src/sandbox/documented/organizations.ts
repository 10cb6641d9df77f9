import { byField, members, text } from '../fields.js';
import type { Answer } from '../http.js';
import { errors, notFound, ok } from './answers.js';
import type { Operation } from './operation.js';

const fields = members({ id: text, name: text, label: text });

/** Operation 6. */
export function updateOrganization({ data, params: [id], resource }: Operation): Answer {
  const organization = data.organizations.find((candidate) => candidate.id === id);
  if (organization === undefined) return notFound();
  const read = fields.safeParse(resource);
  if (!read.success) return errors(422, byField(read.error));
  const { id: _, ...changes } = read.data;
  Object.assign(organization, changes);
  return ok(organization);
}

/** Operation 8: oldest first, so that pages don't shift. `q` searches in names. */
export function listOrganizations({ data, pageSize, query }: Operation): Answer {
  const q = query.get('q') ?? '';
  const found = data.organizations.filter(({ name }) => (name ?? '').includes(q));
  const asked = query.get('page') ?? '';
  const page = /^[1-9]\d{0,8}$/.test(asked) ? Number(asked) : 1;
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
