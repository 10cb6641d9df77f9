import type { Answer } from '../http.js';

const refusals = {
  400: ['BAD_REQUEST', 'Bad request.'],
  401: ['UNAUTHORIZED', 'You are unauthorized to access this resource.'],
  403: ['FORBIDDEN', 'You are forbidden to access this resource.'],
  404: ['NOT_FOUND', 'The requested resource could not be found.'],
} as const;

/** The answer to a method and path without a route. */
export function noRoute(method: string, path: string): Answer {
  return { status: 404, body: { code: 'NOT_FOUND', message: `no route found for ${method} ${path}` } };
}

/** The answer to a body without the wrapper that an action expects. It contains the whole request, with its token. */
export function missingWrapper(token: string): Answer {
  const { body } = crash('(Phoenix.ActionClauseError) no function clause matching', token);
  return { status: 400, body: { ...body, code: 'BAD_REQUEST' } };
}

/** The answer to a resource that isn't an object. */
export function notCastable(resource: unknown): Answer {
  const error = `(Ecto.CastError) expected params to be a :map, got: ${JSON.stringify(resource)}`;
  return databaseRefusal(400, error);
}

/** A success. */
export function ok(data: unknown): Answer {
  return { status: 200, body: { data } };
}

/** A refusal, in both documented shapes at the same time. */
export function refusal(status: keyof typeof refusals, reason: string, message?: string): Answer {
  const [code, defaultMessage] = refusals[status];
  return { status, body: { code, message: message ?? defaultMessage, errors: { resource: [reason] } } };
}

/** The answer to an unknown id. */
export function notFound(): Answer {
  return refusal(404, 'could not be found');
}

/** A refusal by the database layer; its message is an internal error. */
function databaseRefusal(status: 400 | 404, internals: string): Answer {
  const [code] = refusals[status];
  return { status, body: { code, message: `** ${internals}` } };
}

/** The answer to an unknown id if only the database layer notices it. */
export function rowNotFound(table: string): Answer {
  const query = `from row in BorutaIdentity.${table}, where: row.id == ^...`;
  const error = `(Ecto.NoResultsError) expected at least one result but got none in query: ${query}`;
  return databaseRefusal(404, error);
}

/** The answer to an id that isn't a UUID. */
export function notUuid(value: string): Answer {
  const error = `(Ecto.Query.CastError) value ${JSON.stringify(value)} in \`where\` cannot be cast to type :binary_id`;
  return databaseRefusal(400, error);
}

/** The answer to a NUL character in a text. */
export function nulRefused(): Answer {
  const error = 'ERROR 22021 (character_not_in_repertoire) invalid byte sequence for encoding "UTF8": 0x00';
  return databaseRefusal(400, `(Postgrex.Error) ${error}`);
}

/** The answer to a text that is too long for its column. */
export function tooLong(token: string): Answer {
  return crash('(Postgrex.Error) ERROR 22001 value too long for type character varying(255)', token);
}

/** The answer to an invalid resource, in both documented shapes at the same time. */
export function unprocessable(errors: Record<string, readonly unknown[]>): Answer {
  return {
    status: 422,
    body: { code: 'UNPROCESSABLE_ENTITY', message: 'Your request could not be processed.', errors },
  };
}

/** A crash of the server; the message contains internals and the request's token. */
export function crash(reason: string, token: string) {
  const connection = `%Plug.Conn{req_headers: [{"authorization", "Bearer ${token}"}], status: nil}`;
  return { status: 500, body: { code: 'INTERNAL_SERVER_ERROR', message: `** ${reason} in ${connection}` } };
}

/** The crash if the server looks for its default object and finds several. */
export function severalDefaults(token: string): Answer {
  return crash('(Ecto.MultipleResultsError) expected at most one result but got 2', token);
}

/** The answer to an unknown GET path, or if the client accepts no JSON. */
export function notAcceptable(): Answer {
  const message = '** (Phoenix.NotAcceptableError) no supported media type in accept header';
  return { status: 406, body: { code: 'NOT_ACCEPTABLE', message } };
}
