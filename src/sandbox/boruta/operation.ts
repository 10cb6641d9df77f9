import type { SandboxData } from '../data.js';
import type { Answer } from '../http.js';
import type { JsonObject } from '../json.js';
import type { Work } from '../work.js';

/** The input of an operation. */
export interface Operation {
  data: SandboxData;
  /** Reads and writes the data in steps. */
  work: Work;
  /** The ids of the scopes that answers about users show; undefined means all. */
  shownScopes: ReadonlySet<string> | undefined;
  /** Milliseconds between emptying a list and filling it. */
  pause: number;
  /** Organizations per page. */
  pageSize: number;
  /** The path parameters, decoded, in the order of the path; ids are in lower case. */
  params: string[];
  /** The first path parameter, as sent. */
  sentId: string;
  query: URLSearchParams;
  /** The content of the body's wrapper; null for operations without a body. */
  resource: unknown;
  /** The whole body. */
  body: JsonObject;
  /** The user that the token belongs to, if any. */
  ownUserId: string | undefined;
  /** The admin panel's client, if any. */
  adminClientId: string | undefined;
}

/** Carries out an operation. */
export type RunOperation = (operation: Operation) => Promise<Answer>;
