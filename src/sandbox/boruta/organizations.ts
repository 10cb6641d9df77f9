import type { Answer } from '../http.js';
import { isObject } from '../json.js';
import { crash, notFound, nul, ok, tooLong, unprocessable } from './answers.js';
import { findById, type Operation } from './operation.js';
import { paginate } from './pages.js';
import { hasNul, isBlank, isTooLong } from './texts.js';

/** GET of all, with a fixed page size; searching is broken. */
export async function listOrganizations(operation: Operation): Promise<Answer> {
  const { data, work, query, pageSize, token } = operation;
  return await work.read(() => {
    if (query.has('q')) {
      return crash('(Ecto.QueryError) field `email` in `where` does not exist in schema Organization', token);
    }
    return paginate(data.organizations, query.get('page'), pageSize, (organization) => organization);
  });
}

/** PATCH, which resets what the body leaves out. */
export async function updateOrganization(operation: Operation): Promise<Answer> {
  const { data, work, params, resource, token } = operation;
  const [id] = params;
  const organization = await work.read(() => findById(data.organizations, id));
  if (organization === undefined) return notFound();
  const sent = isObject(resource) ? resource : {};
  const name = readText(sent.name);
  const label = readText(sent.label);
  const errors: Record<string, string[]> = {};
  if (name === null) errors.name = ["can't be blank"];
  if (name === undefined) errors.name = ['is invalid'];
  if (label === undefined) errors.label = ['is invalid'];
  if (typeof name !== 'string' || label === undefined) return unprocessable(errors);
  if (hasNul(name) || hasNul(label)) return nul();
  if (isTooLong(name) || isTooLong(label ?? '')) return tooLong(token);
  return await work.write(() => {
    organization.name = name;
    organization.label = label;
    // The database moves a changed row to the end, and lists rows in that order.
    data.organizations.splice(data.organizations.indexOf(organization), 1);
    data.organizations.push(organization);
    return ok(organization);
  });
}

/** A text; null if it is empty or absent, undefined for another type. */
function readText(sent: unknown): string | null | undefined {
  if (sent === undefined || sent === null) return null;
  if (typeof sent !== 'string') return undefined;
  return isBlank(sent) ? null : sent;
}
