import { type Caller, type Credentials, identify } from '../auth.js';
import type { SandboxData } from '../data.js';
import { type Answer, type Call, type Service, splitTarget } from '../http.js';
import { isObject } from '../json.js';
import type { SandboxOptions, Scope } from '../options.js';
import { type Match, matchPath } from '../routes.js';
import type { Work } from '../work.js';
import { crash, noAction, noRoute, notAcceptable, noUuid, refusal } from './answers.js';
import type { Operation } from './operation.js';
import { type Handler, routes } from './routes.js';
import { readUuid } from './texts.js';

const bodyLimit = 8_000_000;
const targetLimit = 8_000;
/** What all requests share. */
interface House extends Pick<Operation, 'data' | 'pageSize' | 'shownScopes' | 'pause' | 'adminClientId'> {
  credentials: Credentials;
}

/** A server that behaves as Boruta was observed to, with its traps. */
export function borutaService(
  data: SandboxData,
  credentials: Credentials,
  { pageSize, faults = {}, adminClient }: SandboxOptions & { pageSize: number },
): Service {
  const { staleScopes = false, pause = 0 } = faults;
  const shownScopes = staleScopes ? new Set(data.scopes.map(({ id }) => id)) : undefined;
  // Roles belong to users, so memberships have none.
  for (const { organizations } of data.users) for (const membership of organizations) membership.roles = [];
  const adminClientId = adminClient?.toLowerCase();
  const house = { data, credentials, pageSize, shownScopes, pause, adminClientId };
  return { bodyLimit, handle: (call, work) => handle(call, work, house) };
}

async function handle(call: Call, work: Work, house: House): Promise<Answer> {
  const { credentials, ...shared } = house;
  const target = call.target.length > targetLimit ? 'too long' : splitTarget(call.target);
  if (target === 'too long') return { status: 414 };
  if (call.body.kind === 'too large')
    return { status: 413, body: JSON.stringify('Request Entity Too Large') };
  const askedForJson = acceptsJson(call.headers.accept);
  if (call.body.kind === 'malformed')
    return /json/.test(call.headers.accept ?? '')
      ? refusal(400, 'is not valid JSON')
      : { status: 400, body: 'Bad Request' };
  if (target === null) return refusal(400, 'is not percent-encoded properly');

  const method = call.method === 'HEAD' ? 'GET' : call.method;
  // Empty segments are ignored everywhere.
  const segments = target.segments.filter((segment) => segment !== '');
  const match = matchPath(routes, segments).find(({ route }) => route.method === method);
  if (match === undefined) return method === 'GET' ? notAcceptable() : noRoute(method, call.target);
  if (!askedForJson) return notAcceptable();

  // The scheme is case-sensitive.
  const caller = identify(call.headers.authorization, /^Bearer$/, credentials);
  if (caller.kind !== 'token') return unauthorized(caller);
  const has = (scope: Scope): boolean => caller.scopes.includes(scope);
  if (!match.route.scopes.some(has)) return refusal(403, 'lacks the scope');

  const { wrapper } = match.route.handle;
  const sent = call.body.kind === 'json' && isObject(call.body.value) ? call.body.value : {};
  const resource = wrapper === undefined ? null : sent[wrapper.name];
  if (wrapper !== undefined) {
    if (resource === undefined)
      return wrapper.checked ? refusal(400, 'is missing from the body') : noAction(caller.token);
    if (wrapper.checked && wrapper.castable !== true && resource !== null && !isObject(resource))
      return crash('(FunctionClauseError) no function clause matching in Access.get/3', caller.token);
  }
  const ids = readIds(match);
  if ('answer' in ids) return ids.answer;
  work.expect(match.route.handle.steps ?? (method === 'GET' ? 1 : 2));
  return await match.route.handle.run({
    ...shared,
    work,
    params: ids.good,
    sentId: match.params[0] ?? '',
    query: target.query,
    resource,
    body: sent,
    token: caller.token,
    ownUserId: credentials.own?.token === caller.token ? credentials.own.user.toLowerCase() : undefined,
  });
}

function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined) return true;
  return accept
    .split(',')
    .map((part) => part.replace(/;.*/s, '').trim().toLowerCase())
    .some((type) => ['*/*', 'application/*', 'application/json'].includes(type));
}

function unauthorized(caller: Exclude<Caller, { kind: 'token' }>): Answer {
  const message =
    caller.kind === 'missing' ? undefined : `Provided access token ${caller.token} is ${caller.kind}.`;
  return refusal(401, 'is unauthorized', message);
}

function readIds({ route, params }: Match<Handler>): { good: string[] } | { answer: Answer } {
  const [sent, ...rest] = params;
  if (sent === undefined || !route.path.includes('/:id')) return { good: params };
  const id = readUuid(sent);
  return id === null ? { answer: (route.handle.noUuid ?? noUuid)(sent) } : { good: [id, ...rest] };
}
