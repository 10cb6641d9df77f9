import type { SandboxData, SandboxSeed } from './data.js';

/** The server that the sandbox imitates: the one of the API document, or Boruta. */
export type SandboxProfile = 'documented' | 'boruta';

/** Every scope of the admin API. */
export const allScopes = [
  'clients:manage:all',
  'users:manage:all',
  'identity-providers:manage:all',
  // The boruta profile needs these two as well.
  'scopes:manage:all',
  'configuration:manage:all',
] as const;

/** A scope of the admin API. */
export type Scope = (typeof allScopes)[number];

/** A request as `intercept` sees it. */
export interface SandboxRequest {
  method: string;
  /** The raw request target, query included. */
  path: string;
  /**
   * The parsed JSON, with an object for each number that JavaScript can't represent exactly; the text if it isn't JSON;
   * undefined if there is no body.
   */
  body: unknown;
  /** 1 for the first request of this sandbox. */
  number: number;
}

/** A logged request, without credentials. */
export interface SandboxRequestLog extends SandboxRequest {
  headers: Record<string, string>;
  /** The status of the answer; null if nothing is or was sent. */
  status: number | null;
}

/** A fault to inject. A string body is sent as it is, anything else as JSON. */
export type Intercept =
  /** Answers instead of the server. */
  | { kind: 'answer'; status: number; headers?: Record<string, string>; body?: unknown }
  /** Processes the request, but sends another answer; by default with the same status. */
  | { kind: 'replace'; status?: number; headers?: Record<string, string>; body?: unknown }
  /** Resets the connection, before or after it processes the request. */
  | { kind: 'reset'; when: 'before' | 'after' }
  /** Never answers; processes the request only with `after`. */
  | { kind: 'stall'; when?: 'before' | 'after' }
  /** Processes the request, then closes the connection after half of the answer. */
  | { kind: 'truncate' }
  /** Waits, then processes the request and answers. */
  | { kind: 'delay'; ms: number }
  /**
   * Stops processing and closes the connection after this many writes: 0 means before the first one, a large number after the last
   * one, without an answer. Under the boruta profile, PATCH of a user has 7 writes: metadata and group; scopes emptied, filled;
   * organizations emptied, filled; roles emptied, filled.
   */
  | { kind: 'cut'; step: number }
  /** Stops processing after this many writes, with the 500 of an exhausted database pool. */
  | { kind: 'drop'; step: number }
  /** Closes every connection, including new ones, for this many milliseconds; keeps the data. */
  | { kind: 'restart'; ms: number };

/** Random faults. A probability is between 0 and 1 and applies to each request. */
export interface SandboxFaults {
  /**
   * The size of the database pool; each step of a request takes a connection. With 2, 100 concurrent requests succeed, and some
   * of 200 are answered with 500 after a part of their writes.
   */
  pool?: number;
  /** Probability that a PATCH is cut off after a random write. */
  cut?: number;
  /** Probability that a request ends with 500 after a random write. */
  500?: number;
  /** Probability that the answer is 503 and nothing is processed. */
  503?: number;
  /** Probability that the connection is reset, before or after the request is processed. */
  reset?: number;
  /** Probability that the server goes down for 8 seconds. */
  restart?: number;
  /** Whether answers about users hide scopes that were created after the start (boruta profile). */
  staleScopes?: boolean;
  /** Milliseconds between emptying and filling a list of a user, so that a cut can happen in between (boruta profile). */
  pause?: number;
  /** The same seed causes the same faults if the requests and their order are the same. */
  seed?: number;
}

/** Options of a sandbox. */
export interface SandboxOptions {
  profile?: SandboxProfile;
  /** Default: the loopback interface. */
  host?: string;
  /** Default: a free port. */
  port?: number;
  seed?: 'demo' | 'empty' | SandboxSeed;
  /** Organizations per page; default 500. */
  pageSize?: number;
  /** Bearer tokens and their scopes; default: one random token with every scope. */
  tokens?: Record<string, readonly Scope[]>;
  /** Expired tokens (under the boruta profile, the answer repeats them). */
  expiredTokens?: readonly string[];
  /** The id of the user that the first token belongs to (under the boruta profile, this user is write protected). */
  ownUser?: string;
  /** The id of the admin panel's client (under the boruta profile, it is write protected, and its identity provider can't be deleted). */
  adminClient?: string;
  /** Whether answers omit every optional field. */
  omitOptionalFields?: boolean;
  /** Whether answers have an undocumented field in every object with documented fields. */
  addUnknownFields?: boolean;
  /** Milliseconds for each answer, spread over the steps of the request; default 0. */
  latency?: number;
  faults?: SandboxFaults;
  /** Called for each request before it is processed; takes precedence over `faults`. */
  intercept?: (request: SandboxRequest) => Intercept | undefined | Promise<Intercept | undefined>;
}

/** A running sandbox. */
export interface Sandbox {
  url: string;
  /** The first of the tokens. */
  token: string;
  /** Every request since the start, in order of arrival. */
  requests: SandboxRequestLog[];
  /** The server's live data, which tests may change. */
  data: SandboxData;
  /** A deep copy of the current data. */
  snapshot(): SandboxSeed;
  /** Stops the server immediately; closes open connections without an answer. */
  close(): Promise<void>;
}
