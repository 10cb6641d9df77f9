import type { Inputs } from './inputs.js';
import type { Job } from './job.js';
import { commentKind, markerLine } from './marker.js';
import { type Ending, writeSummary } from './outputs.js';
import { commentKey } from './places.js';
import { aboutText, subjectOf } from './subject.js';
import { plainText } from './text.js';

/** The text in place of a plan. */
export interface NoPlan {
  /** In a word or two. */
  readonly title: string;
  /** In Markdown. */
  readonly text: string;
  /** Removes credentials from names. */
  readonly hide: (text: string) => string;
  /** Opens no comment, and doesn't warn if the comment can't be written. */
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
  const heading = `${aboutText('idops plan', subjectOf(inputs, inputs.args, hide))}: ${title}`;
  const body = `${first}\n${plainText(heading, text, job.event)}`;
  await job.posts.comment(inputs, key, body, { opens: inputs.comment === 'true' && !quiet, quiet });
}

/** Ends a plan of a pull request that changes no file of `paths`. If an earlier commit did, the comment says so. */
export async function reportNothingToPlan(job: Job, inputs: Inputs): Promise<Ending> {
  const summary = 'nothing to plan';
  const text =
    'This pull request changes no file that is planned. Merging it applies nothing of what was shown here before.';
  job.log.say(text);
  await writeSummary(`## idops plan: ${summary}\n\n${text}`);
  const { redact: hide } = job.redactor;
  const quiet = job.event.pullRequest?.withoutSecrets != null;
  await reportNoPlan(job, inputs, { title: summary, text, hide, quiet });
  return { code: 0, summary, changed: false };
}
