import { randomUUID } from 'node:crypto';
import { findById, type SandboxTemplate } from '../data.js';
import type { JsonObject } from '../json.js';
import { Crash, nulRefused, ok, rowNotFound, unprocessable } from './answers.js';
import { type EmailBodies, emailTypes } from './built-in-templates.js';
import { hasNul, isBlank, readUuid } from './fields.js';
import { type TemplateSet, templateOperations } from './template-operations.js';

const templates: TemplateSet<SandboxTemplate> = {
  types: emailTypes,
  rows: (data) => data.templates,
  parentIds: ({ data, params: [id = ''] }) =>
    findById(data.backends, id) === undefined ? undefined : { backend_id: id },
  onMissing: () => rowNotFound('EmailTemplate'),
};

/**
 * The email templates of backends. In a PATCH, a body that is omitted or unchanged becomes the built-in one, and a type or backend
 * in the request moves the template.
 */
export const emailTemplates = templateOperations(
  templates,
  async ({ data, work, params: [pathId = ''] }, place, sent) => {
    const { type = place.type, backend_id = pathId } = sent;
    const builtIn = typeof type === 'string' ? emailTypes.get(type) : undefined;
    const errors = textErrors(sent, ['txt_content', 'html_content', 'type', 'backend_id']);
    if (builtIn === undefined) errors.type ??= ['is invalid'];
    if (typeof type !== 'string' || builtIn === undefined || Object.keys(errors).length > 0)
      throw unprocessable(errors);
    const backendId = readUuid(backend_id);
    const isAllowed = place.stored !== undefined || backend_id === pathId;
    if (!isAllowed || backendId === null || findById(data.backends, backendId) === undefined)
      throw new Crash('(Ecto.ConstraintError) email_templates_backend_id_fkey (foreign_key_constraint)');
    if (hasNul(sent.txt_content) || hasNul(sent.html_content)) throw nulRefused();

    return await work.write(() => {
      const stored = place.findStored(place.type);
      const conflicting = place.findStored(type, { backend_id: backendId });
      if (conflicting !== undefined && conflicting !== stored)
        throw new Crash('(Ecto.ConstraintError) email_templates_type_backend_id_index (unique_constraint)');
      const before = stored ?? emailTypes.get(place.type);
      const newBody = (name: keyof EmailBodies): string => {
        const body = sent[name];
        return typeof body === 'string' && body !== before?.[name] ? body : builtIn[name];
      };
      const changed = {
        id: stored?.id ?? randomUUID(),
        type,
        backend_id: backendId,
        txt_content: newBody('txt_content'),
        html_content: newBody('html_content'),
      };
      if (stored === undefined) data.templates.push(changed);
      else Object.assign(stored, changed);
      return ok(changed);
    });
  },
);

function textErrors(sent: JsonObject, fields: readonly string[]): Record<string, string[]> {
  const errors: Record<string, string[]> = {};
  for (const field of fields) {
    const text = sent[field];
    if (text === undefined) continue;
    if (text === null || (typeof text === 'string' && isBlank(text))) errors[field] = ["can't be blank"];
    else if (typeof text !== 'string') errors[field] = ['is invalid'];
  }
  return errors;
}
