import { strFromU8, unzipSync } from 'fflate';
import { escapeText } from '../base/escape.js';
import { ProblemsError } from '../base/problems.js';
import type { StoredPlan } from '../plan/stored.js';
import { readStoredPlan } from '../session/plan-file.js';
import type { WorkflowEvent } from './event.js';
import type { GithubApi } from './github.js';
import type { PullRequest, Review, WorkflowRun } from './github-objects.js';
import { hasMarker, type Marker, readMarker } from './marker.js';
import { notApproved } from './merged-pull.js';

/** The file of an artifact with the exact text of the comment. */
export const commentFile = 'comment.md';
/** The start of the name of each artifact that may hold a plan. */
const artifactPrefix = 'idops-plan';
/** The largest artifact that is read, in bytes. */
const maxArtifactBytes = 100_000_000;

/** The plan that a pull request approved when it was merged. */
export interface ApprovedPlan {
  readonly marker: Marker;
  /** The workflow run that made the plan. */
  readonly run: WorkflowRun;
  /** The plan that this run stored; null if its artifact contains none. */
  readonly stored: StoredPlan | null;
  /** When both the comment and the artifact existed, in milliseconds. */
  readonly shownAt: number;
}

/** Which plan approves. */
export type ApproveMode = 'merged' | 'reviewed';

/** Which comment and workflow an approval must come from. */
export interface ApprovalRules {
  /** Identifies the comment of the project and environment. */
  readonly key: string;
  /** The file of the workflow that plans pull requests. */
  readonly planWorkflow: string;
  /** By default `reviewed` if the base branch requires reviews, otherwise `merged`. */
  readonly mode?: ApproveMode | undefined;
}

/**
 * The plan that the comment of a merged pull request approves; null if no comment shows one. An artifact of the workflow that plans pull
 * requests must contain the same text, since no other workflow can write that artifact. Throws a ProblemsError (`not-approved`) if none
 * does, and a GithubFailure if a request fails.
 */
export async function approvedPlan(
  api: GithubApi,
  event: Pick<WorkflowEvent, 'owner' | 'repository'>,
  pull: PullRequest,
  { key, planWorkflow, mode }: ApprovalRules,
): Promise<ApprovedPlan | null> {
  const comment = await lastComment(api, pull, key);
  if (comment === null) return null;
  const marker = readMarker(comment.body);
  if (marker === null || marker.plan === null) return null;
  const planComment = `the comment with the plan of pull request #${pull.number}`;
  if (marker.run === null) throw notApproved(`${planComment} doesn't name the workflow run that made it`);
  const run = await api.run(marker.run);
  const why = whyNotPlanRun(run, event, pull, planWorkflow);
  if (why !== null) {
    const which = `run ${run.id} of ${escapeText(run.path)}, event ${escapeText(run.event)}`;
    throw notApproved(`${planComment} names a run that does not plan pull requests (${which}): ${why}`);
  }
  const artifact = await planArtifact(api, run, pull, key);
  if (!isSameText(artifact.comment, comment.body))
    throw notApproved(`${planComment} is not what its run wrote: the artifact of ${run.html_url} differs`);
  const needsReview =
    (mode ?? ((await api.requiresReviews(pull.base.ref)) ? 'reviewed' : 'merged')) === 'reviewed';
  const shownAt = Math.max(comment.editedAt, artifact.createdAt);
  if (needsReview) await checkReview(api, pull, shownAt);
  return { marker, run, stored: artifact.stored, shownAt };
}

/** The text of idops' comment at the merge, and the time of its last edit. Of several comments, the newest counts. */
async function lastComment(
  api: GithubApi,
  { number, merged_at }: PullRequest,
  key: string,
): Promise<{ readonly body: string; readonly editedAt: number } | null> {
  const comments = await api.comments(number, (body) => hasMarker(body, { kind: 'plan', key }));
  if (comments.length === 0) return null;
  const merged = Date.parse(merged_at ?? '');
  let latest: { readonly body: string; readonly editedAt: number } | null = null;
  for (const comment of await api.commentHistories(comments.map(({ nodeId }) => nodeId))) {
    const { body, createdAt, lastEditedAt, author, editor } = comment;
    const isEditedByAuthor = editor?.login === author?.login && editor?.__typename === author?.__typename;
    if ((lastEditedAt !== null || editor !== null) && (editor === null || !isEditedByAuthor)) {
      const who = editor === null ? 'an account that GitHub does not name' : escapeText(editor.login);
      throw notApproved(
        `the comment with the plan of pull request #${number} was edited by ${who}`,
        `only what idops wrote is approved: plan again before the merge`,
      );
    }
    const editedAt = Date.parse(lastEditedAt ?? createdAt);
    if (lastEditedAt === null && editedAt > merged) continue;
    // Also true if the time can't be parsed.
    if (!(editedAt <= merged))
      throw notApproved(`the comment with the plan of pull request #${number} was changed after the merge`);
    if (latest === null || editedAt > latest.editedAt) latest = { body, editedAt };
  }
  return latest;
}

