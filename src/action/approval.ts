import { escapeText } from '../base/escape.js';
import { error, ProblemsError } from '../base/problems.js';
import { shardText } from '../base/shard.js';
import { changesServer, type Plan } from '../plan/plan.js';
import { type GithubApi, GithubFailure, type PullRequest, withGithub } from './github.js';
import { fromPullRequest, type Inputs } from './inputs.js';
import type { Job } from './job.js';
import { isAbout, type Marker, markPlan, readMarker } from './marker.js';
import { mergedPullRequest, refusal, wayOut } from './merged.js';
import { commentKey } from './places.js';

/**
 * Throws a ProblemsError where a plan is not what `expect-digest` says that was approved. A plan that changes nothing needs no
 * approval, so that a run can be repeated.
 */
export async function checkApproval(job: Job, inputs: Inputs, expected: string, plan: Plan): Promise<void> {
  if (!changesServer(plan)) return;
  const { shard, environment } = plan;
  const { source, digest, observed, runUrl } =
    expected === fromPullRequest
      ? await approvalOf(job, inputs, environment)
      : { source: 'expect-digest', digest: expected, observed: null, runUrl: null };
  if (digest === null) {
    const part = shard === undefined ? '' : `shard ${shardText(shard)} of `;
    throw refusal(
      `${source} approves no plan for ${part}this environment, and there is something to change now`,
      `a comment approves the plan that it shows, if it shows all of it and all that is declared: run idops plan on the pull request with comments; if it is merged, ${wayOut}`,
    );
  }
  job.log.say(`${source} approved ${digest}`);
  const now = await markPlan(plan, job.redactor);
  const isSame = digest === now.digest;
  if (isSame && (observed === null || observed === now.observed)) return;
  throw new ProblemsError([
    error(
      'stale-plan',
      `stale plan: ${source} approved ${digest}, and ${isSame ? 'the server was changed since' : `it is ${now.digest} now`}`,
      [],
      `nothing was sent; ${runUrl === null ? '' : `${runUrl} shows what was approved; `}make a new plan and review it`,
    ),
  ]);
}

/** What the pull request of the run showed when it was merged. `digest` and `observed` are null where it showed no plan. */
async function approvalOf({ event, signal }: Job, inputs: Inputs, environment: string | null) {
  if (inputs.githubToken === undefined)
    throw refusal('expect-digest: from-pull-request needs the input github-token', 'give it, or a digest');
  const key = commentKey(inputs, environment);
  try {
    return await withGithub(inputs.githubToken, event, { signal }, async (api) => {
      const pull = await mergedPullRequest(api, event, inputs.prNumber);
      const marker = await approvedMarker(api, pull, key);
      const { digest, observed } = marker?.plan ?? { digest: null, observed: null };
      const runUrl = marker?.run == null ? null : event.runUrl.replace(/[^/]*$/, marker.run);
      return { source: `pull request #${pull.number}`, digest, observed, runUrl };
    });
  } catch (failure) {
    if (!(failure instanceof GithubFailure)) throw failure;
    throw refusal(
      `what was approved can't be read: ${failure.message.replace(/\.$/, '')}`,
      failure.lacksPermission
        ? 'the job needs the permissions contents: read and pull-requests: read'
        : 'nothing was sent; run it again when that is put right or over',
    );
  }
}

/**
 * What idops' own comment said when the pull request was merged: of several the one that was written last; null where there was none.
 * Throws a ProblemsError where anybody else edited it, or where it was edited after the merge.
 */
async function approvedMarker(
  api: GithubApi,
  { number, merged_at }: PullRequest,
  key: string,
): Promise<Marker | null> {
  const comments = await api.comments(number, (body) => isAbout(body, { kind: 'plan', key }));
  if (comments.length === 0) return null;
  const merged = Date.parse(merged_at ?? '');
  let latest: { readonly body: string; readonly since: number } | undefined;
  for (const comment of await api.histories(comments.map(({ node }) => node))) {
    const { body, createdAt, lastEditedAt, author, editor } = comment;
    const isOwn = editor?.login === author?.login && editor?.__typename === author?.__typename;
    if ((lastEditedAt !== null || editor !== null) && (editor === null || !isOwn)) {
      const who = editor === null ? 'an account that GitHub does not name' : escapeText(editor.login);
      throw refusal(
        `the comment with the plan of pull request #${number} was edited by ${who}`,
        `only what idops wrote is approved: plan again before the merge; after it, ${wayOut}`,
      );
    }
    const since = Date.parse(lastEditedAt ?? createdAt);
    if (lastEditedAt === null && since > merged) continue;
    if (!(since <= merged))
      throw refusal(`the comment with the plan of pull request #${number} was changed after the merge`);
    if (latest === undefined || since > latest.since) latest = { body, since };
  }
  return latest === undefined ? null : readMarker(latest.body);
}
