import { ProblemsError } from '../base/problems.js';
import type { Redactor } from '../secrets/redactor.js';
import { type ApproveMode, isSameText } from './approved.js';
import type { WorkflowEvent } from './event.js';
import { type GithubApi, GithubFailure, withGithub } from './github.js';
import type { PullRequest } from './github-objects.js';
import type { Inputs } from './inputs.js';
import { type Log, titleLine } from './log.js';
import { commentKind, isAbout, type Marker, markerLine, readMarker } from './marker.js';
import { mergedPullRequest } from './merged-pull.js';
import { aboutPlain, aboutText, type Subject, selectedSentence } from './subject.js';
import { plainText, planText, type SharedPlan } from './text.js';

/** Writes comments and issues on GitHub. If that fails, the step warns and goes on. */
export class Posts {
  readonly #event: WorkflowEvent;
  readonly #redactor: Redactor;
  readonly #log: Log;
  readonly #signal: AbortSignal;

  constructor(event: WorkflowEvent, redactor: Redactor, log: Log, signal: AbortSignal) {
    this.#event = event;
    this.#redactor = redactor;
    this.#log = log;
    this.#signal = signal;
  }

  /**
   * Updates the comment with the plan of a project and environment, if there is a pull request and a comment is wanted. `opens`: also if
   * there is no comment yet. `quiet`: doesn't warn if the token lacks the permission, which it always does for a fork.
   */
  async comment(
    { comment, githubToken, prNumber }: Inputs,
    key: string,
    body: string,
    { opens, quiet = false }: { readonly opens: boolean; readonly quiet?: boolean },
  ): Promise<void> {
    const number = this.#event.pullRequest?.number ?? prNumber;
    if (number === undefined || comment === 'false' || githubToken === undefined) return;
    const write = async (api: GithubApi): Promise<void> => {
      // The event has the pull request already, so a missing answer changes nothing.
      const pull = await api.pullRequest(number).catch((failure: unknown) => {
        if (this.#event.pullRequest === null) throw failure;
        return null;
      });
      const why = pull === null ? null : this.#whyOutdated(pull);
      if (why !== null) {
        this.#log.annotate('warning', `The comment was not written: pull request #${number} ${why}.`);
        return;
      }
      const isIt = (text: string): boolean => isAbout(text, { kind: commentKind(this.#event), key });
      const [own] = await api.comments(number, isIt);
      if (own !== undefined) await api.updateComment(own.id, body);
      else if (opens) await api.addComment(number, body, isIt);
    };
    await this.#asking('The comment', 'pull-requests: write', githubToken, write, { quiet });
  }

  /** Why the comment must stay as it is, after the name of the pull request; null if it may be replaced. */
  #whyOutdated({ head, merged_at }: PullRequest): string | null {
    const { sha } = this.#event;
    if (commentKind(this.#event) === 'plan' && merged_at !== null)
      return 'is merged, and its comment stays as it was approved';
    if (head.sha === sha) return null;
    const [now, then] = [head.sha, sha].map((one) => one.slice(0, 12));
    return `ends with ${now} now, and this is of ${then === '' ? 'another commit' : then}; run the workflow for that commit`;
  }

  /** Writes the result of an apply as a comment of the pull request that brought the commit. */
  async result({ comment, githubToken, prNumber }: Inputs, body: string): Promise<void> {
    if (comment === 'false' || githubToken === undefined || this.#event.commit === '') return;
    const write = async (api: GithubApi): Promise<void> => {
      const pull = await mergedPullRequest(api, this.#event, prNumber).catch(nothing);
      if (pull !== null) await api.addComment(pull.number, body, (text) => isSameText(text, body));
    };
    await this.#asking('The result', 'pull-requests: write', githubToken, write);
  }

  /** Keeps one issue open while the server differs from the manifests. */
  async drift(
    { githubToken }: Inputs,
    shown: SharedPlan,
    { found, ...marker }: Omit<Marker, 'kind'> & { readonly found: boolean },
  ): Promise<void> {
    if (githubToken === undefined) {
      this.#log.annotate('warning', "The issue can't be written: there is no github-token.");
      return;
    }
    // The marker of a closed issue has neither a plan nor a run.
    const first = markerLine({ kind: 'drift', ...marker, ...(found ? {} : { plan: null, run: null }) });
    const { subject } = shown;
    const gone = `The server is as the manifests say${subject.narrowed ? ', as far as they were looked at' : ''}.`;
    const note =
      'The server is not as the manifests say. Apply puts it right; so does a change of the manifests.';
    const text = found
      ? planText(shown, this.#event, { note, taken: first.length + 1 }).text
      : plainText(
          `${aboutText('idops plan', subject)}: no drift`,
          [gone, selectedSentence(subject)].join(' ').trim(),
          this.#event,
        );
    const body = `${first}\n${text}`;
    await this.#issue(githubToken, marker.key, { body, subject, found });
  }

  /** Writes into the same issue why an apply failed. A plan without changes closes it. */
  async failure(
    { githubToken }: Inputs,
    key: string,
    { text, subject }: { readonly text: string; readonly subject: Subject },
  ): Promise<void> {
    if (githubToken === undefined) return;
    const first = markerLine({ kind: 'drift', key, run: this.#event.runId, plan: null });
    await this.#issue(githubToken, key, { body: `${first}\n${text}`, subject, found: true });
  }

  /** Updates the open issue of a project and environment, or reopens the one that idops closed. */
  async #issue(
    token: string,
    key: string,
    { body, subject, found }: { readonly body: string; readonly subject: Subject; readonly found: boolean },
  ): Promise<void> {
    await this.#asking('The issue', 'issues: write', token, async (api) => {
      const isIt = (one: string): boolean => isAbout(one, { kind: 'drift', key });
      const all = await api.issues(isIt);
      const open = all.filter(({ isOpen }) => isOpen);
      if (!found) {
        for (const { number } of open) {
          await api.updateIssue(number, body, { close: true });
          this.#log.say(`Issue #${number} was closed.`);
        }
        return;
      }
      const own = open.at(-1) ?? all.find((one) => isClosed(readMarker(one.body)));
      if (own === undefined) {
        const title = titleLine(aboutPlain('Identity server is not as declared', subject)).slice(0, 250);
        this.#log.say(`Issue #${await api.openIssue(title, body, isIt)} was opened.`);
        return;
      }
      await api.updateIssue(own.number, body, { close: false });
      this.#log.say(`Issue #${own.number} was ${own.isOpen ? 'updated' : 'reopened'}.`);
    });
  }

  /** Which plan of the pull request approves; null if it is unknown what the base branch requires. */
  async approveMode({ approve, comment, githubToken }: Inputs): Promise<ApproveMode | null> {
    const base = this.#event.pullRequest?.base ?? null;
    if (approve !== undefined || comment === 'false' || githubToken === undefined || base === null)
      return approve ?? null;
    const ask = async (api: GithubApi): Promise<ApproveMode> =>
      (await api.requiresReviews(base)) ? 'reviewed' : 'merged';
    return await this.#answer(githubToken, ask);
  }

  /** Whether the pull request changes none of the files in `paths`; false if unknown. */
  async changesNone({ githubToken, paths }: Inputs): Promise<boolean> {
    const { pullRequest } = this.#event;
    if (paths.length === 0 || pullRequest === null || githubToken === undefined) return false;
    const files = await this.#answer(githubToken, (api) => api.changedFiles(pullRequest.number));
    // GitHub lists no more than 3,000.
    if (files === null || files.length >= 3_000) return false;
    return !files.some((file) => paths.some((path) => isBelow(file, path)));
  }

  /** GitHub's answer; null if the request fails. */
  async #answer<T>(token: string, ask: (api: GithubApi) => Promise<T>): Promise<T | null> {
    try {
      return await withGithub(token, this.#event, { signal: this.#signal }, ask);
    } catch (failure) {
      if (failure instanceof GithubFailure) return null;
      throw failure;
    }
  }

  /** Asks GitHub for something that may fail: a warning then says what to do. */
  async #asking(
    what: string,
    permission: string,
    token: string,
    ask: (api: GithubApi) => Promise<void>,
    { quiet = false }: { readonly quiet?: boolean } = {},
  ): Promise<void> {
    try {
      await withGithub(token, this.#event, { signal: this.#signal }, ask);
    } catch (failure) {
      if (!(failure instanceof GithubFailure)) throw failure;
      const { message, lacksPermission } = failure;
      if (quiet && lacksPermission) return;
      const reason = this.#redactor.redactSentence(message).replace(/\.+$/, '');
      const help = lacksPermission ? ` The job needs the permission ${permission}.` : '';
      this.#log.annotate('warning', `${what} may be missing: ${reason}.${help}`);
    }
  }
}

/** Whether idops closed the issue with this marker. */
function isClosed(marker: Marker | null): boolean {
  return marker !== null && marker.plan === null && marker.run === null;
}

/** Whether a path names a file, or as `FOLDER/**` its folder. */
function isBelow(file: string, path: string): boolean {
  return path.endsWith('/**') ? file.startsWith(path.slice(0, -2)) : file === path;
}

/** For `.catch`: null if no pull request brought the commit. */
function nothing(failure: unknown): PullRequest | null {
  if (failure instanceof ProblemsError) return null;
  throw failure;
}
