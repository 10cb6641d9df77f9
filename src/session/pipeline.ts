import type { Approval } from '../apply/approvals.js';
import type { StoredPlan } from '../plan/stored.js';

/**
 * What a job of GitLab CI applies a stored plan by, as its variables `env` tell it: a pipeline's plan counts once, for that pipeline.
 * Undefined anywhere else.
 */
export function pipelineApproval(
  env: { readonly [name: string]: string | undefined },
  { environment, digest }: StoredPlan,
): Approval | undefined {
  const { GITLAB_CI, CI_PIPELINE_ID: id = '', CI_PIPELINE_URL: url = `pipeline ${id}` } = env;
  if (GITLAB_CI !== 'true' || !/^\d{1,20}$/.test(id)) return undefined;
  return { pullRequest: null, head: null, planRun: id, environment, digest, workflowRun: id, url };
}
