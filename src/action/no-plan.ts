import { environmentNames } from './environments.js';
import type { Args, Inputs } from './inputs.js';
import type { Job } from './job.js';
import { markerLine, noPlan, readMarkers } from './marker.js';
import { commentKey, environmentOf, sharedKey } from './places.js';
import { sectionText } from './sections.js';
import { shardMeant } from './shard.js';
import { aboutText, subjectOf } from './subject.js';
import { plainText } from './text.js';

/** What of the inputs says which comment is meant, whatever else is wrong with them. */
export interface CommentInputs
  extends Pick<
    Inputs,
    'config' | 'environment' | 'environments' | 'workingDirectory' | 'githubToken' | 'comment' | 'shard'
  > {
  readonly args: Args;
}

const nothingSelected: Args = { target: [], kind: [], acceptDid: [] };

/** What of wrong inputs of apply says which comment is to say so. */
export interface ResultInputs extends CommentInputs {
  readonly prNumber?: number;
}

/** Finds in wrong inputs of apply which comment they mean; null where they are for another command, or for several comments. */
export function resultInputs(given: (name: string) => string): ResultInputs | null {
  if (given('command').trim().toLowerCase() !== 'apply') return null;
  const inputs = inputsOf(given, given('comment').trim().toLowerCase() === 'false' ? 'false' : 'on-change');
  const number = given('pr-number').trim();
  if (inputs.environments.length > 0) return null;
  return /^[1-9]\d{0,14}$/.test(number) ? { ...inputs, prNumber: Number(number) } : inputs;
}

/** Finds in wrong inputs which comment they mean; null where they are surely not about a plan. */
export function commentInputs(given: (name: string) => string): CommentInputs | null {
  const text = (name: string): string | undefined => given(name).trim() || undefined;
  const command = (text('command') ?? 'plan').toLowerCase();
  if (otherCommands.includes(command)) return null;
  const comment = text('comment')?.toLowerCase();
  // Nobody knows whether a wrong command was to be one that writes any.
  const isKnown = comment === 'false' || (comment === 'true' && command === 'plan');
  return inputsOf(given, isKnown ? comment : 'on-change');
}

function inputsOf(given: (name: string) => string, comment: Inputs['comment']): CommentInputs {
  const text = (name: string): string | undefined => given(name).trim() || undefined;
  const [config, environment, githubToken] = [text('config'), text('environment'), text('github-token')];
  const shard = shardMeant(given('shard'), given('args'));
  return {
    workingDirectory: text('working-directory') ?? '.',
    ...(config === undefined ? {} : { config }),
    ...(environment === undefined ? {} : { environment }),
    environments: environmentNames(given('environments')).map((name) => ({ name })),
    ...(githubToken === undefined ? {} : { githubToken }),
    comment,
    ...(shard === undefined ? {} : { shard }),
    args: nothingSelected,
  };
}

const otherCommands: readonly string[] = ['validate', 'apply', 'check'];

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
  inputs: CommentInputs,
  { title, text, hide, quiet = false }: NoPlan,
): Promise<void> {
  const { environments } = inputs;
  const names = environments.length === 0 ? [environmentOf(inputs)] : environments.map(({ name }) => name);
  const covers = names.map((name) => ({ key: commentKey(inputs, name), name }));
  const key = environments.length === 0 ? commentKey(inputs, null) : sharedKey(inputs, environments);
  const first = markerLine({ kind: 'plan', key, run: job.event.runId, ...noPlan });
  const heading = `${aboutText('idops plan', subjectOf(inputs, inputs.args, hide))}: ${title}`;
  await job.posts.comment(
    inputs,
    { key, covers },
    async (before) => ({
      body: `${first}\n${sectionText(key, plainText(heading, [...replaced(before), text].join('\n\n'), job.event))}`,
      opens: inputs.comment === 'true' && !quiet,
    }),
    { quiet },
  );
}

function replaced(before: readonly string[]): string[] {
  if (before.flatMap(readMarkers).every(({ digest }) => digest === null)) return [];
  return ['The plan that an earlier run showed here approves nothing any more.'];
}
