import { error, ProblemsError } from '../base/problems.js';
import type { Redactor } from '../base/redact.js';
import type { Plan } from '../plan/plan.js';
import { changesServer } from '../plan/plan.js';
import type { WorkflowEvent } from './event.js';
import { type GithubApi, ownRemarks } from './github.js';
import { GithubFailure } from './github-client.js';
import { type Marker, markPlan, readMarkers } from './marker.js';
import { type Approval, staleness } from './stale.js';

/**
 * Finds what the merged pull request of the run's commit showed; null where it showed no plan.
 * Throws a ProblemsError where that can't be found out.
 */
export async function approvalOf(
  api: GithubApi,
  event: WorkflowEvent,
  key: string,
): Promise<Approval | null> {
  try {
    const merged = await api.mergedPullRequests(event.sha);
    const pull = merged.find(({ mergeCommit }) => mergeCommit === event.sha) ?? merged[0];
    if (pull === undefined) {
      throw notApproved(
        `no merged pull request brought the commit ${event.sha.slice(0, 12)}`,
        'merge through a pull request, or run apply without expect-digest after a look at the plan',
      );
    }
    const comments = (await api.comments(pull.number)).filter(({ body }) => planMarker(body, key) !== null);
    const [own] = await ownRemarks(api, comments);
    const marker = own === undefined ? null : planMarker(own.body, key);
    if (marker === null || marker.digest === null) return null;
    const { digest, observed, run, changes } = marker;
    const source = `pull request #${pull.number}`;
    if (observed === null) {
      throw notApproved(
        `the plan that ${source} shows doesn't say what the server had when it was made`,
        'an older idops made it: plan again on the pull request before it is merged; after that, look at the plan and give its digest as expect-digest',
      );
    }
    return {
      digest,
      observed,
      changes,
      source,
      runUrl: run === null ? null : event.runUrl.replace(/[^/]*$/, run),
    };
  } catch (failure) {
    if (!(failure instanceof GithubFailure)) throw failure;
    throw notApproved(
      `what was approved can't be read: ${failure.message}`,
      failure.lacksPermission
        ? 'the job needs the permissions contents: read and pull-requests: read'
        : 'nothing was sent; run it again when GitHub answers',
    );
  }
}

/** What a comment says that a plan of this project and environment is. */
function planMarker(body: string, key: string): Marker | null {
  return readMarkers(body).find((marker) => marker.kind === 'plan' && marker.key === key) ?? null;
}

function notApproved(message: string, hint: string): ProblemsError {
  return new ProblemsError([error('not-approved', message, [], hint)]);
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
    throw notApproved(
      'the pull request shows no plan for this environment, and there is something to change now',
      'run idops plan on the pull request with comments, or look at this plan and run apply without expect-digest',
    );
  }
  const stale = staleness(plan, await markPlan(plan, redactor), approval, redactor);
  if (stale !== null) throw new ProblemsError([stale]);
}
