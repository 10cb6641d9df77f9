import { escapeText } from '../base/escape.js';
import type { WorkflowEvent } from './event.js';
import { type GithubApi, isSame, ownRemarks, type Remark } from './github.js';
import { GithubFailure } from './github-client.js';
import type { Author, CommentHistory } from './github-history.js';
import { type Marker, readMarker, readMarkers } from './marker.js';
import { type Covered, partsOf, superseded } from './sections.js';
import { saysOutdated } from './text.js';

/** What a pull request is to be told. */
export interface Told {
  readonly body: string;
  /** Whether a comment is written where there is none yet. */
  readonly opens: boolean;
}

/** What is to be told in the place of comments of before; empty where there were none. */
export type Tell = (before: readonly string[]) => Promise<Told>;

/** Which comment is meant, and which environments it is about. */
export interface About {
  readonly key: string;
  readonly covers: readonly Covered[];
}

/**
 * Brings the one comment of a project and its environments up to date, on whatever page of the comments it is. What another one
 * shows of them, since they were planned together or apart before, approves nothing any more.
 */
export async function syncComment(
  api: GithubApi,
  number: number,
  { key, covers }: About,
  tell: Tell,
): Promise<void> {
  const isIt = ({ body }: Remark): boolean => isAbout(body, 'plan', key) || isAbout(body, 'past', key);
  const showsToo = ({ body }: Remark): boolean => covers.some((one) => showsPlan(body, one.key));
  const comments = (await api.comments(number)).filter((one) => isIt(one) || showsToo(one));
  const owns = await ownRemarks(api, comments);
  const own = owns.find(isIt);
  const others = owns.filter((one) => one !== own && showsToo(one));
  const before = others.map(({ body }) => body);
  const updated =
    own !== undefined &&
    // Somebody may delete it meanwhile.
    (await api.updateComment(own.id, (await tell([own.body, ...before])).body));
  if (!updated) {
    const { body, opens } = await tell(before);
    if (opens || others.length > 0) await api.addComment(number, body);
  }
  if (others.length === 0) return;
  const { viewer, comments: found } = await api.histories(others.map(({ node }) => node));
  for (const one of found) {
    const id = others.find(({ node }) => node === one.node)?.id;
    // What somebody else edited approves nothing as it is, and would be ours.
    if (id === undefined || strangerIn(one, viewer) !== null) continue;
    const isShown = ({ key: shown }: Covered): boolean => showsPlan(one.body, shown);
    await api.updateComment(id, covers.filter(isShown).reduce(superseded, one.body));
  }
}

/** Who else edited a comment last; null where nobody did. */
function strangerIn({ lastEditedAt, editor }: CommentHistory, viewer: Author): string | null {
  if (editor === null) return lastEditedAt === null ? null : 'an account that GitHub does not name';
  return isSame(editor, viewer) ? null : editor.login;
}

/** Whether a comment shows the latest plan of a project and environment, or did until one failed. */
function showsPlan(body: string, key: string): boolean {
  return readMarkers(body).some((marker) => marker.kind === 'plan' && marker.key === key);
}

/** Whether a comment showed a plan with something in it, or may have, or says that one before it did. */
export function showedChanges(before: readonly string[], key: string): boolean {
  return before.some((body) => {
    const own = readMarkers(body).filter((one) => one.key === key && one.digest !== null);
    if (own.some(({ changes }) => changes?.length !== 0)) return true;
    return own.length > 0 && saysOutdated(partsOf(body, key).planned);
  });
}

/**
 * The merged pull request that a run belongs to: the one that it is for, or that brought its commit; null for none. One that isn't
 * merged is none: idops would be the last to have written a comment that somebody else may have changed, and that then approves.
 * Nor is one whose merge is another commit, of which another run tells what it came to.
 */
export async function broughtBy(
  api: GithubApi,
  { pullRequest, commit, branch }: WorkflowEvent,
  named: number | undefined,
): Promise<number | null> {
  const known = pullRequest?.number ?? named;
  if (known !== undefined) {
    const { mergedAt, mergeCommit } = pullRequest?.merge ?? (await api.pullRequest(known));
    return mergedAt !== null && mergeCommit === commit ? known : null;
  }
  const found = (await api.pullRequestsOf(commit)).find(
    ({ base, mergedAt, mergeCommit }) => mergedAt !== null && mergeCommit === commit && base === branch,
  );
  return found?.number ?? null;
}

/**
 * Changes the comment that has the plan of a project and environment, of several the one that was written last; `tell` is given it,
 * or null where there is none. What somebody else edited last stays as it is: it would be ours, and might approve.
 */
export async function syncResult(
  api: GithubApi,
  number: number,
  key: string,
  tell: (body: string | null) => Promise<string | null>,
): Promise<void> {
  const remarks = (await api.comments(number)).filter(({ body }) => showsPlan(body, key));
  const own = await latestOf(api, number, remarks);
  const told = await tell(own?.body ?? null);
  if (told === null || (own !== undefined && (await api.updateComment(own.id, told)))) return;
  const anew = own === undefined ? told : await tell(null);
  if (anew !== null) await api.addComment(number, anew);
}

/** The one of the own comments that was written last; undefined where there is none. */
async function latestOf(
  api: GithubApi,
  number: number,
  remarks: readonly Remark[],
): Promise<Pick<Remark, 'id' | 'body'> | undefined> {
  if (remarks.length === 0) return undefined;
  const { viewer, comments } = await api.histories(remarks.map(({ node }) => node));
  const since = ({ lastEditedAt, createdAt }: CommentHistory): number =>
    Date.parse(lastEditedAt ?? createdAt);
  const [latest] = comments
    .filter(({ author }) => author !== null && isSame(author, viewer))
    .sort((one, other) => since(other) - since(one));
  if (latest === undefined) return undefined;
  const stranger = strangerIn(latest, viewer);
  if (stranger !== null) {
    throw new GithubFailure(
      `the comment with the plan of pull request #${number} was edited by ${escapeText(stranger)}, and what somebody else wrote is not written anew`,
    );
  }
  const { id } = remarks.find(({ node }) => node === latest.node) ?? {};
  return id === undefined ? undefined : { id, body: latest.body };
}

/** What a first line says that a text is about. */
function isAbout(body: string, kind: Marker['kind'], key: string): boolean {
  const marker = readMarker(body);
  return marker?.kind === kind && marker.key === key;
}

/** What the drift issue is to be, or null where there is no drift. */
export interface Drift {
  readonly title: string;
  readonly body: string;
}

/** What became of the drift issue; null where there is and was none. */
export type DriftOutcome = { readonly issue: number; readonly done: 'opened' | 'updated' | 'closed' } | null;

/** Keeps one issue open for as long as there is drift. `gone` is its text from when there is none any more. */
export async function syncDriftIssue(
  api: GithubApi,
  key: string,
  drift: Drift | null,
  gone: string,
): Promise<DriftOutcome> {
  const issues: Remark[] = (await api.openIssues()).filter(({ body }) => isAbout(body, 'drift', key));
  const [own] = await ownRemarks(api, issues);
  if (drift === null) {
    if (own === undefined) return null;
    await api.updateIssue(own.id, { body: gone, close: true });
    return { issue: own.id, done: 'closed' };
  }
  if (own === undefined) return { issue: await api.openIssue(drift.title, drift.body), done: 'opened' };
  await api.updateIssue(own.id, { body: drift.body, close: false });
  return { issue: own.id, done: 'updated' };
}
