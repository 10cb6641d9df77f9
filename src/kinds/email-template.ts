import { z } from 'zod';
import { error } from '../problems.js';
import { body, value } from './fields.js';
import type { Kind } from './kind.js';
import { document, identifier, text } from './schema.js';

export const emailTemplate: Kind = {
  name: 'EmailTemplate',
  noun: 'email template',
  schema: document('EmailTemplate', {
    backend_id: identifier(),
    type: identifier(),
    id: text().optional(),
    txt_content: text().nullable().optional(),
    html_content: text().nullable().optional(),
    state: z.enum(['present', 'absent']).optional(),
  }),
  identity: ['backend_id', 'type'],
  fields: { id: value, txt_content: body, html_content: body },
  scopes: { read: 'identity-providers:manage:all', write: 'identity-providers:manage:all' },
  identities: ({ identity }) => [JSON.stringify([identity.backend_id, identity.type])],
  check: (declared) =>
    declared
      .filter(({ absent, fields }) => absent && Object.keys(fields).length > 0)
      .map((template) =>
        error(
          'absent-with-fields',
          'a template with "state: absent" has no other fields',
          Object.keys(template.fields).map((field) => template.placeOf(field)),
          'remove the fields to delete the template, or the state to keep it',
        ),
      ),
};
