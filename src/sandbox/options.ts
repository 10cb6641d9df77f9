import type { SandboxData, SandboxSeed } from './data.js';

/** Which server the sandbox stands for: the API document's words, or what a real Boruta does. */
export type SandboxProfile = 'documented' | 'boruta';

/** A scope of the admin API. */
export type Scope = 'clients:manage:all' | 'users:manage:all' | 'identity-providers:manage:all';

/** Every scope of the admin API. */
export const allScopes: readonly Scope[] = [
  'clients:manage:all',
  'users:manage:all',
  'identity-providers:manage:all',
];

/** A request as `intercept` sees it. */
export interface SandboxRequest {
  method: string;
  /** The raw request target, query included. */
  path: string;
  /**
   * The parsed JSON, numbers that JavaScript can't hold as an object with their text; the text as sent if it isn't JSON, or
   * undefined if there was no body.
   */
  body: unknown;
  /** 1 for the first request of this sandbox. */
  number: number;
}

/** A request as the log keeps it: no credentials. */
export interface SandboxRequestLog extends SandboxRequest {
  headers: Record<string, string>;
  /** The status answered; null while there is no answer, or if none was ever given. */
  status: number | null;
}

/** A fault to inject. A string body is sent as it is, anything else as JSON. */
export type Intercept =
  /** Answers in the server's place. */
  | { kind: 'answer'; status: number; headers?: Record<string, string>; body?: unknown }
  /** Does the work, but answers something else; the status stays unless it is given. */
  | { kind: 'replace'; status?: number; headers?: Record<string, string>; body?: unknown }
  /** Resets the connection before the work, or after it and without an answer. */
  | { kind: 'reset'; when: 'before' | 'after' }
  /** Never answers; the work is done only with `after`. */
  | { kind: 'stall'; when?: 'before' | 'after' }
  /** Does the work, then hangs up after half of the answer. */
  | { kind: 'truncate' }
  /** Waits, then does the work and answers. */
  | { kind: 'delay'; ms: number }
  /**
   * Ends the work and the connection after so many of the work's writes: 0 is before the first, and what is
   * more than all of them is after the work, without an answer. A user's PATCH under the boruta profile
   * writes in 7 steps: metadata and group, scopes emptied, filled, organizations emptied, filled, roles
   * emptied, filled.
   */
  | { kind: 'cut'; step: number }
  /** Ends the work after so many of its writes with the 500 of a database pool that ran out. */
  | { kind: 'drop'; step: number }
  /** Ends every connection, and each new one, for that time; the data stays. */
  | { kind: 'restart'; ms: number };

/** What goes wrong by itself; a probability is from 0 to 1, of each request. */
export interface SandboxFaults {
  /**
   * Connections of the database pool, which each step of the work takes one of. With 2, 100 requests in
   * flight go well; of 200 some are answered with 500, wherever their work was.
   */
  pool?: number;
  /** That a PATCH is cut off after a random one of its steps. */
  cut?: number;
  /** That the work ends with 500 after a random one of its steps. */
  500?: number;
  /** That nothing is done and 503 is answered. */
  503?: number;
  /** That the connection is reset, before the work or after it. */
  reset?: number;
  /** That the server goes down for 8 seconds. */
  restart?: number;
  /** Scopes that are made after the start stay hidden in users' answers (boruta profile). */
  staleScopes?: boolean;
  /** Milliseconds between the emptying and the filling of a user's list, so that a cut-off falls between them (boruta profile). */
  pause?: number;
  /** Repeats a run of chance, given the same requests in the same order. */
  seed?: number;
}

/** How a sandbox is started. */
export interface SandboxOptions {
  profile?: SandboxProfile;
  /** Default: the loopback interface. */
  host?: string;
  /** Default: a free port. */
  port?: number;
  seed?: 'demo' | 'empty' | SandboxSeed;
  /** Organizations on a page. Default: 500. */
  pageSize?: number;
  /** Bearer tokens and their scopes. Default: one random token with every scope. */
  tokens?: Record<string, readonly Scope[]>;
  /** Tokens that were valid once (boruta profile: the answer repeats them). */
  expiredTokens?: readonly string[];
  /** The id of the user that the first of the tokens belongs to (boruta profile: that user is write protected). */
  ownUser?: string;
  /** Answers leave out every field that the document calls optional. */
  omitOptionalFields?: boolean;
  /** Answers carry fields that no document knows, in every object whose fields are documented. */
  addUnknownFields?: boolean;
  /** What each answer takes, in milliseconds, spread over the steps of its work. Default: 0. */
  latency?: number;
  faults?: SandboxFaults;
  /** Asked once for each request, before anything else is done with it; it goes before `faults`. */
  intercept?: (request: SandboxRequest) => Intercept | undefined | Promise<Intercept | undefined>;
}

/** A running sandbox. */
export interface Sandbox {
  url: string;
  /** The first of the tokens. */
  token: string;
  /** Every request since the start, in order of arrival. */
  requests: SandboxRequestLog[];
  /** The server's data, alive: what a test writes here, the server answers. */
  data: SandboxData;
  /** A deep copy of the data as it is now. */
  snapshot(): SandboxSeed;
  /** Stops the server at once, open connections and unanswered requests included. */
  close(): Promise<void>;
}
