import type { SandboxBackend, SandboxData } from '../data.js';
import type { JsonObject } from '../json.js';
import { presentRole } from './roles.js';

/** A backend, with its passwords. */
export function presentBackend(data: SandboxData, backend: SandboxBackend): JsonObject {
  return { ...backend, roles: backend.roles.map((role) => presentRole(data, role)) };
}
