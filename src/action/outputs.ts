import { setOutput, summary, warning } from '@actions/core';
import { countDestructions } from '../plan/approve.js';
import { type Plan, summarize } from '../plan/plan.js';

/** How a run of the action ended. */
export interface Ending {
  /** As the command line would exit; 2 for a plan with changes. */
  readonly code: 0 | 1 | 2 | 130;
  /** One line that tells it. */
  readonly summary: string;
  readonly changed: boolean;
  readonly plan?: Plan;
  readonly planFile?: string;
  readonly htmlReport?: string;
  /** The comment with the plan, as a file. */
  readonly commentFile?: string;
}

/** Sets the outputs. All are short: whatever can be long is in a file that they name. */
export function writeOutputs(outcome: Ending, failed: boolean): void {
  const { code, plan } = outcome;
  setOutput('changed', String(outcome.changed));
  setOutput('failed', String(failed));
  setOutput('exit-code', String(code));
  setOutput('summary', outcome.summary);
  setOutput('digest', plan?.digest ?? '');
  setOutput('plan-file', outcome.planFile ?? '');
  setOutput('html-report', outcome.htmlReport ?? '');
  setOutput('comment-file', outcome.commentFile ?? '');
  if (plan === undefined) return;
  const counts = { ...summarize(plan), destructive: countDestructions(plan) };
  for (const [name, count] of Object.entries(counts)) setOutput(name, String(count));
}

/** Adds to the summary of the step, where the runner has one. That it can't be written stops nothing. */
export async function writeSummary(text: string): Promise<void> {
  if ((process.env.GITHUB_STEP_SUMMARY ?? '') === '') return;
  try {
    await summary.addRaw(text, true).write();
  } catch {
    warning("The summary of the step can't be written.", { title: 'idops' });
  }
}
