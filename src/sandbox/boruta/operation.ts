import type { SandboxData } from '../data.js';
import type { Answer } from '../http.js';
import type { Work } from '../work.js';

/** What an operation works with. */
export interface Operation {
  data: SandboxData;
  /** What reads and writes the data, a step at a time. */
  work: Work;
  /** Scopes that users' answers show; undefined where it is all of them. */
  shownScopes: ReadonlySet<string> | undefined;
  /** Milliseconds before an emptied list is filled. */
  pause: number;
  /** Organizations on a page. */
  pageSize: number;
  /** The path parameters, decoded, in the order of the path; ids are in lower case. */
  params: string[];
  /** The first of them as it was written. */
  sentId: string;
  query: URLSearchParams;
  /** What the body's wrapper holds; null for operations without a body. */
  resource: unknown;
  /** The caller's own token, for what crashes show, and its user if it has one. */
  token: string;
  ownUserId: string | undefined;
}

/** Does an operation. */
export type Run = (operation: Operation) => Promise<Answer>;

/** One of a list with this id. */
export function findById<T extends { id: string }>(
  list: readonly T[],
  id: string | undefined,
): T | undefined {
  return list.find((candidate) => candidate.id === id);
}
