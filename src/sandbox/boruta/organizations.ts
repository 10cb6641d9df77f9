import type { SandboxOrganization } from '../data.js';
import type { Answer } from '../http.js';
import { Crash, notFound } from './answers.js';
import { requiredText, text } from './fields.js';
import type { Operation } from './operation.js';
import { paginate, type Resource } from './resource.js';

/** Organizations. Their names aren't unique. */
export const organizations: Resource<SandboxOrganization> = {
  rows: (data) => data.organizations,
  show: (_operation, organization) => organization,
  onMissing: notFound,
  fields: { name: requiredText, label: text },
  patchResets: true,
  afterWrite(data, organization, before) {
    if (organization !== undefined) return;
    for (const user of data.users)
      user.organizations = user.organizations.filter(({ id }) => id !== before?.id);
  },
};

/** GET of all, with a fixed page size; any search crashes. */
export async function listOrganizations(operation: Operation): Promise<Answer> {
  const { data, work, query, pageSize } = operation;
  return await work.read(() => {
    if (query.has('q'))
      throw new Crash('(Ecto.QueryError) field `email` in `where` does not exist in schema Organization');
    return paginate(data.organizations, query.get('page'), pageSize, (organization) => organization);
  });
}
