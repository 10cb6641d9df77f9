import { randomUUID } from 'node:crypto';
import type { SandboxData, SandboxTemplate } from '../data.js';
import type { Answer } from '../http.js';
import type { JsonObject } from '../json.js';
import { crash, noRow, nul, ok, unprocessable } from './answers.js';
import { type BuiltIn, builtIn } from './built-in.js';
import { findById, type Operation } from './operation.js';
import { hasNul, isBlank, readUuid } from './texts.js';

interface Place {
  backendId: string;
  type: string;
  /** The customised template, if there is one. */
  stored: SandboxTemplate | undefined;
}

/** Where a path leads; null if no such backend is there, or no such type. */
function locate({ data, params }: Operation): Place | null {
  const [backendId = '', type = ''] = params;
  if (findById(data.backends, backendId) === undefined || !builtIn.has(type)) return null;
  return { backendId, type, stored: findAt(data, backendId, type) };
}

function findAt(data: SandboxData, backendId: string, type: string): SandboxTemplate | undefined {
  return data.templates.find((template) => template.backend_id === backendId && template.type === type);
}

function present({ backendId, type, stored }: Place): Answer {
  return ok(stored ?? { id: null, ...builtIn.get(type), type, backend_id: backendId });
}

/** GET: a template that was never customised is the built-in one, without an id. */
export async function showTemplate(operation: Operation): Promise<Answer> {
  const place = await operation.work.read(() => locate(operation));
  return place === null ? noRow('EmailTemplate') : present(place);
}

/** DELETE: answers with what the server sends from now on. */
export async function deleteTemplate(operation: Operation): Promise<Answer> {
  const { data, work } = operation;
  const place = await work.read(() => locate(operation));
  const stored = place?.stored;
  if (place === null || stored === undefined) return noRow('EmailTemplate');
  return await work.write(() => {
    data.templates.splice(data.templates.indexOf(stored), 1);
    return present({ ...place, stored: undefined });
  });
}

/**
 * PATCH: a half that isn't there, or that changes nothing, becomes the built-in one. The template is whatever
 * the path leads to; a type or backend in the body is where it is afterwards.
 */
export async function updateTemplate(operation: Operation): Promise<Answer> {
  const { data, work, resource, token } = operation;
  const place = await work.read(() => locate(operation));
  if (place === null) return noRow('EmailTemplate');
  const { type = place.type, backend_id = place.backendId } = resource;
  const backendId = readUuid(backend_id);
  const fallback = typeof type === 'string' ? builtIn.get(type) : undefined;
  const errors = halfErrors(resource);
  if (fallback === undefined) errors.type = ['is invalid'];
  if (findById(data.backends, backendId ?? undefined) === undefined) errors.backend_id = ['does not exist'];
  if (typeof type !== 'string' || backendId === null || fallback === undefined) return unprocessable(errors);
  if (Object.keys(errors).length > 0) return unprocessable(errors);
  if (hasNul(resource.txt_content) || hasNul(resource.html_content)) return nul();

  return await work.write(() => {
    const stored = findAt(data, place.backendId, place.type);
    const inTheWay = findAt(data, backendId, type);
    if (inTheWay !== undefined && inTheWay !== stored) {
      return crash('(Ecto.ConstraintError) email_templates_type_backend_id_index (unique_constraint)', token);
    }
    const before = stored ?? builtIn.get(place.type);
    const half = (name: keyof BuiltIn): string => {
      const sent = resource[name];
      return typeof sent === 'string' && sent !== before?.[name] ? sent : fallback[name];
    };
    const changed = {
      id: stored?.id ?? randomUUID(),
      type,
      backend_id: backendId,
      txt_content: half('txt_content'),
      html_content: half('html_content'),
    };
    if (stored === undefined) data.templates.push(changed);
    else Object.assign(stored, changed);
    return ok(changed);
  });
}

function halfErrors(resource: JsonObject): Record<string, string[]> {
  const errors: Record<string, string[]> = {};
  for (const half of ['txt_content', 'html_content'] as const) {
    const sent = resource[half];
    if (sent === undefined) continue;
    if (sent === null || (typeof sent === 'string' && isBlank(sent))) errors[half] = ["can't be blank"];
    else if (typeof sent !== 'string') errors[half] = ['is invalid'];
  }
  return errors;
}
