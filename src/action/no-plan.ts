import type { Inputs } from './inputs.js';
import type { Job } from './job.js';
import { commentKind, markerLine } from './marker.js';
import { type Ending, writeSummary } from './outputs.js';
import { commentKey } from './places.js';
import { aboutText, subjectOf } from './subject.js';
import { plainText } from './text.js';

/** What is told in the place of a plan. */
export interface NoPlan {
  /** In a word or two. */
  readonly title: string;
  /** In Markdown. */
  readonly text: string;
  /** Takes credentials out of what names the plan. */
  readonly hide: (text: string) => string;
  /** Whether nothing is said where the comment can't be written, and none is written where there is none. */
  readonly quiet?: boolean;
}

/** Says in the comment of the pull request that this commit has no plan, so that nobody approves one of before. */
export async function tellNoPlan(
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

/** Ends a plan of a pull request that changes no file of `paths`. If a former commit of it did, its comment says so. */
export async function tellNothingToPlan(job: Job, inputs: Inputs): Promise<Ending> {
  const summary = 'nothing to plan';
  const text =
    'This pull request changes no file that is planned. Merging it applies nothing of what was shown here before.';
  job.log.say(text);
  await writeSummary(`## idops plan: ${summary}\n\n${text}`);
  const { redact: hide } = job.redactor;
  const quiet = job.event.pullRequest?.withoutSecrets != null;
  await tellNoPlan(job, inputs, { title: summary, text, hide, quiet });
  return { code: 0, summary, changed: false };
}
