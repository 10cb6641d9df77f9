import { error, type Problem, ProblemsError } from '../base/problems.js';
import type { Redactor } from '../base/redact.js';
import type { Plan } from '../plan/plan.js';
import { changesServer } from '../plan/plan.js';
import type { WorkflowEvent } from './event.js';
import { type GithubApi, ownRemarks } from './github.js';
import { GithubFailure } from './github-client.js';
import { type MarkedChange, markedChanges, readMarker } from './marker.js';

/** What was approved: a digest, and the changes that it stands for where those are known. */
export interface Approval {
  readonly digest: string;
  readonly changes: readonly MarkedChange[] | null;
  /** Where it was found, for people. */
  readonly source: string;
}

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
    const comments = (await api.comments(pull.number)).filter(({ body }) => {
      const marker = readMarker(body);
      return marker?.kind === 'plan' && marker.key === key;
    });
    const [own] = await ownRemarks(api, comments);
    const marker = own === undefined ? null : readMarker(own.body);
    if (marker === null || marker.digest === null) return null;
    return { digest: marker.digest, changes: marker.changes, source: `pull request #${pull.number}` };
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

function notApproved(message: string, hint: string): ProblemsError {
  return new ProblemsError([error('not-approved', message, [], hint)]);
}

/**
 * Throws a ProblemsError with the difference where a plan is not the approved one. A plan that changes nothing
 * needs no approval, so that a run can be repeated.
 */
export function checkApproval(plan: Plan, approval: Approval | null, redactor: Redactor): void {
  if (!changesServer(plan)) return;
  if (approval === null) {
    throw notApproved(
      'the pull request shows no plan for this environment, and there is something to change now',
      'run idops plan on the pull request with comments, or look at this plan and run apply without expect-digest',
    );
  }
  if (approval.digest !== plan.digest) throw new ProblemsError([stale(plan, approval, redactor)]);
}

function stale(plan: Plan, { digest, changes, source }: Approval, redactor: Redactor): Problem {
  const found = changes === null ? [] : differences(changes, plan, redactor);
  const told = found.length > 0 ? found : ['what would be sent is not what was approved'];
  return error(
    'stale-plan',
    [
      `stale plan: ${source} approved ${digest}, and it is ${plan.digest} now`,
      ...told.slice(0, 100),
      ...(told.length > 100 ? [`and ${told.length - 100} more`] : []),
    ].join('\n'),
    [],
    'nothing was sent; make a new plan and review it',
  );
}

function differences(approved: readonly MarkedChange[], plan: Plan, redactor: Redactor): string[] {
  const now = new Map(markedChanges(plan, redactor).map((change) => [change.address, change]));
  const before = new Map(approved.map((change) => [change.address, change]));
  return [
    ...approved.flatMap(({ address, action, hash }) => {
      const present = now.get(address);
      if (present === undefined) return [`${address}: ${action} was approved, and nothing is to be done now`];
      if (present.action !== action)
        return [`${address}: ${action} was approved, and it is ${present.action} now`];
      return present.hash === hash ? [] : [`${address}: something else would be sent now`];
    }),
    ...[...now.values()]
      .filter(({ address }) => !before.has(address))
      .map(({ address, action }) => `${address}: ${action} is new`),
  ];
}
