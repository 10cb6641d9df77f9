import { authenticate, type Credentials } from '../auth.js';
import type { SandboxData } from '../data.js';
import { type Answer, type Body, parseTarget, type ReceivedRequest, type Service } from '../http.js';
import { isObject, type JsonObject } from '../json.js';
import { matchPath, type Route, route } from '../routes.js';
import { errors, notFound, type Operation, refusal } from './operation.js';
import { listOrganizations, regenerateDid, updateKeyPair, updateOrganization } from './resources.js';
import { deleteTemplate, showTemplate, updateTemplate } from './templates.js';
import { updateUser } from './users.js';

interface Handler {
  /** The member that wraps the resource in the body; operations without one ignore their body. */
  wrapper?: string;
  run(operation: Operation): Answer;
}

const clients = 'clients:manage:all';
const users = 'users:manage:all';
const providers = 'identity-providers:manage:all';
const template = '/api/backends/:backend_id/email-templates/:template_type';

const routes: readonly Route<Handler>[] = [
  route('POST', '/api/clients/:client_id/regenerate_did', clients, { run: regenerateDid }),
  route('PATCH', '/api/users/:user_id', users, { wrapper: 'user', run: updateUser }),
  route('PATCH', template, providers, { wrapper: 'template', run: updateTemplate }),
  route('DELETE', template, providers, { run: deleteTemplate }),
  route('PATCH', '/api/key-pairs/:key_pair_id', clients, { wrapper: 'key_pair', run: updateKeyPair }),
  route('PATCH', '/api/organizations/:organization_id', users, {
    wrapper: 'organization',
    run: updateOrganization,
  }),
  route('GET', template, providers, { run: showTemplate }),
  route('GET', '/api/organizations', users, { run: listOrganizations }),
];

/** A server as the API document describes it, and as strict as possible where the document leaves something open. */
export function documentedService(data: SandboxData, credentials: Credentials, pageSize: number): Service {
  const handle = (call: ReceivedRequest): Answer => {
    const target = parseTarget(call.target);
    if (target === null) throw errors(400, { path: ['is not percent-encoded properly'] });
    const matches = matchPath(routes, target.segments);
    if (matches.length === 0) throw notFound();
    const match = matches.find(({ route }) => route.method === call.method);
    if (match === undefined) {
      const allow = matches.map(({ route }) => route.method).join(', ');
      throw refusal(405, 'METHOD_NOT_ALLOWED', 'The resource has no such method.', { allow });
    }
    const caller = authenticate(call.headers.authorization, /^bearer$/i, credentials);
    if (caller.kind !== 'token') {
      const message = 'The client is unauthorized to access this resource.';
      throw refusal(401, 'UNAUTHORIZED', message, { 'www-authenticate': 'Bearer' });
    }
    if (!match.route.scopes.some((scope) => caller.scopes.includes(scope)))
      throw refusal(403, 'FORBIDDEN', 'The client is forbidden to access this resource.');
    const { wrapper, run } = match.route.handler;
    const resource = wrapper === undefined ? {} : unwrap(call.body, wrapper);
    return run({ data, pageSize, params: match.params, query: target.query, resource });
  };
  return { bodyLimit: 32 * 1024 * 1024, handle: (call, work) => work.write(() => handle(call)) };
}

/** The content of the wrapper in a body. */
function unwrap(body: Body, wrapper: string): JsonObject {
  const wrong = (field: string, message: string) => errors(400, { [field]: [message] });
  if (body.kind === 'too large') throw errors(413, { body: ['is too large'] });
  if (body.kind === 'none') throw wrong('body', 'is missing');
  if (body.kind !== 'json') throw wrong('body', 'is not JSON');
  if (!isObject(body.value)) throw wrong('body', 'must be an object');
  if (!Object.hasOwn(body.value, wrapper)) throw wrong(wrapper, 'is missing');
  const resource = body.value[wrapper];
  if (!isObject(resource)) throw wrong(wrapper, 'must be an object');
  return resource;
}
