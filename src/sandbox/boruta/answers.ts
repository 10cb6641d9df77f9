import { type Answer, Refused } from '../http.js';

const refusals = {
  400: ['BAD_REQUEST', 'Bad request.'],
  401: ['UNAUTHORIZED', 'You are unauthorized to access this resource.'],
  403: ['FORBIDDEN', 'You are forbidden to access this resource.'],
  404: ['NOT_FOUND', 'The requested resource could not be found.'],
} as const;

/** Thrown if the server crashes. The message of the answer contains internals and the request's token. */
export class Crash extends Error {
  readonly #status: 400 | 500;

  constructor(reason: string, status: 400 | 500 = 500) {
    super(reason);
    this.#status = status;
  }

  answer(authorization: string | undefined): Answer {
    const connection = `%Plug.Conn{req_headers: [{"authorization", "${authorization}"}], status: nil}`;
    const code = this.#status === 400 ? 'BAD_REQUEST' : 'INTERNAL_SERVER_ERROR';
    return { status: this.#status, body: { code, message: `** ${this.message} in ${connection}` } };
  }
}

/** The refusal of a method and path without a route. */
export function noRoute(method: string, path: string): Refused {
  const body = { code: 'NOT_FOUND', message: `no route found for ${method} ${path}` };
  return new Refused({ status: 404, body });
}

/** The crash at a body without the wrapper that an action expects. */
export function missingWrapper(): Crash {
  return new Crash('(Phoenix.ActionClauseError) no function clause matching', 400);
}

/** The refusal of a resource that isn't an object. */
export function notCastable(resource: unknown): Refused {
  const error = `(Ecto.CastError) expected params to be a :map, got: ${JSON.stringify(resource)}`;
  return databaseRefusal(400, error);
}

/** A success. */
export function ok(data: unknown): Answer {
  return { status: 200, body: { data } };
}

/** A refusal, in both documented shapes at the same time. */
export function refusal(status: keyof typeof refusals, reason: string, message?: string): Refused {
  const [code, defaultMessage] = refusals[status];
  const body = { code, message: message ?? defaultMessage, errors: { resource: [reason] } };
  return new Refused({ status, body });
}

/** The refusal of an unknown id. */
export function notFound(): Refused {
  return refusal(404, 'could not be found');
}

/** A refusal by the database layer; its message is an internal error. */
function databaseRefusal(status: 400 | 404, internals: string): Refused {
  const [code] = refusals[status];
  return new Refused({ status, body: { code, message: `** ${internals}` } });
}

/** The refusal of an unknown id if only the database layer notices it. */
export function rowNotFound(table: string): Refused {
  const query = `from row in BorutaIdentity.${table}, where: row.id == ^...`;
  const error = `(Ecto.NoResultsError) expected at least one result but got none in query: ${query}`;
  return databaseRefusal(404, error);
}

/** The refusal of an id that isn't a UUID. */
export function notUuid(value: string): Refused {
  const error = `(Ecto.Query.CastError) value ${JSON.stringify(value)} in \`where\` cannot be cast to type :binary_id`;
  return databaseRefusal(400, error);
}

/** The refusal of a NUL character in a text. */
export function nulRefused(): Refused {
  const error = 'ERROR 22021 (character_not_in_repertoire) invalid byte sequence for encoding "UTF8": 0x00';
  return databaseRefusal(400, `(Postgrex.Error) ${error}`);
}

/** The crash at a text that is too long for its column. */
export function tooLong(): Crash {
  return new Crash('(Postgrex.Error) ERROR 22001 value too long for type character varying(255)');
}

/** The refusal of an invalid resource, in both documented shapes at the same time. */
export function unprocessable(errors: Record<string, readonly unknown[]>): Refused {
  const body = { code: 'UNPROCESSABLE_ENTITY', message: 'Your request could not be processed.', errors };
  return new Refused({ status: 422, body });
}

/** The crash if the server looks for its default object and finds several. */
export function severalDefaults(): Crash {
  return new Crash('(Ecto.MultipleResultsError) expected at most one result but got 2');
}

/** The refusal of an unknown GET path, or of a client that accepts no JSON. */
export function notAcceptable(): Refused {
  const message = '** (Phoenix.NotAcceptableError) no supported media type in accept header';
  return new Refused({ status: 406, body: { code: 'NOT_ACCEPTABLE', message } });
}
