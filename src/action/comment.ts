import type { WorkflowEvent } from './event.js';
import { type GithubApi, ownRemarks, type Remark } from './github.js';
import { type Marker, readMarker, readMarkers } from './marker.js';

/** What a pull request is to be told. */
export interface Told {
  readonly body: string;
  /** Whether a comment is written where there is none yet. */
  readonly opens: boolean;
}

/** What is to be told in the place of a comment of before, of which the lines for idops are given; empty where there was none. */
export type Tell = (before: readonly Marker[]) => Promise<Told>;

/** Brings the one comment of a project and environment up to date, on whatever page of the comments it is. */
export async function syncComment(api: GithubApi, number: number, key: string, tell: Tell): Promise<void> {
  const comments = (await api.comments(number)).filter(({ body }) => isAbout(body, 'plan', key));
  const [own] = await ownRemarks(api, comments);
  if (own !== undefined) {
    const { body } = await tell(readMarkers(own.body));
    // Somebody may delete it meanwhile.
    if (await api.updateComment(own.id, body)) return;
  }
  const { body, opens } = await tell([]);
  if (opens) await api.addComment(number, body);
}

/** Whether a comment showed a plan with something in it, or may have. */
export function showedChanges(before: readonly Marker[], key: string): boolean {
  return before.some((one) => one.key === key && one.digest !== null && one.changes?.length !== 0);
}

/**
 * The merged pull request that a run belongs to: the one that it is for, or that brought its commit; null for none. One that isn't
 * merged is none: idops would be the last to have written a comment that somebody else may have changed, and that then approves.
 * Nor is one whose merge is another commit, of which another run tells what it came to.
 */
export async function broughtBy(
  api: GithubApi,
  { pullRequest, commit, branch }: WorkflowEvent,
  named: number | undefined,
): Promise<number | null> {
  const known = pullRequest?.number ?? named;
  if (known !== undefined) {
    const { mergedAt, mergeCommit } = pullRequest?.merge ?? (await api.pullRequest(known));
    return mergedAt !== null && mergeCommit === commit ? known : null;
  }
  const found = (await api.pullRequestsOf(commit)).find(
    ({ base, mergedAt, mergeCommit }) => mergedAt !== null && mergeCommit === commit && base === branch,
  );
  return found?.number ?? null;
}

/** Changes the comment that has the plan of a project and environment; `tell` is given it, or null where there is none. */
export async function syncResult(
  api: GithubApi,
  number: number,
  key: string,
  tell: (body: string | null) => Promise<string | null>,
): Promise<void> {
  const isOfIt = ({ body }: Remark): boolean =>
    readMarkers(body).some((marker) => marker.kind === 'plan' && marker.key === key);
  const [own] = await ownRemarks(api, (await api.comments(number)).filter(isOfIt));
  const told = await tell(own?.body ?? null);
  if (told === null || (own !== undefined && (await api.updateComment(own.id, told)))) return;
  const anew = own === undefined ? told : await tell(null);
  if (anew !== null) await api.addComment(number, anew);
}

/** What a first line says that a text is about. */
function isAbout(body: string, kind: Marker['kind'], key: string): boolean {
  const marker = readMarker(body);
  return marker?.kind === kind && marker.key === key;
}

/** What the drift issue is to be, or null where there is no drift. */
export interface Drift {
  readonly title: string;
  readonly body: string;
}

/** What became of the drift issue; null where there is and was none. */
export type DriftOutcome = { readonly issue: number; readonly done: 'opened' | 'updated' | 'closed' } | null;

/** Keeps one issue open for as long as there is drift. `gone` is its text from when there is none any more. */
export async function syncDriftIssue(
  api: GithubApi,
  key: string,
  drift: Drift | null,
  gone: string,
): Promise<DriftOutcome> {
  const issues: Remark[] = (await api.openIssues()).filter(({ body }) => isAbout(body, 'drift', key));
  const [own] = await ownRemarks(api, issues);
  if (drift === null) {
    if (own === undefined) return null;
    await api.updateIssue(own.id, { body: gone, close: true });
    return { issue: own.id, done: 'closed' };
  }
  if (own === undefined) return { issue: await api.openIssue(drift.title, drift.body), done: 'opened' };
  await api.updateIssue(own.id, { body: drift.body, close: false });
  return { issue: own.id, done: 'updated' };
}
