import { readFileSync } from 'node:fs';

type Environment = { readonly [name: string]: string | undefined };

/** What GitHub says of the event that a workflow runs for; undefined where it says nothing. */
export function eventPayload(env: Environment): unknown {
  const path = env.GITHUB_EVENT_PATH;
  if (path === undefined || path === '') return undefined;
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as unknown;
  } catch {
    return undefined;
  }
}

/** The commit of a run; of a pull request the last one of its branch, not the one that merges it; empty where that isn't known. */
export function headCommit(env: Environment, payload: unknown): string {
  const sha = member(member(member(payload, 'pull_request'), 'head'), 'sha');
  return typeof sha === 'string' ? sha : (env.GITHUB_SHA ?? '');
}

/** A member of what may be an object. */
export function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as { [name: string]: unknown })[name]
    : undefined;
}
