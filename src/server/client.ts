import { assign, type Fields, mapValues, reveal, same } from '../base/values.js';
import { answers, type Parser, pages, requireObject } from './answers.js';
import type { Answer, Call, Confirmation, TransportOptions } from './call.js';
import type { Permit } from './exchange.js';
import {
  fillPath,
  type Operation,
  operationPath,
  operations,
  type PathParameters,
  type ReadOperation,
  type WriteOperation,
  type WriteRequest,
} from './operations.js';
import type { Reader } from './reader.js';
import { Transport } from './transport.js';

/** Changes the server. */
export interface Writer {
  /**
   * Sends a request of the plan; only this reveals secrets. Returns the object in the answer; a DELETE that finds nothing returns 404
   * and no fields. Confirms the permit right before each attempt, and sends nothing without it, nor after `freshUntil`, a time of
   * `performance.now()`. With `earlierAttempts` it makes only one attempt: the caller reads the object again before the next. Throws a
   * `ServerFailure`, an `Expired` or a `Withheld`.
   */
  send(
    request: WriteRequest,
    permit: Permit,
    freshUntil?: number,
    earlierAttempts?: number,
  ): Promise<Answer<Fields>>;
}

/** A connection to a server. Code that gets only the reader can't write. */
export interface Connection {
  readonly reader: Reader;
  readonly writer: Writer;
  /** Closes the connections; no request may be in flight. */
  close(): Promise<void>;
}

/** The parsers of answers to writes; all other writes are answered with whole objects. */
const writeParsers: { readonly [operation in WriteOperation]?: Parser<Fields> } = {
  regenerateDid: answers.client,
  updateUser: answers.user,
  updateTemplate: answers.template,
  deleteTemplate: answers.template,
  updateKeyPair: answers.keyPair,
  rotateKeyPair: answers.keyPair,
  updateOrganization: answers.organization,
  createOrganization: answers.organization,
  createClient: answers.wholeClient,
  updateClient: answers.wholeClient,
  deleteClient: answers.wholeClient,
  createUser: answers.user,
};

/** A reader and a writer for a server; sends nothing yet. */
export function connect(options: TransportOptions): Connection {
  const transport = new Transport(options);
  return { reader: createReader(transport), writer: createWriter(transport), close: () => transport.close() };
}

function createReader(transport: Transport): Reader {
  const read = async <T>(call: Omit<Call<T>, 'method'>): Promise<T> =>
    (await transport.call(assign(call, { method: 'GET' as const }))).data;
  const documented = (operation: ReadOperation): Pick<Call<unknown>, 'operation' | 'title' | 'scope'> => ({
    operation,
    title: operations[operation].title,
    scope: operations[operation].scope,
  });
  return {
    listOrganizations: async (page, isWanted) =>
      read({
        ...documented('listOrganizations'),
        path: `${operationPath('listOrganizations')}?page=${page}`,
        parse: pages.organization,
        isWanted,
      }),
    showTemplate: async (backendId, type, isWanted) =>
      read({
        ...documented('showTemplate'),
        path: operationPath('showTemplate', { backend_id: backendId, template_type: type }),
        parse: requireObject({ backend_id: backendId, type }, answers.template),
        whenMissing: null,
        isWanted,
      }),
    showExtra: async ({ title, path, scope }, params, parse, isWanted) =>
      read({
        operation: null,
        title,
        scope,
        path: fillPath(path, params),
        parse: requireParameter(path, params, parse),
        whenMissing: null,
        isWanted,
      }),
    listExtra: async ({ title, path, scope, pageSize }, page, parse, isWanted) =>
      read({
        operation: null,
        title,
        scope,
        path: pagePath(path, page, pageSize),
        parse,
        whenMissing: null,
        missingStatuses: [404, 406],
        isWanted,
      }),
  };
}

function pagePath(path: string, page: number, size: number | undefined): string {
  const query = [
    ...(page === 1 ? [] : [`page=${page}`]),
    ...(size === undefined ? [] : [`page_size=${size}`]),
  ];
  return query.length === 0 ? path : `${path}?${query.join('&')}`;
}

/** A parser that refuses another object than the one with the id at the end of the path, if there is one. */
function requireParameter<T>(path: string, params: PathParameters, parse: Parser<T>): Parser<T> {
  const [, name = ''] = /\/:([a-z_]+)$/.exec(path) ?? [];
  const { [name]: asked } = params;
  // Templates have types instead of ids.
  return asked === undefined
    ? parse
    : requireObject({ [name === 'template_type' ? 'type' : 'id']: asked }, parse);
}

function createWriter(transport: Transport): Writer {
  return {
    async send({ operation, params, body, beside = {}, confirm }, permit, freshUntil, earlierAttempts) {
      const { title, method, scope, wrapper, outdates }: Operation = operations[operation];
      const call: Call<Fields> = {
        operation,
        title,
        method,
        scope,
        path: operationPath(operation, params),
        parse: requireObject(templateMembers(params), writeParsers[operation] ?? answers.object),
        ...(outdates ? { transientStatuses: [409] } : {}),
        ...(method === 'DELETE' ? { whenMissing: {}, whenEmpty: {} } : {}),
        freshUntil,
        earlierAttempts,
        permit,
      };
      if (wrapper === undefined || body === undefined) return await transport.call(call);
      return await transport.call({
        ...call,
        body: { ...mapValues(beside, reveal), [wrapper]: reveal(body) },
        ...(confirm === undefined
          ? {}
          : { confirm: () => confirmByReading(body, confirm.from, call, transport) }),
      });
    },
  };
}

/** The members that identify a template in answers. */
function templateMembers(params: PathParameters): { readonly [member: string]: string } {
  const { backend_id, identity_provider_id, template_type } = params;
  if (template_type === undefined) return {};
  return {
    ...(backend_id === undefined ? {} : { backend_id }),
    ...(identity_provider_id === undefined ? {} : { identity_provider_id }),
    type: template_type,
  };
}

/** Reads the path of a write to find out whether it was done, or whether somebody else changed the object. */
async function confirmByReading(
  body: Fields,
  from: Fields,
  call: Call<Fields>,
  transport: Transport,
): Promise<Confirmation<Fields>> {
  const { title, scope, path, parse } = call;
  const { data } = await transport.call({
    operation: null,
    title: `read back, to ${title}`,
    method: 'GET',
    scope,
    path,
    parse,
    whenMissing: {},
  });
  const isDone = Object.entries(body).every(([field, asked]) => same(asked, data[field] ?? null));
  if (isDone) return { done: data };
  const isChanged = Object.entries(from).some(
    ([field, was]) => data[field] !== undefined && !same(was, data[field] ?? null),
  );
  return isChanged ? 'changed' : 'not-done';
}
