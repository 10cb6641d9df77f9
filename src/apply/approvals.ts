import { error, type Problem } from '../base/problems.js';
import { newestRunIn } from '../state/shards.js';
import type { StateHead } from '../state/state.js';
import type { ChangeResult } from './result.js';

/** A used approval, as the state stores it. */
type UsedApproval = NonNullable<StateHead['approvals']>[number];

/** The plan that a workflow run applies, and its approval. */
export type Approval = Omit<UsedApproval, 'at' | 'runs' | 'left'>;

/** The used approvals and the newest run of a state. */
export type ApprovalHistory = Pick<StateHead, 'approvals' | 'last_run' | 'shards'>;

/** How many used approvals a state keeps. Any later approval refuses an older run. */
const MAX_APPROVALS = 100;

/** The approval that a workflow run has used; undefined if it has used none. */
export function usedApproval(
  { approvals = [] }: ApprovalHistory,
  { workflow_run, environment, digest }: Pick<Approval, 'workflow_run' | 'environment' | 'digest'>,
): UsedApproval | undefined {
  return approvals.find(
    (used) =>
      used.workflow_run === workflow_run && used.environment === environment && used.digest === digest,
  );
}

/**
 * The problem if an approval is not valid; undefined if it is. `startedAt` is the start of the workflow run, if this isn't its first
 * attempt; `plannedAt` is when the approved plan was made, if known.
 */
export function approvalProblem(
  state: ApprovalHistory,
  approval: Approval,
  startedAt: Date | null,
  plannedAt: Date | null = null,
): Problem | undefined {
  const { workflow_run, environment, pull_request, head, digest } = approval;
  const ofEnvironment = (state.approvals ?? []).filter((used) => used.environment === environment);
  const otherUse = ofEnvironment.find(
    (used) =>
      used.workflow_run !== workflow_run &&
      pull_request !== null &&
      used.pull_request === pull_request &&
      used.head === head &&
      used.digest === digest,
  );
  if (otherUse !== undefined)
    return approvalUsed(`the approval of ${requestName(pull_request, otherUse)} was used by ${otherUse.url}`);
  const newerRun = ofEnvironment.findLast((used) => BigInt(used.workflow_run) > BigInt(workflow_run));
  if (newerRun !== undefined) return approvalUsed(`a later run was applied since: ${describeUse(newerRun)}`);
  const ownUse = usedApproval(state, approval);
  if (ownUse?.left.length === 0)
    return approvalUsed(`all approved changes were already applied by ${ownUse.url}`);
  const from = ownUse === undefined ? (plannedAt ?? startedAt) : new Date(ownUse.at);
  const laterUse = ofEnvironment.findLast(
    (used) => used.workflow_run !== workflow_run && from !== null && Date.parse(used.at) > from.getTime(),
  );
  if (laterUse !== undefined) return approvalUsed(`another plan was applied since: ${describeUse(laterUse)}`);
  const newest = newestRunIn(state);
  const ofRuns = new Set(ofEnvironment.flatMap(({ runs }) => runs));
  // The prefix of a run's name at that time.
  const earliest =
    ownUse?.runs.at(-1) ??
    (from === null ? undefined : `${from.toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`);
  if (newest !== undefined && earliest !== undefined && newest > earliest && !ofRuns.has(newest))
    return approvalUsed(`run ${newest} was applied since`);
  return undefined;
}

/** A state's approvals, with one that a starting run uses for the objects with these keys. */
export function recordUse(
  { approvals = [] }: ApprovalHistory,
  approval: Approval,
  run: string,
  keys: readonly string[],
): UsedApproval[] {
  const before = usedApproval({ approvals }, approval);
  const at = new Date().toISOString();
  const used = { ...approval, at, runs: [...(before?.runs ?? []), run], left: [...keys] };
  return [...approvals.filter((one) => one !== before), used].slice(-MAX_APPROVALS);
}

/** A state's approvals after a run, with the keys of the objects that it did not apply. `keys` are those of the plan, by address. */
export function recordRemaining(
  { approvals = [] }: ApprovalHistory,
  run: string,
  results: readonly ChangeResult[],
  keys: ReadonlyMap<string, string>,
): UsedApproval[] {
  const left = results.flatMap(({ address, status }) =>
    status === 'applied' ? [] : (keys.get(address) ?? []),
  );
  return approvals.map((used) => (used.runs.at(-1) === run ? { ...used, left } : used));
}

function approvalUsed(message: string): Problem {
  return error('approval-used', message);
}

function describeUse(used: UsedApproval): string {
  const { pull_request, url } = used;
  return pull_request === null ? url : `${requestName(pull_request, used)}, by ${url}`;
}

/** The name of the pull request, or of the merge request if the URL is a GitLab pipeline. */
function requestName(number: number | null, { url }: UsedApproval): string {
  return url.includes('/-/pipelines/') ? `merge request !${number}` : `pull request #${number}`;
}
