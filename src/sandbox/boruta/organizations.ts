import type { Answer } from '../http.js';
import { crash, notFound, ok, unprocessable } from './answers.js';
import { findById, type Operation } from './operation.js';
import { paginate } from './pages.js';

// The width of the database's columns, in characters.
const width = 255;

/** GET of all: the page size is the server's own, and searching is broken. */
export async function listOrganizations(operation: Operation): Promise<Answer> {
  const { data, work, query, pageSize, token } = operation;
  return await work.read(() => {
    if (query.has('q')) {
      return crash('(Ecto.QueryError) field `email` in `where` does not exist in schema Organization', token);
    }
    return paginate(data.organizations, query.get('page'), pageSize, (organization) => organization);
  });
}

/** GET of one. */
export async function showOrganization({ data, work, params: [id] }: Operation): Promise<Answer> {
  const organization = await work.read(() => findById(data.organizations, id));
  return organization === undefined ? notFound() : ok(organization);
}

/** PATCH replaces: what the body leaves out is gone. */
export async function updateOrganization(operation: Operation): Promise<Answer> {
  const { data, work, params, resource, token } = operation;
  const [id] = params;
  const organization = await work.read(() => findById(data.organizations, id));
  if (organization === undefined) return notFound();
  const name = resource.name === '' ? null : (resource.name ?? null);
  const label = resource.label === '' ? null : (resource.label ?? null);
  const errors: Record<string, string[]> = {};
  if (name === null) errors.name = ["can't be blank"];
  if (name !== null && typeof name !== 'string') errors.name = ['is invalid'];
  if (label !== null && typeof label !== 'string') errors.label = ['is invalid'];
  if (typeof name !== 'string' || Object.keys(errors).length > 0) return unprocessable(errors);
  const text = typeof label === 'string' ? label : null;
  if ([...name].length > width || [...(text ?? '')].length > width) {
    return crash('(Postgrex.Error) ERROR 22001 value too long for type character varying(255)', token);
  }
  return await work.write(() => {
    organization.name = name;
    organization.label = text;
    // The database writes a changed row anew, and lists rows as it finds them.
    data.organizations.splice(data.organizations.indexOf(organization), 1);
    data.organizations.push(organization);
    return ok(organization);
  });
}
