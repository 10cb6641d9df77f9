import { randomUUID } from 'node:crypto';
import type { SandboxTemplate } from '../data.js';
import type { Answer } from '../http.js';
import { notFound, ok, unprocessable } from './answers.js';
import { type BuiltIn, builtIn } from './built-in.js';
import { findById, type Operation } from './operation.js';

interface Place {
  backendId: string;
  type: string;
  fallback: BuiltIn;
  /** The customised template, if there is one. */
  stored: SandboxTemplate | undefined;
}

function locate({ data, params }: Operation, type: unknown): Place | null {
  const [backendId = ''] = params;
  if (typeof type !== 'string' || findById(data.backends, backendId) === undefined) return null;
  const fallback = builtIn.get(type);
  if (fallback === undefined) return null;
  const stored = data.templates.find(
    (template) => template.backend_id === backendId && template.type === type,
  );
  return { backendId, type, fallback, stored };
}

function present({ backendId, type, fallback, stored }: Place): Answer {
  return ok(stored ?? { id: null, ...fallback, type, backend_id: backendId });
}

/** GET: a template that was never customised is the built-in one, without an id. */
export async function showTemplate(operation: Operation): Promise<Answer> {
  const place = await operation.work.read(() => locate(operation, operation.params[1]));
  return place === null ? notFound() : present(place);
}

/** DELETE: answers with what the server sends from now on. */
export async function deleteTemplate(operation: Operation): Promise<Answer> {
  const { data, params, work } = operation;
  const place = await work.read(() => locate(operation, params[1]));
  const stored = place?.stored;
  if (place === null || stored === undefined) return notFound();
  return await work.write(() => {
    data.templates.splice(data.templates.indexOf(stored), 1);
    return present({ ...place, stored: undefined });
  });
}

/** PATCH: a half that isn't there, or that changes nothing, becomes the built-in one. */
export async function updateTemplate(operation: Operation): Promise<Answer> {
  const { data, work, params, resource } = operation;
  const place = await work.read(() =>
    locate(operation, params[1]) === null ? null : locate(operation, resource.type ?? params[1]),
  );
  if (place === null) return notFound();
  const errors: Record<string, string[]> = {};
  for (const half of ['txt_content', 'html_content'] as const) {
    const sent = resource[half];
    if (sent === undefined) continue;
    if (sent === null || sent === '') errors[half] = ["can't be blank"];
    else if (typeof sent !== 'string') errors[half] = ['is invalid'];
  }
  if (Object.keys(errors).length > 0) return unprocessable(errors);

  const half = (name: keyof BuiltIn): string => {
    const sent = resource[name];
    const unchanged = sent === (place.stored ?? place.fallback)[name];
    return typeof sent === 'string' && !unchanged ? sent : place.fallback[name];
  };
  const bodies = { txt_content: half('txt_content'), html_content: half('html_content') };
  return await work.write(() => {
    if (place.stored !== undefined) Object.assign(place.stored, bodies);
    else {
      const { backendId, type } = place;
      place.stored = { id: randomUUID(), backend_id: backendId, type, ...bodies };
      data.templates.push(place.stored);
    }
    return present(place);
  });
}
