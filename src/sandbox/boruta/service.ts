import { authenticate, type Caller, type Credentials } from '../auth.js';
import type { SandboxData } from '../data.js';
import { type Answer, parseTarget, type ReceivedRequest, Refused, type Service } from '../http.js';
import { isObject } from '../json.js';
import type { SandboxOptions, Scope } from '../options.js';
import { matchPath, type RouteMatch } from '../routes.js';
import type { Work } from '../work.js';
import { Crash, missingWrapper, noRoute, notAcceptable, notUuid, refusal } from './answers.js';
import { readUuid } from './fields.js';
import { type Handler, routes } from './routes.js';

const bodyLimit = 8_000_000;
const targetLimit = 8_000;

/** A server that behaves like Boruta, including its traps. */
export function borutaService(
  data: SandboxData,
  credentials: Credentials,
  { pageSize, faults = {}, adminClient }: SandboxOptions & { pageSize: number },
): Service {
  const { staleScopes = false, pause = 0 } = faults;
  const shownScopes = staleScopes ? new Set(data.scopes.map(({ id }) => id)) : undefined;
  // Roles belong to users, so memberships have no roles.
  for (const { organizations } of data.users) for (const membership of organizations) membership.roles = [];
  const shared = { data, pageSize, shownScopes, pause, adminClientId: adminClient?.toLowerCase() };

  const handle = async (request: ReceivedRequest, work: Work): Promise<Answer> => {
    const target = request.target.length > targetLimit ? 'too long' : parseTarget(request.target);
    if (target === 'too long') return { status: 414 };
    if (request.body.kind === 'too large')
      return { status: 413, body: JSON.stringify('Request Entity Too Large') };
    if (request.body.kind === 'malformed')
      throw /json/.test(request.headers.accept ?? '')
        ? refusal(400, 'is not valid JSON')
        : new Refused({ status: 400, body: 'Bad Request' });
    if (target === null) throw refusal(400, 'is not percent-encoded properly');

    const method = request.method === 'HEAD' ? 'GET' : request.method;
    // The server ignores empty segments.
    const segments = target.segments.filter((segment) => segment !== '');
    const match = matchPath(routes, segments).find(({ route }) => route.method === method);
    if (match === undefined) throw method === 'GET' ? notAcceptable() : noRoute(method, request.target);
    if (!acceptsJson(request.headers.accept)) throw notAcceptable();

    // The scheme is case-sensitive.
    const caller = authenticate(request.headers.authorization, /^Bearer$/, credentials);
    if (caller.kind !== 'token') throw unauthorized(caller);
    const has = (scope: Scope): boolean => caller.scopes.includes(scope);
    if (!match.route.scopes.some(has)) throw refusal(403, 'lacks the scope');

    const { wrapper } = match.route.handler;
    const sent = request.body.kind === 'json' && isObject(request.body.value) ? request.body.value : {};
    const resource = wrapper === undefined ? null : sent[wrapper.name];
    if (wrapper !== undefined) {
      if (resource === undefined)
        throw wrapper.checked ? refusal(400, 'is missing from the body') : missingWrapper();
      if (wrapper.checked && wrapper.castable !== true && resource !== null && !isObject(resource))
        throw new Crash('(FunctionClauseError) no function clause matching in Access.get/3');
    }
    const params = readIds(match);
    work.setSteps(match.route.handler.steps ?? (method === 'GET' ? 1 : 2));
    return await match.route.handler.run({
      ...shared,
      work,
      params,
      sentId: match.params[0] ?? '',
      query: target.query,
      resource,
      body: sent,
      ownUserId:
        credentials.tokenOwner?.token === caller.token
          ? credentials.tokenOwner.user.toLowerCase()
          : undefined,
    });
  };

  return {
    bodyLimit,
    handle: (request, work) =>
      handle(request, work).catch((failure: unknown) => {
        if (failure instanceof Crash) return failure.answer(request.headers.authorization);
        throw failure;
      }),
  };
}

function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined) return true;
  return accept
    .split(',')
    .map((part) => part.replace(/;.*/s, '').trim().toLowerCase())
    .some((type) => ['*/*', 'application/*', 'application/json'].includes(type));
}

function unauthorized(caller: Exclude<Caller, { kind: 'token' }>): Refused {
  const message =
    caller.kind === 'missing' ? undefined : `Provided access token ${caller.token} is ${caller.kind}.`;
  return refusal(401, 'is unauthorized', message);
}

function readIds({ route, params }: RouteMatch<Handler>): string[] {
  const [sent, ...rest] = params;
  if (sent === undefined || !route.path.includes('/:id')) return params;
  const id = readUuid(sent);
  if (id === null) throw (route.handler.notUuid ?? notUuid)(sent);
  return [id, ...rest];
}
