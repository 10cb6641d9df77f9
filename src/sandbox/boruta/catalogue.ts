import type { Answer } from '../http.js';
import { ok } from './answers.js';
import type { Operation } from './operation.js';

/** GET of all roles, each with its scopes. */
export async function listRoles({ data, work }: Operation): Promise<Answer> {
  return ok(await work.read(() => data.roles));
}

/** GET of all scopes, labels included. */
export async function listScopes({ data, work }: Operation): Promise<Answer> {
  return ok(await work.read(() => data.scopes));
}

/** GET of all backends, passwords included, as a user's answer carries them. */
export async function listBackends({ data, work }: Operation): Promise<Answer> {
  return ok(await work.read(() => data.backends));
}
