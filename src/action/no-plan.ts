import type { Inputs } from './inputs.js';
import type { Job } from './job.js';
import { commentKind, markerLine } from './marker.js';
import { type StepOutcome, writeSummary } from './outputs.js';
import { headingOf, subjectOf } from './subject.js';
import { plainText } from './text.js';
import { commentKey } from './workspace.js';

/** A text that replaces a plan. */
export interface NoPlan {
  /** The outcome in one or two words. */
  readonly title: string;
  /** Markdown. */
  readonly text: string;
  /** Removes credentials from names. */
  readonly hide: (text: string) => string;
  /** Only updates an existing comment, and doesn't warn if the token lacks the permission. */
  readonly quiet?: boolean;
}

/** Replaces the comment of the pull request, so that nobody approves the plan of an earlier commit. */
export async function reportNoPlan(
  job: Job,
  inputs: Inputs,
  { title, text, hide, quiet = false }: NoPlan,
): Promise<void> {
  const key = commentKey(inputs, null);
  const first = markerLine({ kind: commentKind(job.event), key, run: job.event.runId, plan: null });
  const heading = `${headingOf('idops plan', subjectOf(inputs, inputs.args, hide))}: ${title}`;
  const body = `${first}\n${plainText(heading, text, job.event)}`;
  await job.posts.comment(inputs, key, body, { createIfMissing: inputs.comment === 'true' && !quiet, quiet });
}

/** Reports that a pull request changes no file of `paths`. A comment for an earlier commit that did is replaced. */
export async function reportNothingToPlan(job: Job, inputs: Inputs): Promise<StepOutcome> {
  const summary = 'nothing to plan';
  const text =
    'This pull request changes no file in `paths`, so nothing is planned. Merging it applies nothing that was shown here before.';
  job.log.write(text);
  await writeSummary(`## idops plan: ${summary}\n\n${text}`);
  const { redact: hide } = job.redactor;
  const quiet = job.event.pullRequest?.noSecretsReason != null;
  await reportNoPlan(job, inputs, { title: summary, text, hide, quiet });
  return { code: 0, summary, changed: false };
}
