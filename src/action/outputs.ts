import { setOutput, summary, warning } from '@actions/core';
import { countDestructions } from '../plan/approve.js';
import { countPrivileged, type Plan, summarize } from '../plan/plan.js';

/** The outcome of the step. */
export interface StepOutcome {
  /** The exit code of the command line; 2 for a plan with changes. */
  readonly code: 0 | 1 | 2 | 130;
  /** The outcome in one line. */
  readonly summary: string;
  readonly changed: boolean;
  readonly plan?: Plan;
  readonly planFile?: string;
  readonly htmlReport?: string;
  /** The file with the text of the comment. */
  readonly commentFile?: string;
}

/** Sets the outputs of the step. Long texts are in files, which the outputs name. */
export function writeOutputs(outcome: StepOutcome, failed: boolean): void {
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
  const counts = {
    ...summarize(plan),
    destructive: countDestructions(plan),
    privileged: countPrivileged(plan),
  };
  for (const [name, count] of Object.entries(counts)) setOutput(name, String(count));
}

/** Adds a text to the summary of the step, if the runner has summaries. A failure is only a warning. */
export async function writeSummary(text: string): Promise<void> {
  if ((process.env.GITHUB_STEP_SUMMARY ?? '') === '') return;
  try {
    await summary.addRaw(text, true).write();
  } catch {
    warning("The summary of the step can't be written.", { title: 'idops' });
  }
}
