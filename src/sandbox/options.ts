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
  /** The parsed JSON, the text as sent if it isn't JSON, or undefined if there was no body. */
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
  | { kind: 'delay'; ms: number };

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
  /** The user a token belongs to, by token (boruta profile: that user is write protected). */
  tokenUsers?: Record<string, string>;
  /** Answers leave out every field that the document calls optional. */
  omitOptionalFields?: boolean;
  /** Answers carry fields that no document knows, in every object whose fields are documented. */
  addUnknownFields?: boolean;
  /** Asked once for each request, before anything else is done with it. */
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
