import { ProblemsError } from '../base/problems.js';
import type { Redactor } from '../base/redact.js';
import { shardText } from '../base/shard.js';
import { changesServer, type Plan } from '../plan/plan.js';
import { approvedText } from './approved-text.js';
import type { PullRequest, WorkflowEvent } from './event.js';
import type { GithubApi } from './github.js';
import { GithubFailure } from './github-client.js';
import { type Marker, markPlan, readMarkers } from './marker.js';
import { refusal } from './refusal.js';
import { type Approval, staleness } from './stale.js';

/** What is approved of. */
export interface ApprovalRequest {
  /** The project and the environment, as markers know them. */
  readonly key: string;
  /** The pull request that a person named; undefined where the event has to tell it. */
  readonly named: number | undefined;
  /** Whether it may be one that isn't merged yet, which is then approved as it is now. */
  readonly open: boolean;
}

/** What a person can do who knows that the plan is right. */
const wayOut =
  'look at the plan that this run shows, and start the workflow by hand with its digest as expect-digest';

/**
 * Finds what the pull request of the run showed when it was merged; null where it showed no plan.
 * Throws a ProblemsError where that can't be found out, or where it isn't idops that wrote it.
 */
export async function approvalOf(
  api: GithubApi,
  event: WorkflowEvent,
  { key, ...request }: ApprovalRequest,
): Promise<Approval | null> {
  try {
    const pull = await pullRequestOf(api, event, request);
    const source = `pull request #${pull.number}`;
    const text = await approvedText(api, pull, (body) => planMarker(body, key)?.kind ?? null);
    const marker = text === null ? null : planMarker(text, key);
    const { digest = null, observed = null, run = null, changes = null } = marker ?? {};
    if (digest === null || observed === null) return null;
    const runUrl = run === null ? null : event.runUrl.replace(/[^/]*$/, run);
    return { digest, observed, changes, source, runUrl };
  } catch (failure) {
    if (!(failure instanceof GithubFailure)) throw failure;
    throw refusal(
      `what was approved can't be read: ${failure.message.replace(/\.$/, '')}`,
      failure.lacksPermission
        ? 'the job needs the permissions contents: read and pull-requests: read'
        : `nothing was sent; run it again when ${failure.answered ? 'that is put right or over' : 'GitHub answers'}`,
    );
  }
}

/** What a comment says of the plan of this project and environment, also of one of before. */
function planMarker(body: string, key: string): Marker | null {
  return readMarkers(body).find((marker) => marker.kind !== 'drift' && marker.key === key) ?? null;
}

/** The one pull request that the run is about. */
async function pullRequestOf(
  api: GithubApi,
  event: WorkflowEvent,
  request: Omit<ApprovalRequest, 'key'>,
): Promise<PullRequest> {
  const told = event.pullRequest?.number ?? event.mergeGroup?.number;
  const { named = told } = request;
  if (told !== undefined && named !== told) {
    throw refusal(
      `this run is about pull request #${told}, and the input pr-number is ${named}`,
      'leave pr-number out, or start the workflow by hand',
    );
  }
  const merge = event.pullRequest?.merge ?? null;
  if (merge !== null && named !== undefined) {
    const { base } = merge;
    return mergedHere({ number: named, ...merge }, event, event.branch ?? base);
  }
  if (named === undefined) return await broughtBy(api, event);
  const pull = await api.pullRequest(named);
  if (pull.mergedAt !== null && event.mergeGroup === null) return mergedHere(pull, event, event.branch);
  if (!request.open) {
    throw refusal(
      `pull request #${named} is not merged`,
      'merge it, or take the branch and commit that brought it',
    );
  }
  const { mergeGroup } = event;
  if (mergeGroup !== null && (pull.mergedAt !== null || pull.base !== mergeGroup.base)) {
    throw refusal(
      `pull request #${named} is ${pull.mergedAt === null ? `for ${pull.base}` : 'merged already'}, and this merge group is for ${mergeGroup.base}`,
      'put it into the queue again',
    );
  }
  return pull;
}

async function broughtBy(api: GithubApi, event: WorkflowEvent): Promise<PullRequest> {
  const { branch, commit } = event;
  if (branch === null) {
    throw refusal(
      'this run is for no branch, so no pull request was merged into it',
      'run it for the branch that pull requests are merged into, or name one as pr-number',
    );
  }
  const all = await api.pullRequestsOf(commit);
  const found = all.filter(
    ({ base, mergedAt, mergeCommit }) => base === branch && mergedAt !== null && mergeCommit === commit,
  );
  const [pull] = found;
  if (pull === undefined) {
    throw refusal(
      `no merged pull request brought the commit ${shortCommit(commit)} to ${branch} as its merge`,
      `merge through a pull request, one in a push, or ${wayOut}`,
    );
  }
  if (found.length > 1) {
    const numbers = found.map(({ number }) => `#${number}`).join(', ');
    throw refusal(
      `several merged pull requests brought the commit ${shortCommit(commit)}: ${numbers}`,
      `name the one that is meant as pr-number, or ${wayOut}`,
    );
  }
  return pull;
}

/** The pull request, where it was merged into the run's branch and its merge is the run's commit. */
function mergedHere(
  pull: PullRequest,
  { branch: own, commit }: WorkflowEvent,
  branch: string | null,
): PullRequest {
  const { number, base, mergedAt, mergeCommit } = pull;
  if (mergedAt === null || base === null || mergeCommit === null) {
    throw refusal(`GitHub doesn't say how pull request #${number} was merged`, wayOut);
  }
  if (branch === null || base !== branch) {
    throw refusal(
      `pull request #${number} was merged into ${base}, and this run is for ${own ?? 'no branch'}`,
      'run it for the branch that the pull request was merged into',
    );
  }
  if (mergeCommit !== commit) {
    throw refusal(
      `the merge of pull request #${number} is ${shortCommit(mergeCommit)}, and this run is for ${shortCommit(commit)}`,
      `run it again for the commit of that merge, or ${wayOut}`,
    );
  }
  return pull;
}

function shortCommit(sha: string): string {
  return sha === '' ? 'unknown' : sha.slice(0, 12);
}

function part({ shard }: Plan): string {
  return shard === undefined ? 'this environment' : `shard ${shardText(shard)} of this environment`;
}

/**
 * Throws a ProblemsError with the difference where a plan is not the approved one. A plan that changes nothing
 * needs no approval, so that a run can be repeated.
 */
export async function checkApproval(
  plan: Plan,
  approval: Approval | null,
  redactor: Redactor,
): Promise<void> {
  if (!changesServer(plan)) return;
  if (approval === null) {
    throw refusal(
      `the pull request shows no plan for ${part(plan)}, and there is something to change now`,
      `run idops plan on the pull request with comments; where it is merged, ${wayOut}`,
    );
  }
  const stale = staleness(plan, await markPlan(plan, redactor), approval, redactor);
  if (stale !== null) throw new ProblemsError([stale]);
}
