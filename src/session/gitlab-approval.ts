import type { Approval } from '../apply/approvals.js';
import { type ProblemsError, problemError } from '../base/problems.js';
import type { StoredPlan } from '../plan/stored.js';
import type { Environment } from './forge.js';

export interface PipelineApproval {
  readonly approval: Approval;
  /** When the plan of the merge request was made; null without IDOPS_APPROVAL. */
  readonly plannedAt: Date | null;
  /** When the pipeline was created; null if GitLab doesn't set it. */
  readonly pipelineStartedAt: Date | null;
}

/**
 * The approval of a stored plan that a job of GitLab CI applies, from its variables `env`. A plan can be used once for its pipeline, and
 * once for the merge request in IDOPS_APPROVAL (its number, last commit, planning pipeline and time). Undefined outside of GitLab CI. Throws a ProblemsError (`not-approved`) if IDOPS_APPROVAL can't be read, or if the state is a file
 * (`inFile`) that is deleted with the job.
 */
export function pipelineApproval(
  env: Environment,
  { environment, digest }: StoredPlan,
  inFile: boolean,
): PipelineApproval | undefined {
  const { GITLAB_CI, CI_PIPELINE_ID: id = '', CI_PIPELINE_URL: url = `pipeline ${id}` } = env;
  if (GITLAB_CI !== 'true' || !/^\d{1,20}$/.test(id)) return undefined;
  const { IDOPS_APPROVAL: given = '', CI_PIPELINE_CREATED_AT: began = '' } = env;
  const [, request, head = null, plan_run = null, made = ''] =
    /^([1-9]\d{0,9}) ([0-9a-f]{40,64}) (\d{1,20}) (\d{4}-\d\d-\d\dT[\d:.]+Z)$/.exec(given) ?? [];
  if (given !== '' && timeOf(made) === null)
    throw refusal('IDOPS_APPROVAL is not what gitlab.mjs approved prints', 'let the job set it to that');
  if (given !== '' && inFile && env.CI_DISPOSABLE_ENVIRONMENT === 'true')
    throw refusal(
      'an approval can be used only once, which the state records, but the state is a file that is deleted with this runner',
      'keep the state in git or PostgreSQL: state: {git: {}}',
    );
  const pull_request = request === undefined ? null : Number(request);
  return {
    approval: { pull_request, head, plan_run, environment, digest, workflow_run: id, url },
    plannedAt: timeOf(made),
    pipelineStartedAt: timeOf(began),
  };
}

function timeOf(text: string): Date | null {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? null : time;
}

function refusal(message: string, hint: string): ProblemsError {
  return problemError('not-approved', message, `nothing was sent; ${hint}`);
}