/** Why a run did not plan this pull request; null if it did. */
function whyNotPlanRun(
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
  const fullName = `${owner}/${repository}`.toLowerCase();
  return run.head_repository?.full_name.toLowerCase() === fullName ? null : 'it is of another repository';
}

/** The artifact that a run uploaded before the merge. Throws a ProblemsError if there is none. */
async function planArtifact(
  api: GithubApi,
  { id, html_url: url }: WorkflowRun,
  { number, merged_at }: PullRequest,
  key: string,
): Promise<{ readonly comment: string; readonly stored: StoredPlan | null; readonly createdAt: number }> {
  const artifacts = await api.artifacts(id);
  for (const { id: artifact, name, size_in_bytes, expired, created_at } of artifacts) {
    const createdAt = Date.parse(created_at ?? '');
    const isBeforeMerge = createdAt <= Date.parse(merged_at ?? '');
    if (!name.startsWith(artifactPrefix) || expired || !isBeforeMerge || size_in_bytes > maxArtifactBytes)
      continue;
    const files = unzip(await api.artifact(artifact));
    const comment = files.get(commentFile);
    if (comment === undefined || !hasMarker(comment, { kind: 'plan', key })) continue;
    const plans = [...files].filter(([file]) => file.endsWith('.json'));
    const [stored = null] = plans.flatMap(([file, text]) => tryReadPlan(text, file) ?? []);
    return { comment, stored, createdAt };
  }
  const expiredNote = artifacts.some(({ expired }) => expired) ? ', or it has expired' : '';
  throw notApproved(
    `${url}, which planned pull request #${number}, uploaded no artifact ${artifactPrefix}… with ${commentFile} before the merge${expiredNote}`,
  );
}

/** The Markdown and JSON files of an artifact, by name without folders. */
function unzip(zip: Uint8Array): Map<string, string> {
  const files = unzipSync(zip, {
    filter: ({ name, originalSize }) =>
      /(?:^|\/)[^/]+\.(?:md|json)$/.test(name) && originalSize <= maxArtifactBytes,
  });
  return new Map(Object.entries(files).map(([name, data]) => [name.replace(/^.*\//, ''), strFromU8(data)]));
}

function tryReadPlan(text: string, file: string): StoredPlan | undefined {
  try {
    return readStoredPlan(text, file);
  } catch (failure) {
    if (failure instanceof ProblemsError) return undefined;
    throw failure;
  }
}

/** Whether two texts are equal apart from line breaks and the trailing space, which GitHub may change. */
export function isSameText(one: string, other: string): boolean {
  const normalize = (text: string) => text.replaceAll('\r\n', '\n').trimEnd();
  return normalize(one) === normalize(other);
}

/** Throws a ProblemsError unless the last review before the merge approves the plan that was shown at `shownAt`. */
async function checkReview(
  api: GithubApi,
  { number, head, merged_at }: PullRequest,
  shownAt: number,
): Promise<void> {
  const reviews = (await api.reviews(number)).filter(
    ({ submittedAt, author, authorCanPushToRepository }) =>
      author?.__typename === 'User' &&
      authorCanPushToRepository &&
      Date.parse(submittedAt) <= Date.parse(merged_at ?? ''),
  );
  const last = reviews.toSorted((one, other) => one.submittedAt.localeCompare(other.submittedAt)).at(-1);
  const why = whyNotReviewed(last, head.sha, shownAt);
  if (why !== null)
    throw notApproved(`the plan of pull request #${number} was not reviewed: ${why} (approve: reviewed)`);
}

/** Why the last review doesn't approve the plan of this commit, shown at `shownAt`; null if it does. */
function whyNotReviewed(last: Review | undefined, sha: string, shownAt: number): string | null {
  if (last === undefined) return 'nobody with push access approved it before the merge';
  const who = escapeText(last.author?.login ?? '');
  if (last.state === 'CHANGES_REQUESTED') return `the last review of ${who} requests changes`;
  if (last.commit?.oid !== sha) return `${who} approved an earlier commit`;
  return Date.parse(last.submittedAt) <= shownAt ? `the plan was made again after ${who} approved it` : null;
}
