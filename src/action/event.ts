import { readFileSync } from 'node:fs';

/** What the workflow runs for, as far as idops has to know. */
export interface WorkflowEvent {
  readonly name: string;
  readonly owner: string;
  readonly repository: string;
  /** The commit of the run; of a pull request, the last one of its branch. */
  readonly sha: string;
  readonly pullRequest: {
    readonly number: number;
    /** Why its runs get no secrets; null where they get them. */
    readonly withoutSecrets: string | null;
  } | null;
  /** Why the files of the run may be by somebody who must not choose where the token goes; null where they aren't. */
  readonly foreign: string | null;
  /** The address of the run, for people. */
  readonly runUrl: string;
}

type Environment = { readonly [name: string]: string | undefined };

/** Reads the event of a workflow from what the runner gives. What isn't there is left empty. */
export function readEvent(env: Environment): WorkflowEvent {
  const payload = readPayload(env.GITHUB_EVENT_PATH);
  const [owner = '', repository = ''] = (env.GITHUB_REPOSITORY ?? '').split('/');
  const name = env.GITHUB_EVENT_NAME ?? '';
  const pull = member(payload, 'pull_request');
  const number = member(pull, 'number');
  const head = member(pull, 'head');
  const sha = member(head, 'sha');
  return {
    name,
    owner,
    repository,
    sha: typeof sha === 'string' ? sha : (env.GITHUB_SHA ?? ''),
    pullRequest:
      typeof number === 'number' ? { number, withoutSecrets: secretsMissing(name, payload, pull) } : null,
    foreign: whyForeign(name, payload),
    runUrl: `${env.GITHUB_SERVER_URL ?? 'https://github.com'}/${owner}/${repository}/actions/runs/${env.GITHUB_RUN_ID ?? ''}`,
  };
}

function secretsMissing(name: string, payload: unknown, pull: unknown): string | null {
  if (name !== 'pull_request') return null;
  const from = member(member(member(pull, 'head'), 'repo'), 'full_name');
  const into = member(member(member(pull, 'base'), 'repo'), 'full_name');
  // The repository of a fork may be gone by now.
  if (from !== into || from === undefined) return 'it comes from a fork, and runs for forks get no secrets';
  const sender = member(member(payload, 'sender'), 'login');
  return sender === 'dependabot[bot]' ? 'it comes from Dependabot, whose runs get no secrets' : null;
}

/** Whatever the event is called: a branch of another repository brings a configuration of its own. */
function whyForeign(name: string, payload: unknown): string | null {
  if (name === 'pull_request_target') return 'pull_request_target gives secrets to runs for any pull request';
  const pull = member(payload, 'pull_request');
  const run = member(payload, 'workflow_run');
  const of = (value: unknown, ...path: string[]): unknown => path.reduce(member, value);
  const [from, into] =
    pull !== undefined
      ? [of(pull, 'head', 'repo', 'full_name'), of(pull, 'base', 'repo', 'full_name')]
      : run !== undefined
        ? [of(run, 'head_repository', 'full_name'), of(payload, 'repository', 'full_name')]
        : [null, null];
  // The repository of a fork may be gone by now.
  if (from === null && into === null) return null;
  return from === into && from !== undefined ? null : 'this run is for a branch of another repository';
}

function readPayload(path: string | undefined): unknown {
  if (path === undefined || path === '') return undefined;
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as unknown;
  } catch {
    return undefined;
  }
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as { [name: string]: unknown })[name]
    : undefined;
}
