import * as z from 'zod';
import { annotationText, inRepository } from '../report/github.js';
import { plural } from '../report/words.js';
import type { WorkflowEvent } from './event.js';
import { expecting } from './github-answers.js';
import { type Manner, once, openClient } from './github-client.js';
import { type Annotated, titleLine } from './log.js';

/** What a check run says of a step. */
export interface Check {
  /** What people know it by. */
  readonly name: string;
  readonly conclusion: 'success' | 'neutral' | 'failure' | 'cancelled';
  /** One line of text that tells the outcome. */
  readonly title: string;
  /** The address of the run. */
  readonly url: string;
  /** The file that annotations without a place stand at, from the root of the repository. */
  readonly file: string;
}

/** How many annotations GitHub takes in one request, and how many are sent at most. */
const batch = 50;
const most = 1_000;
/** What GitHub takes as a message, in bytes, and as titles, in characters. */
const messageLimit = 64 * 1024;
const titleLimit = 255;
const nameLimit = 100;

const rawCheck = z.object({ id: z.number() });

const levels = { error: 'failure', warning: 'warning', notice: 'notice' } as const;

/**
 * Writes a check run with the annotations, the most important of which come first, and gives how many of them it has. Throws a
 * GithubFailure. Nothing of it is sent twice: what is sent again is there twice.
 */
export async function writeCheckRun(
  token: string,
  { owner, repository: repo, sha }: Pick<WorkflowEvent, 'owner' | 'repository' | 'sha'>,
  manner: Manner,
  check: Check,
  annotations: readonly Annotated[],
): Promise<number> {
  const { octokit, ask } = await openClient(token, manner);
  const { checks } = octokit.rest;
  const sent = annotations.slice(0, most).map((annotation) => annotationOf(annotation, check.file));
  // Each request says how many there are with it: it may be the last one that GitHub takes.
  const output = (from: number) => {
    const here = Math.min(from + batch, sent.length);
    const part = here < annotations.length ? `, of which the first ${here} are here` : '';
    return {
      title: titleLine(check.title).slice(0, titleLimit),
      summary: `${plural(annotations.length, 'annotation')}${part}. [The run](${check.url}) has all of it in its summary.`,
      annotations: sent.slice(from, from + batch),
    };
  };
  const id = await ask(async () => {
    const { data } = await checks.create({
      owner,
      repo,
      name: titleLine(check.name).slice(0, nameLimit),
      head_sha: sha,
      status: 'completed',
      conclusion: check.conclusion,
      details_url: check.url,
      output: output(0),
      request: { ...expecting(rawCheck).request, ...once.request },
    });
    return data.id;
  });
  for (let from = batch; from < sent.length; from += batch) {
    await ask(() => checks.update({ owner, repo, check_run_id: id, output: output(from), ...once }));
  }
  return sent.length;
}

function annotationOf({ level, title, message, place, folder }: Annotated, file: string) {
  const path = place?.file === undefined ? file : inRepository(folder, place.file);
  const line = place?.file === undefined ? 1 : (place.line ?? 1);
  return {
    path,
    start_line: line,
    end_line: line,
    annotation_level: levels[level],
    title: titleLine(title).slice(0, titleLimit),
    message: withinBytes(annotationText(message)),
  };
}

/** A text that isn't longer than GitHub takes it. */
function withinBytes(text: string): string {
  let short = text.slice(0, messageLimit);
  while (Buffer.byteLength(short) > messageLimit) short = short.slice(0, Math.floor(short.length * 0.9));
  return short.toWellFormed();
}
