import { randomUUID } from 'node:crypto';
import { findById, type SandboxData, type SandboxErrorTemplate, type SandboxPageTemplate } from '../data.js';
import { Refused } from '../http.js';
import { Crash, ok, rowNotFound, unprocessable } from './answers.js';
import { errorTypes, pageTypes } from './built-in-templates.js';
import { type Fields, readFields, requiredText } from './fields.js';
import { type TemplateSet, templateOperations } from './template-operations.js';

const pageCache = new WeakMap<SandboxData, Map<string, SandboxPageTemplate>>();

/** Removes the pages of an identity provider from the cache. */
export function forgetPages(data: SandboxData, providerId: string): void {
  for (const type of pageTypes.keys()) pageCache.get(data)?.delete(`${providerId}/${type}`);
}

/** The pages of identity providers. */
export const pageTemplates = operationsOf<SandboxPageTemplate>({
  types: pageTypes,
  rows: (data) => data.pageTemplates,
  parentIds: ({ data, params: [id = ''] }) =>
    findById(data.identityProviders, id) === undefined ? undefined : { identity_provider_id: id },
  onMissing: () => rowNotFound('Template'),
  cache: pageCache,
});

/** The error pages of the server. */
export const errorTemplates = operationsOf<SandboxErrorTemplate>({
  types: errorTypes,
  rows: (data) => data.errorTemplates,
  parentIds: () => ({}),
  onMissing: ({ params: [type = ''] }) =>
    /^\d+$/.test(type)
      ? rowNotFound('ErrorTemplate')
      : new Crash('(ArgumentError) not a textual representation of an integer'),
  cache: new WeakMap(),
});

const fields: Fields = {
  content: { ...requiredText, required: false, unlimited: true },
  type: { ...requiredText, required: false },
};

function stale(): Refused {
  const message = '** (Ecto.StaleEntryError) attempted to update a stale entry';
  return new Refused({ status: 409, body: { code: 'CONFLICT', message } });
}

/** Unlike email templates, a PATCH with the stored content keeps it. */
function operationsOf<Row extends SandboxErrorTemplate>(templates: TemplateSet<Row>) {
  return templateOperations(templates, async ({ data, work }, place, sent) => {
    const { values, errors, databaseFailure } = readFields(fields, sent, false);
    const { type = place.type, content = (place.stored ?? templates.types.get(place.type))?.content } =
      values;
    if (!templates.types.has(String(type))) errors.type ??= ['is invalid'];
    if (Object.keys(errors).length > 0) throw unprocessable(errors);
    if (databaseFailure !== undefined) throw databaseFailure;
    const isMoved = Object.entries(place.parentIds).some(([name, id]) => (sent[name] ?? id) !== id);
    if (isMoved) throw new Crash('(ArgumentError) cannot change belongs_to association');
    return await work.write(() => {
      const stored = place.findStored(place.type);
      const conflicting = place.findStored(String(type));
      if (conflicting !== undefined && conflicting !== stored)
        throw new Crash('(Ecto.ConstraintError) templates_type_index (unique_constraint)');
      if (place.cached !== undefined && place.cached.id !== stored?.id) {
        place.forget();
        const isSame =
          place.cached.content === (values.content ?? place.cached.content) && type === place.type;
        if (!isSame) throw stale();
        return ok(place.cached);
      }
      const row = Object.assign(stored ?? { id: randomUUID(), ...place.parentIds }, { type, content }) as Row;
      if (stored === undefined) templates.rows(data).push(row);
      if (type === place.type) place.remember(row);
      else place.forget();
      return ok(row);
    });
  });
}
