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
   * The parsed JSON, with an object for each number that JavaScript can't hold exactly; the text if it isn't JSON, undefined
   * without a body.
   */
  body: unknown;
  /** 1 for the first request of this sandbox. */
  number: number;
}

/** A logged request, without credentials. */
export interface SandboxRequestLog extends SandboxRequest {
  headers: Record<string, string>;
  /** The status of the answer; null if there is none yet, or never was. */
  status: number | null;
}

/** A fault to inject. A string body is sent as it is, anything else as JSON. */
export type Intercept =
  /** Answers instead of the server. */
  | { kind: 'answer'; status: number; headers?: Record<string, string>; body?: unknown }
  /** Does the work, but sends another answer; the status stays unless it is given. */
  | { kind: 'replace'; status?: number; headers?: Record<string, string>; body?: unknown }
  /** Resets the connection before the work, or after it without an answer. */
  | { kind: 'reset'; when: 'before' | 'after' }
  /** Never answers; does the work only with `after`. */
  | { kind: 'stall'; when?: 'before' | 'after' }
  /** Does the work, then closes the connection after half of the answer. */
  | { kind: 'truncate' }
  /** Waits, then does the work and answers. */
  | { kind: 'delay'; ms: number }
  /**
   * Ends the work and the connection after that many writes: 0 is before the first, and more than there are is after the work,
   * without an answer. Under the boruta profile, PATCH of a user has 7 writes: metadata and group; scopes emptied, filled;
   * organizations emptied, filled; roles emptied, filled.
   */
  | { kind: 'cut'; step: number }
  /** Ends the work after that many writes, with the 500 of an exhausted database pool. */
  | { kind: 'drop'; step: number }
  /** Closes every connection, also new ones, for that many milliseconds; the data stays. */
  | { kind: 'restart'; ms: number };

/** Random faults. A probability is from 0 to 1, for each request. */
export interface SandboxFaults {
  /**
   * Connections of the database pool; each step of the work takes one. With 2, 100 requests in flight succeed, and of 200 some
   * are answered with 500, in the middle of their work.
   */
  pool?: number;
  /** That a PATCH is cut off after a random step. */
  cut?: number;
  /** That the work ends with 500 after a random step. */
  500?: number;
  /** That the answer is 503, without any work. */
  503?: number;
  /** That the connection is reset, before the work or after it. */
  reset?: number;
  /** That the server goes down for 8 seconds. */
  restart?: number;
  /** Answers about users hide scopes that were created after the start (boruta profile). */
  staleScopes?: boolean;
  /** Milliseconds between emptying and filling a list of a user, so that a cut can fall between (boruta profile). */
  pause?: number;
  /** The same seed repeats the same faults, for the same requests in the same order. */
  seed?: number;
}

/** Options of a sandbox. */
export interface SandboxOptions {
  profile?: SandboxProfile;
  /** By default the loopback interface. */
  host?: string;
  /** By default a free port. */
  port?: number;
  seed?: 'demo' | 'empty' | SandboxSeed;
  /** Organizations on a page, by default 500. */
  pageSize?: number;
  /** Bearer tokens and their scopes; by default one random token with every scope. */
  tokens?: Record<string, readonly Scope[]>;
  /** Expired tokens (boruta profile: the answer repeats them). */
  expiredTokens?: readonly string[];
  /** The id of the user that the first of the tokens belongs to (boruta profile: that user is write protected). */
  ownUser?: string;
  /** The id of the admin panel's client (boruta profile: write protected, and its identity provider stays). */
  adminClient?: string;
  /** Whether answers omit every optional field. */
  omitOptionalFields?: boolean;
  /** Whether answers have an unknown field in every object with documented fields. */
  addUnknownFields?: boolean;
  /** Milliseconds for each answer, spread over the steps of its work; by default 0. */
  latency?: number;
  faults?: SandboxFaults;
  /** Called for each request before any work; takes precedence over `faults`. */
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
  /** A deep copy of the present data. */
  snapshot(): SandboxSeed;
  /** Stops the server immediately, with open connections and unanswered requests. */
  close(): Promise<void>;
}
