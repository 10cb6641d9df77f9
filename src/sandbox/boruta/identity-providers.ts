import { randomUUID } from 'node:crypto';
import {
  findById,
  type SandboxData,
  type SandboxIdentityProvider,
  type SandboxPageTemplate,
} from '../data.js';
import { isObject, type JsonObject } from '../json.js';
import { providerFlags } from '../seed.js';
import { Crash, nulRefused, refusal, rowNotFound, unprocessable } from './answers.js';
import { presentBackend } from './backends.js';
import { pageTypes } from './built-in-templates.js';
import { checkedText, type Errors, flag, hasNul, isBlank, readUuid, requiredText } from './fields.js';
import { forgetPages } from './page-templates.js';
import type { Resource } from './resource.js';

/** Identity providers. A PATCH writes a changed backend, then crashes. */
export const identityProviders: Resource<SandboxIdentityProvider> = {
  path: '/api/identity-providers',
  rows: (data) => data.identityProviders,
  show({ data }, provider) {
    const backend = findById(data.backends, provider.backend_id);
    return { ...provider, backend: backend === undefined ? null : presentBackend(data, backend) };
  },
  onMissing: () => rowNotFound('IdentityProvider'),
  fields: {
    name: requiredText,
    // Only the database checks that it is a UUID.
    backend_id: checkedText((id) => readUuid(id) ?? id),
    ...Object.fromEntries(Object.entries(providerFlags).map(([name, initial]) => [name, flag(initial)])),
  },
  onInvalidId: 'crash',
  crashesWithoutObject: true,
  isReferenced: (data, { id }) =>
    clientsOf(data, id).length > 0 || data.pageTemplates.some((one) => one.identity_provider_id === id),
  async beforeValidation(_operation, provider, { templates }) {
    if (provider !== undefined && !isTemplateList(templates))
      throw new Crash('(Protocol.UndefinedError) protocol Enumerable not implemented');
  },
  validate(_draft, { templates = [] }): Errors {
    if (!isTemplateList(templates)) return { templates: ['is invalid'] };
    const errors = Array.isArray(templates) ? templates.map(templateErrors) : [];
    return errors.some((one) => Object.keys(one).length > 0) ? { templates: errors } : {};
  },
  beforeWrite({ data }, draft, sent, rows) {
    if (readUuid(draft.backend_id) === null)
      throw new Crash('(Ecto.ChangeError) value for IdentityProvider.backend_id does not match type');
    if (rows.some(({ name }) => name === draft.name))
      throw unprocessable({ name: ['has already been taken'] });
    if (findById(data.backends, draft.backend_id) === undefined)
      throw unprocessable({ backend_id: ['does not exist'] });
    if (sent.templates === undefined) return;
    const templates = readTemplates(sent.templates, draft.id);
    if (templates.length > 0) forgetPages(data, draft.id);
    const others = data.pageTemplates.filter((one) => one.identity_provider_id !== draft.id);
    data.pageTemplates = [...others, ...templates];
  },
  afterWrite(data, provider, before) {
    if (provider === undefined)
      data.pageTemplates = data.pageTemplates.filter((one) => one.identity_provider_id !== before?.id);
  },
  async afterRow(_operation, provider, _sent, before) {
    if (before !== undefined && before.backend_id !== provider.backend_id)
      throw new Crash('(KeyError) key :id not found in: #Ecto.Association.NotLoaded<:backend>');
  },
  checkDeletion({ data, adminClientId }, { id }) {
    const clients = clientsOf(data, id);
    if (clients.includes(adminClientId ?? '')) throw refusal(403, 'is write protected');
    const message = `identity provider is associated with client(s) ${clients.join(', ')}`;
    if (clients.length > 0) throw unprocessable({ client_identity_providers: [message] });
  },
};

/** The ids of the clients that use a provider. */
function clientsOf({ clients }: SandboxData, id: string): string[] {
  return clients.filter((one) => one.identity_provider?.id === id).map((client) => client.id);
}

/** The templates that replace all others. */
function readTemplates(given: unknown, provider: string): SandboxPageTemplate[] {
  const sent: JsonObject[] = Array.isArray(given) ? given : [];
  if (hasNul(sent)) throw nulRefused();
  if (new Set(sent.map(({ type }) => type)).size < sent.length)
    throw new Crash('(Ecto.ConstraintError) relying_party_templates_relying_party_id_type_index');
  return sent.map(({ type, content }) => ({
    id: randomUUID(),
    identity_provider_id: provider,
    type: String(type),
    content: String(content),
  }));
}

function isTemplateList(sent: unknown): boolean {
  return sent === undefined || isObject(sent) || (Array.isArray(sent) && sent.every(isObject));
}

function templateErrors({ type, content }: JsonObject): Record<string, string[]> {
  const isText = typeof content === 'string' && !isBlank(content);
  return {
    ...(typeof type === 'string' && pageTypes.has(type) ? {} : { type: ['is invalid'] }),
    ...(isText ? {} : { content: [`can't be blank`] }),
  };
}
