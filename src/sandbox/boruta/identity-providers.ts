import { randomUUID } from 'node:crypto';
import type { SandboxData, SandboxIdentityProvider, SandboxPageTemplate } from '../data.js';
import type { Answer } from '../http.js';
import { isObject, type JsonObject } from '../json.js';
import { providerFlags } from '../seed.js';
import { crash, nulRefused, refusal, rowNotFound, unprocessable } from './answers.js';
import { presentBackend } from './backends.js';
import { pageTypes } from './built-in-templates.js';
import { checkedText, type Errors, flag, hasNul, isBlank, readUuid, requiredText } from './fields.js';
import { findById } from './operation.js';
import { forgetPages } from './page-templates.js';
import type { Resource } from './resource.js';

/** Identity providers. A PATCH writes a changed backend, then crashes. */
export const identityProviders: Resource<SandboxIdentityProvider> = {
  path: '/api/identity-providers',
  rows: (data) => data.identityProviders,
  show({ data }, provider) {
    const backend = findById(data.backends, provider.backend_id ?? undefined);
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
  async beforeValidation({ token }, provider, { templates }) {
    return provider === undefined || isTemplateList(templates)
      ? undefined
      : crash('(Protocol.UndefinedError) protocol Enumerable not implemented', token);
  },
  validate(_draft, { templates = [] }): Errors {
    if (!isTemplateList(templates)) return { templates: ['is invalid'] };
    const errors = Array.isArray(templates) ? templates.map(templateErrors) : [];
    return errors.some((one) => Object.keys(one).length > 0) ? { templates: errors } : {};
  },
  beforeWrite({ data, token }, draft, sent, rows) {
    if (readUuid(draft.backend_id) === null)
      return crash('(Ecto.ChangeError) value for IdentityProvider.backend_id does not match type', token);
    if (rows.some(({ name }) => name === draft.name))
      return unprocessable({ name: ['has already been taken'] });
    if (findById(data.backends, draft.backend_id ?? undefined) === undefined)
      return unprocessable({ backend_id: ['does not exist'] });
    if (sent.templates === undefined) return undefined;
    const templates = readTemplates(sent.templates, draft.id);
    if (typeof templates === 'string') return crash(templates, token);
    if ('status' in templates) return templates;
    if (templates.length > 0) forgetPages(data, draft.id);
    const others = data.pageTemplates.filter((one) => one.identity_provider_id !== draft.id);
    data.pageTemplates = [...others, ...templates];
    return undefined;
  },
  afterWrite(data, provider, before) {
    if (provider === undefined)
      data.pageTemplates = data.pageTemplates.filter((one) => one.identity_provider_id !== before?.id);
  },
  async afterRow({ token }, provider, _sent, before) {
    return before === undefined || before.backend_id === provider.backend_id
      ? undefined
      : crash('(KeyError) key :id not found in: #Ecto.Association.NotLoaded<:backend>', token);
  },
  refuseDeletion({ data, adminClientId }, { id }) {
    const clients = clientsOf(data, id);
    if (clients.includes(adminClientId ?? '')) return refusal(403, 'is write protected');
    const message = `identity provider is associated with client(s) ${clients.join(', ')}`;
    return clients.length === 0 ? undefined : unprocessable({ client_identity_providers: [message] });
  },
};

/** The ids of the clients that use a provider. */
function clientsOf({ clients }: SandboxData, id: string): string[] {
  return clients.filter((one) => one.identity_provider?.id === id).map((client) => client.id);
}

/** The templates that replace all others; an answer if they are refused, a string if the server crashes. */
function readTemplates(given: unknown, provider: string): SandboxPageTemplate[] | Answer | string {
  const sent: JsonObject[] = Array.isArray(given) ? given : [];
  if (hasNul(sent)) return nulRefused();
  if (new Set(sent.map(({ type }) => type)).size < sent.length)
    return '(Ecto.ConstraintError) relying_party_templates_relying_party_id_type_index';
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
