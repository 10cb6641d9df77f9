import { type Plan, summarize } from '../plan/plan.js';

/** What GitLab shows of a plan beside a merge request: the counts of a report of the type `terraform`. */
export interface GitlabReport {
  /** Always 0: no operation creates anything. */
  readonly create: number;
  /** Updates, and regenerated DIDs. */
  readonly update: number;
  /** Deleted templates. */
  readonly delete: number;
}

/** A plan as counts and nothing else, of all of it. What is only recorded, or blocked, changes nothing and isn't counted. */
export function planGitlab(plan: Plan): GitlabReport {
  const { update, regenerate, delete: deleted } = summarize(plan);
  return { create: 0, update: update + regenerate, delete: deleted };
}
