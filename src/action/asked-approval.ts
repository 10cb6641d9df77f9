import type { Plan } from '../plan/plan.js';
import { approvalOf } from './approval.js';
import { openGithub } from './github.js';
import { fromPullRequest, type Inputs } from './inputs.js';
import type { Job } from './job.js';
import { commentKey } from './places.js';
import { refusal } from './refusal.js';
import type { Approval } from './stale.js';

/**
 * What `expect-digest` says that was approved: a digest, or what the pull request shows; null where that shows no plan. `open` says
 * whether the pull request may be one that isn't merged. Throws a ProblemsError where it can't be found out.
 */
export async function approvalFor(
  job: Job,
  inputs: Inputs,
  expected: string,
  plan: Plan,
  { open = false } = {},
): Promise<Approval | null> {
  if (expected !== fromPullRequest)
    return { digest: expected, observed: null, changes: null, source: 'expect-digest', runUrl: null };
  if (inputs.githubToken === undefined) {
    throw refusal('expect-digest: from-pull-request needs the input github-token', 'give it, or a digest');
  }
  const api = await openGithub(inputs.githubToken, job.event, { signal: job.signal });
  const key = commentKey(inputs, plan.environment);
  const approval = await approvalOf(api, job.event, { key, named: inputs.prNumber, open });
  if (approval !== null) job.log.say(`${approval.source} approved ${approval.digest}`);
  return approval;
}
