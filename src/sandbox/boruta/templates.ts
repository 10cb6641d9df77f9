import { randomUUID } from 'node:crypto';
import type { SandboxData, SandboxTemplate } from '../data.js';
import type { Answer } from '../http.js';
import { isObject, type JsonObject } from '../json.js';
import { crash, noRow, notCastable, nul, ok, unprocessable } from './answers.js';
import { type BuiltIn, builtIn } from './built-in.js';
import { findById, type Operation } from './operation.js';
import { hasNul, isBlank, readUuid } from './texts.js';

interface Place {
  backendId: string;
  type: string;
  /** The customised template, if there is one. */
  stored: SandboxTemplate | undefined;
}

/** The template of a path; null if there is no such backend or type. */
function locate({ data, params }: Operation): Place | null {
  const [backendId = '', type = ''] = params;
  if (!builtIn.has(type) || findById(data.backends, backendId) === undefined) return null;
  return { backendId, type, stored: findAt(data, backendId, type) };
}

function findAt(data: SandboxData, backendId: string, type: string): SandboxTemplate | undefined {
  return data.templates.find((template) => template.backend_id === backendId && template.type === type);
}

function present({ backendId, type, stored }: Place): Answer {
  return ok(stored ?? { id: null, ...builtIn.get(type), type, backend_id: backendId });
}

/** GET. A template that isn't customised is the built-in one, without an id. */
export async function showTemplate(operation: Operation): Promise<Answer> {
  const place = await operation.work.read(() => locate(operation));
  return place === null ? noRow('EmailTemplate') : present(place);
}

/** DELETE, which answers with the built-in template. */
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
 * PATCH. A body that is absent or unchanged becomes the built-in one. The path names the template; a type or backend in the request
 * moves it.
 */
export async function updateTemplate(operation: Operation): Promise<Answer> {
  const { data, work, resource, token } = operation;
  const place = await work.read(() => locate(operation));
  if (place === null) return noRow('EmailTemplate');
  if (!isObject(resource)) return notCastable(resource);
  const { type = place.type, backend_id = place.backendId } = resource;
  const fallback = typeof type === 'string' ? builtIn.get(type) : undefined;
  const errors = textErrors(resource, ['txt_content', 'html_content', 'type', 'backend_id']);
  if (fallback === undefined) errors.type ??= ['is invalid'];
  if (typeof type !== 'string' || fallback === undefined || Object.keys(errors).length > 0)
    return unprocessable(errors);
  const backendId = readUuid(backend_id);
  const fits = place.stored !== undefined || backend_id === place.backendId;
  if (!fits || backendId === null || findById(data.backends, backendId) === undefined)
    return crash('(Ecto.ConstraintError) email_templates_backend_id_fkey (foreign_key_constraint)', token);
  if (hasNul(resource.txt_content) || hasNul(resource.html_content)) return nul();

  return await work.write(() => {
    const stored = findAt(data, place.backendId, place.type);
    const inTheWay = findAt(data, backendId, type);
    if (inTheWay !== undefined && inTheWay !== stored)
      return crash('(Ecto.ConstraintError) email_templates_type_backend_id_index (unique_constraint)', token);
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

function textErrors(resource: JsonObject, fields: readonly string[]): Record<string, string[]> {
  const errors: Record<string, string[]> = {};
  for (const field of fields) {
    const sent = resource[field];
    if (sent === undefined) continue;
    if (sent === null || (typeof sent === 'string' && isBlank(sent))) errors[field] = ["can't be blank"];
    else if (typeof sent !== 'string') errors[field] = ['is invalid'];
  }
  return errors;
}
