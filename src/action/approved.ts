import { strFromU8, unzipSync } from 'fflate';
import { escapeText } from '../base/escape.js';
import { ProblemsError } from '../base/problems.js';
import type { StoredPlan } from '../plan/stored.js';
import { readStoredPlan } from '../session/plan-file.js';
import type { WorkflowEvent } from './event.js';
import type { GithubApi } from './github.js';
import type { PullRequest, Review, WorkflowRun } from './github-objects.js';
import { isAbout, type Marker, readMarker } from './marker.js';
import { refusal } from './merged-pull.js';

/** The file of an artifact with the exact text of the comment. */
export const commentFile = 'comment.md';
/** The start of the name of each artifact that may hold a plan. */
const artifactName = 'idops-plan';
/** The largest artifact that is read, in bytes. */
const artifactLimit = 100_000_000;

/** The plan that a pull request approved when it was merged. */
export interface ApprovedPlan {
  readonly marker: Marker;
  /** The workflow run that made the plan. */
  readonly run: WorkflowRun;
  /** The plan that this run stored; null if its artifact holds none. */
  readonly stored: StoredPlan | null;
  /** When the comment and the artifact were both there, in milliseconds. */
  readonly since: number;
}

/** Which plan approves. */
export type ApproveMode = 'merged' | 'reviewed';

/** Which comment, workflow and plan count. */
export interface Asked {
  /** Identifies the comment of the project and environment. */
  readonly key: string;
  /** The file of the workflow that plans pull requests. */
  readonly planWorkflow: string;
  /** By default `reviewed` if the base branch requires reviews, otherwise `merged`. */
  readonly mode?: ApproveMode | undefined;
}

/**
 * The plan that the comment of a merged pull request approves; null if there is no comment. A comment counts only if an artifact of the
 * workflow that plans pull requests holds the same text: no other workflow can write that artifact. Throws a ProblemsError
 * (`not-approved`) otherwise, and a GithubFailure if a request fails.
 */
export async function approvedPlan(
  api: GithubApi,
  event: Pick<WorkflowEvent, 'owner' | 'repository'>,
  pull: PullRequest,
  { key, planWorkflow, mode }: Asked,
): Promise<ApprovedPlan | null> {
  const comment = await lastComment(api, pull, key);
  if (comment === null) return null;
  const marker = readMarker(comment.body);
  if (marker === null || marker.plan === null) return null;
  const what = `the comment with the plan of pull request #${pull.number}`;
  if (marker.run === null) throw refusal(`${what} names no workflow run that made it`);
  const run = await api.run(marker.run);
  const wrong = whyOtherRun(run, event, pull, planWorkflow);
  if (wrong !== null) {
    const by = `run ${run.id} of ${escapeText(run.path)}, event ${escapeText(run.event)}`;
    throw refusal(`${what} names a run that does not plan pull requests (${by}): ${wrong}`);
  }
  const kept = await artifactOf(api, run, pull, key);
  if (!isSameText(kept.comment, comment.body))
    throw refusal(`${what} is not what its run wrote: ${run.html_url} keeps another text`);
  const isReviewed =
    (mode ?? ((await api.requiresReviews(pull.base.ref)) ? 'reviewed' : 'merged')) === 'reviewed';
  const since = Math.max(comment.since, kept.since);
  if (isReviewed) await checkReview(api, pull, since);
  return { marker, run, stored: kept.stored, since };
}

/** The text of idops' comment at the merge, and the time of its last edit. Of several comments, the newest counts. */
async function lastComment(
  api: GithubApi,
  { number, merged_at }: PullRequest,
  key: string,
): Promise<{ readonly body: string; readonly since: number } | null> {
  const comments = await api.comments(number, (body) => isAbout(body, { kind: 'plan', key }));
  if (comments.length === 0) return null;
  const merged = Date.parse(merged_at ?? '');
  let latest: { readonly body: string; readonly since: number } | null = null;
  for (const comment of await api.histories(comments.map(({ node }) => node))) {
    const { body, createdAt, lastEditedAt, author, editor } = comment;
    const isOwn = editor?.login === author?.login && editor?.__typename === author?.__typename;
    if ((lastEditedAt !== null || editor !== null) && (editor === null || !isOwn)) {
      const who = editor === null ? 'an account that GitHub does not name' : escapeText(editor.login);
      throw refusal(
        `the comment with the plan of pull request #${number} was edited by ${who}`,
        `only what idops wrote is approved: plan again before the merge`,
      );
    }
    const since = Date.parse(lastEditedAt ?? createdAt);
    if (lastEditedAt === null && since > merged) continue;
    if (!(since <= merged))
      throw refusal(`the comment with the plan of pull request #${number} was changed after the merge`);
    if (latest === null || since > latest.since) latest = { body, since };
  }
  return latest;
}

