import { escapeText } from '../base/escape.js';
import type { PullRequest } from './event.js';
import { type GithubApi, isSame, type Remark } from './github.js';
import type { Author, CommentHistory } from './github-history.js';
import type { Marker } from './marker.js';
import { refusal } from './refusal.js';

/** A text that idops wrote, and since when a comment said it. */
interface Said {
  readonly text: string;
  readonly since: number;
}

/** What a person can do whose comment was changed. */
const planAgain =
  'plan again on the pull request before it is merged; after that, look at the plan that this run shows, and start the workflow by hand with its digest as expect-digest';

/**
 * What idops' own comment said when the pull request was merged, or says now where it isn't merged: of several the one that was
 * written last, and none of which another shows a later plan; null where there is none. Throws a ProblemsError where anybody else had a hand in it, or may have had.
 */
export async function approvedText(
  api: GithubApi,
  pull: PullRequest,
  kindOf: (body: string) => Marker['kind'] | null,
): Promise<string | null> {
  const comments = (await api.comments(pull.number)).filter(({ body }) => kindOf(body) !== null);
  if (comments.length === 0) return null;
  const { viewer, comments: found } = await api.histories(comments.map(({ node }: Remark) => node));
  const said: Said[] = [];
  for (const comment of found) {
    if (comment.author === null || !isSame(comment.author, viewer)) continue;
    refuseEdited(comment, pull, viewer);
    const one = await saidAt(api, comment, pull, viewer);
    if (one !== null && kindOf(one.text) === 'plan') said.push(one);
  }
  const [latest] = said.sort((one, other) => other.since - one.since);
  return latest?.text ?? null;
}

function refuseEdited(
  { lastEditedAt, editor }: CommentHistory,
  { number }: PullRequest,
  viewer: Author,
): void {
  if (lastEditedAt === null && editor === null) return;
  if (editor !== null && isSame(editor, viewer)) return;
  const who = editor === null ? 'an account that GitHub does not name' : escapeText(editor.login);
  throw refusal(
    `the comment with the plan of pull request #${number} was edited by ${who} at ${lastEditedAt ?? 'an unknown time'}`,
    `only what idops wrote is approved: ${planAgain}`,
  );
}

/** What a comment said at the merge; null where it wasn't there yet. */
async function saidAt(
  api: GithubApi,
  { node, body, createdAt, lastEditedAt }: CommentHistory,
  { number, mergedAt }: PullRequest,
  viewer: Author,
): Promise<Said | null> {
  const since = timeOf(lastEditedAt ?? createdAt, number);
  if (mergedAt === null) return { text: body, since };
  const merged = timeOf(mergedAt, number);
  if (since <= merged) return { text: body, since };
  if (timeOf(createdAt, number) > merged) return null;
  const versions = (await api.versions(node))
    .map((version) => ({ ...version, since: timeOf(version.at, number) }))
    .filter((version) => version.since <= merged)
    .sort((one, other) => other.since - one.since);
  const [last, before] = versions;
  if (last === undefined || last.by === null || !isSame(last.by, viewer) || last.since === before?.since) {
    throw unknown(number, lastEditedAt);
  }
  const text = await api.versionText(last.node);
  if (text === null) throw unknown(number, lastEditedAt);
  return { text, since: last.since };
}

function unknown(number: number, editedAt: string | null) {
  return refusal(
    `the comment with the plan of pull request #${number} was changed after the merge${editedAt === null ? '' : `, at ${editedAt}`}, and GitHub doesn't say that idops wrote what it said before`,
    planAgain,
  );
}

function timeOf(text: string, number: number): number {
  const time = Date.parse(text);
  if (Number.isNaN(time)) {
    throw refusal(`GitHub doesn't say when the plan of pull request #${number} was written`, planAgain);
  }
  return time;
}
