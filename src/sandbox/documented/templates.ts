import { randomUUID } from 'node:crypto';
import type { SandboxTemplate } from '../data.js';
import type { Answer } from '../http.js';
import { members, text } from './fields.js';
import { named, notFound, type Operation, ok, readResource } from './operation.js';

const fields = members({ id: text, txt_content: text, html_content: text, type: text, backend_id: text });

function find({ data, params: [backendId, type] }: Operation): SandboxTemplate | undefined {
  return data.templates.find((template) => template.backend_id === backendId && template.type === type);
}

/** Operation 7. */
export function showTemplate(operation: Operation): Answer {
  const template = find(operation);
  if (template === undefined) throw notFound();
  return ok(template);
}

/** Operation 4. */
export function deleteTemplate(operation: Operation): Answer {
  const template = find(operation);
  if (template === undefined) throw notFound();
  const { templates } = operation.data;
  templates.splice(templates.indexOf(template), 1);
  return ok(template);
}

/** Operation 3, which also creates a template, since no other operation does. */
export function updateTemplate(operation: Operation): Answer {
  const { data, params } = operation;
  const { id: backendId } = named(data.backends, operation);
  const [, type = ''] = params;
  const { txt_content, html_content } = readResource(fields, operation);
  let template = find(operation);
  if (template === undefined) {
    template = { id: randomUUID(), backend_id: backendId, type, txt_content: null, html_content: null };
    data.templates.push(template);
  }
  if (txt_content !== undefined) template.txt_content = txt_content;
  if (html_content !== undefined) template.html_content = html_content;
  return ok(template);
}