/** Why a run did not plan this pull request; null if it did. */
function whyOtherRun(
  run: WorkflowRun,
  { owner, repository }: Pick<WorkflowEvent, 'owner' | 'repository'>,
  { number, head }: PullRequest,
  planWorkflow: string,
): string | null {
  const [path] = run.path.split('@', 1);
  if (path !== planWorkflow) return `its workflow is not ${planWorkflow} (plan-workflow)`;
  if (run.event !== 'pull_request') return 'its event is not pull_request';
  if (run.head_sha !== head.sha)
    return `it is of the commit ${run.head_sha.slice(0, 12)}, and pull request #${number} ends with ${head.sha.slice(0, 12)}`;
  const here = `${owner}/${repository}`.toLowerCase();
  return run.head_repository?.full_name.toLowerCase() === here ? null : 'it is of another repository';
}

/** The artifact that a run uploaded before the merge. Throws a ProblemsError if there is none. */
async function artifactOf(
  api: GithubApi,
  { id, html_url: url }: WorkflowRun,
  { number, merged_at }: PullRequest,
  key: string,
): Promise<{ readonly comment: string; readonly stored: StoredPlan | null; readonly since: number }> {
  const artifacts = await api.artifacts(id);
  for (const { id: artifact, name, size_in_bytes, expired, created_at } of artifacts) {
    const since = Date.parse(created_at ?? '');
    const isInTime = since <= Date.parse(merged_at ?? '');
    if (!name.startsWith(artifactName) || expired || !isInTime || size_in_bytes > artifactLimit) continue;
    const files = unpacked(await api.artifact(artifact));
    const comment = files.get(commentFile);
    if (comment === undefined || !isAbout(comment, { kind: 'plan', key })) continue;
    const plans = [...files].filter(([file]) => file.endsWith('.json'));
    const [stored = null] = plans.flatMap(([file, text]) => planOf(text, file) ?? []);
    return { comment, stored, since };
  }
  const lost = artifacts.some(({ expired }) => expired) ? ', or it has expired' : '';
  throw refusal(
    `${url}, which planned pull request #${number}, kept no artifact ${artifactName}… with its ${commentFile} before the merge${lost}`,
  );
}

/** The files of an artifact, by name. */
function unpacked(zip: Uint8Array): Map<string, string> {
  const files = unzipSync(zip, {
    filter: ({ name, originalSize }) =>
      /(?:^|\/)[^/]+\.(?:md|json)$/.test(name) && originalSize <= artifactLimit,
  });
  return new Map(Object.entries(files).map(([name, data]) => [name.replace(/^.*\//, ''), strFromU8(data)]));
}

function planOf(text: string, file: string): StoredPlan | undefined {
  try {
    return readStoredPlan(text, file);
  } catch (failure) {
    if (failure instanceof ProblemsError) return undefined;
    throw failure;
  }
}

/** Whether two texts are equal. GitHub may trim them and change their line breaks. */
export function isSameText(one: string, other: string): boolean {
  const normal = (text: string) => text.replaceAll('\r\n', '\n').trimEnd();
  return normal(one) === normal(other);
}

/** Throws a ProblemsError unless the last review before the merge approves the plan that was shown `since` then. */
async function checkReview(
  api: GithubApi,
  { number, head, merged_at }: PullRequest,
  since: number,
): Promise<void> {
  const reviews = (await api.reviews(number)).filter(
    ({ submittedAt, author, authorCanPushToRepository }) =>
      author?.__typename === 'User' &&
      authorCanPushToRepository &&
      Date.parse(submittedAt) <= Date.parse(merged_at ?? ''),
  );
  const last = reviews.toSorted((one, other) => one.submittedAt.localeCompare(other.submittedAt)).at(-1);
  const why = whyNotReviewed(last, head.sha, since);
  if (why !== null)
    throw refusal(`the plan of pull request #${number} was not reviewed: ${why} (approve: reviewed)`);
}

/** Why the last review doesn't approve the plan of this commit, shown `since` then; null if it does. */
function whyNotReviewed(last: Review | undefined, sha: string, since: number): string | null {
  if (last === undefined) return 'nobody who may push approved it before the merge';
  const who = escapeText(last.author?.login ?? '');
  if (last.state === 'CHANGES_REQUESTED') return `${who} asked for changes last`;
  if (last.commit?.oid !== sha) return `${who} approved an earlier commit`;
  return Date.parse(last.submittedAt) <= since ? `the plan was made again after ${who} approved it` : null;
}
