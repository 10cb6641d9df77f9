import { changesServer, summarize } from '../plan/plan.js';
import { code } from '../report/markdown-escape.js';
import type { ApproveMode } from './approved.js';
import type { SharedPlan } from './text.js';

/** The same for a plan that no merge applies. */
export const approvesNothing =
  'This comment approves nothing: merging applies the plan that a run for the event `pull_request` showed.';

/** What happens next with a plan of a pull request, in one sentence of Markdown. `mode` is null if nobody knows whether reviews count. */
export function nextSentence(
  { plan, subject }: SharedPlan,
  mode: ApproveMode | null,
  isWhole: boolean,
): string {
  const where = subject.environment === null ? 'the server' : code(subject.environment);
  if (summarize(plan).blocked > 0)
    return `Merging applies nothing to ${where}: \`apply\` refuses this plan as long as a change is blocked.`;
  if (!isWhole)
    return `This comment approves nothing, since it does not show the whole plan: after the merge, an \`apply\` that takes its approval from the pull request sends nothing to ${where} until somebody starts it with a digest.`;
  if (!changesServer(plan)) return `Merging sends nothing to ${where}: there is nothing to change.`;
  const review =
    mode === 'merged'
      ? ''
      : `, after an approving review of this plan${mode === 'reviewed' ? '' : ' if the branch requires reviews'}`;
  return `Merging applies this to ${where}${review}, after a review of the environment if it requires one.`;
}
