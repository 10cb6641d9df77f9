import { type Caller, type Credentials, identify } from '../auth.js';
import type { SandboxData } from '../data.js';
import type { Answer, Body, Call, Service } from '../http.js';
import { splitTarget } from '../http.js';
import { isObject, type JsonObject } from '../json.js';
import { type Match, matchPath } from '../routes.js';
import type { Work } from '../work.js';
import { crash, notAcceptable, notFound, noUuid, refusal, unprocessable } from './answers.js';
import { type Handler, routes } from './routes.js';
import { readUuid } from './texts.js';

const bodyLimit = 8_000_000;
const targetLimit = 8_000;

/** What all requests share. */
interface House {
  data: SandboxData;
  credentials: Credentials;
  pageSize: number;
  shownScopes: ReadonlySet<string> | undefined;
}

/** A real Boruta as it was seen, traps included; with `staleScopes` one of nodes that aren't clustered. */
export function borutaService(
  data: SandboxData,
  credentials: Credentials,
  pageSize: number,
  staleScopes: boolean,
): Service {
  const shownScopes = staleScopes ? new Set(data.scopes.map(({ id }) => id)) : undefined;
  const house = { data, credentials, pageSize, shownScopes };
  return { bodyLimit, handle: (call, work) => handle(call, work, house) };
}

async function handle(call: Call, work: Work, house: House): Promise<Answer> {
  const { credentials, data, pageSize, shownScopes } = house;
  const target = call.target.length > targetLimit ? 'too long' : splitTarget(call.target);
  if (target === 'too long') return { status: 414 };
  if (call.body.kind === 'too large')
    return { status: 413, body: JSON.stringify('Request Entity Too Large') };
  if (call.body.kind === 'malformed') return refusal(400, 'is not valid JSON');
  if (target === null) return refusal(400, 'is not percent-encoded properly');

  const match = matchPath(routes, target.segments).find(({ route }) => route.method === call.method);
  if (match === undefined) return call.method === 'GET' ? notAcceptable() : notFound();
  if (!acceptsJson(call.headers.accept)) return notAcceptable();

  // The scheme's letter case matters here.
  const caller = identify(call.headers.authorization, /^Bearer$/, credentials);
  if (caller.kind !== 'token') return unauthorized(caller);
  if (!caller.scopes.includes(match.route.scope)) return refusal(403, 'lacks the scope');

  const ids = readIds(match);
  if ('bad' in ids) {
    return match.route.path.startsWith('/api/organizations/') ? notFound() : noUuid(ids.bad);
  }
  const read = readResource(call.body, match.route.handle.wrapper, caller.token);
  if ('answer' in read) return read.answer;
  work.expect(match.route.handle.steps ?? (call.method === 'GET' ? 1 : 2));
  return await match.route.handle.run({
    data,
    work,
    shownScopes,
    pageSize,
    params: ids.good,
    sentId: match.params[0] ?? '',
    query: target.query,
    resource: read.resource,
    token: caller.token,
    ownUserId: credentials.own?.token === caller.token ? credentials.own.user.toLowerCase() : undefined,
  });
}

function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined || accept.trim() === '') return true;
  return accept
    .split(',')
    .map((part) => part.replace(/;.*/s, '').trim().toLowerCase())
    .some((type) => ['*/*', 'application/*', 'application/json'].includes(type));
}

function unauthorized(caller: Exclude<Caller, { kind: 'token' }>): Answer {
  switch (caller.kind) {
    case 'missing':
      return refusal(401, 'is unauthorized');
    case 'wrong':
      return refusal(401, 'is unauthorized', `Provided access token ${caller.token} is invalid.`);
    case 'expired':
      return refusal(401, 'is unauthorized', `Provided access token ${caller.token} is expired.`);
  }
}

function readIds({ route, params }: Match<Handler>): { good: string[] } | { bad: string } {
  const names = route.path.split('/').filter((part) => part.startsWith(':'));
  const good: string[] = [];
  for (const [index, value] of params.entries()) {
    const id = names[index] === ':type' ? value : readUuid(value);
    if (id === null) return { bad: value };
    good.push(id);
  }
  return { good };
}

// No document and no observation says which of 422 and 500 it is, only that nothing else is a resource.
function readResource(
  body: Body,
  wrapper: string | undefined,
  token: string,
): { resource: JsonObject } | { answer: Answer } {
  if (wrapper === undefined) return { resource: {} };
  const resource = body.kind === 'json' && isObject(body.value) ? body.value[wrapper] : undefined;
  if (isObject(resource)) return { resource };
  if (resource === undefined) return { answer: refusal(400, 'is missing from the body') };
  if (resource === null || Array.isArray(resource))
    return { answer: unprocessable({ [wrapper]: ['is invalid'] }) };
  return { answer: crash('(Ecto.CastError) expected params to be a :map', token) };
}
