import { ProblemsError } from '../base/problems.js';
import type { Redactor } from '../secrets/redactor.js';
import { type ApproveMode, isSameText } from './approved.js';
import type { WorkflowEvent } from './event.js';
import { type GithubApi, GithubFailure, withGithub } from './github.js';
import type { PullRequest } from './github-objects.js';
import type { Inputs } from './inputs.js';
import { type Log, titleLine } from './log.js';
import { commentKind, hasMarker, type Marker, markerLine, readMarker } from './marker.js';
import { mergedPullRequest } from './merged-pull.js';
import { headingOf, plainHeadingOf, type Subject, selectionSentence } from './subject.js';
import { type PostedPlan, plainText, planText } from './text.js';

/** Writes comments and issues on GitHub. If that fails, the step warns and continues. */
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
   * Updates the comment with this marker key, if there is a pull request and the inputs ask for comments. `quiet`: doesn't warn if the token
   * lacks the permission, as it always does for a fork.
   */
  async comment(
    { comment, githubToken, prNumber }: Inputs,
    key: string,
    body: string,
    { createIfMissing, quiet = false }: { readonly createIfMissing: boolean; readonly quiet?: boolean },
  ): Promise<void> {
    const number = this.#event.pullRequest?.number ?? prNumber;
    if (number === undefined || comment === 'false' || githubToken === undefined) return;
    const write = async (api: GithubApi): Promise<void> => {
      // If the event has a pull request, the comment is written even if this request fails.
      const pull = await api.pullRequest(number).catch((failure: unknown) => {
        if (this.#event.pullRequest === null) throw failure;
        return null;
      });
      const why = pull === null ? null : this.#whyOutdated(pull);
      if (why !== null) {
        this.#log.annotate('warning', `The comment was not written: pull request #${number} ${why}.`);
        return;
      }
      const isOwn = (text: string): boolean => hasMarker(text, { kind: commentKind(this.#event), key });
      const [present] = await api.comments(number, isOwn);
      if (present !== undefined) await api.updateComment(present.id, body);
      else if (createIfMissing) await api.addComment(number, body, isOwn);
    };
    await this.#attempt('The comment', 'pull-requests: write', githubToken, write, { quiet });
  }

  /** Why the comment must not be replaced, as the rest of a sentence about the pull request; null if it may be. */
  #whyOutdated({ head, merged_at }: PullRequest): string | null {
    const { headSha } = this.#event;
    if (commentKind(this.#event) === 'plan' && merged_at !== null)
      return 'is merged, so its comment must stay as it was approved';
    if (head.sha === headSha) return null;
    const [current, planned] = [head.sha, headSha].map((sha) => sha.slice(0, 12));
    return `ends with ${current} now, and this run is for ${planned === '' ? 'another commit' : planned}; run the workflow for the newer commit`;
  }

  /** Writes the result of an apply as a comment on the pull request that was merged as the run's commit. */
  async result({ comment, githubToken, prNumber }: Inputs, body: string): Promise<void> {
    if (comment === 'false' || githubToken === undefined || this.#event.checkoutSha === '') return;
    const write = async (api: GithubApi): Promise<void> => {
      const pull = await mergedPullRequest(api, this.#event, prNumber).catch(nullIfNotMerged);
      if (pull !== null) await api.addComment(pull.number, body, (text) => isSameText(text, body));
    };
    await this.#attempt('The result', 'pull-requests: write', githubToken, write);
  }

  /** Opens or updates the issue about drift, or closes it if there are no findings. */
  async drift(
    { githubToken }: Inputs,
    posted: PostedPlan,
    { hasFindings, ...marker }: Omit<Marker, 'kind'> & { readonly hasFindings: boolean },
  ): Promise<void> {
    if (githubToken === undefined) {
      this.#log.annotate('warning', "The issue can't be written: there is no github-token.");
      return;
    }
    // The marker of a closed issue has neither a plan nor a run.
    const line = markerLine({ kind: 'drift', ...marker, ...(hasFindings ? {} : { plan: null, run: null }) });
    const { subject } = posted;
    const noDrift = `The server matches the ${subject.isNarrowed ? 'selected ' : ''}manifests.`;
    const note = 'The server differs from the manifests. Run apply, or change the manifests.';
    const text = hasFindings
      ? planText(posted, this.#event, { note, reserved: line.length + 1 }).text
      : plainText(
          `${headingOf('idops plan', subject)}: no drift`,
          [noDrift, selectionSentence(subject)].join(' ').trim(),
          this.#event,
        );
    await this.#issue(githubToken, marker.key, { body: `${line}\n${text}`, subject, isOpen: hasFindings });
  }

  /** Writes into the issue about drift why an apply failed. The next plan without changes closes the issue. */
  async failure(
    { githubToken }: Inputs,
    key: string,
    { text, subject }: { readonly text: string; readonly subject: Subject },
  ): Promise<void> {
    if (githubToken === undefined) return;
    const line = markerLine({ kind: 'drift', key, run: this.#event.runId, plan: null });
    await this.#issue(githubToken, key, { body: `${line}\n${text}`, subject, isOpen: true });
  }

  /** Updates the open issue with this marker key, or reopens the one that idops closed, or opens one; or closes it. */
  async #issue(
    token: string,
    key: string,
    { body, subject, isOpen }: { readonly body: string; readonly subject: Subject; readonly isOpen: boolean },
  ): Promise<void> {
    await this.#attempt('The issue', 'issues: write', token, async (api) => {
      const isOwn = (text: string): boolean => hasMarker(text, { kind: 'drift', key });
      const all = await api.issues(isOwn);
      const open = all.filter((issue) => issue.isOpen);
      if (!isOpen) {
        for (const { number } of open) {
          await api.updateIssue(number, body, { close: true });
          this.#log.write(`Issue #${number} was closed.`);
        }
        return;
      }
      const present = open.at(-1) ?? all.find((issue) => isClosedByIdops(readMarker(issue.body)));
      if (present === undefined) {
        const title = titleLine(plainHeadingOf('Identity server is not as declared', subject)).slice(0, 250);
        this.#log.write(`Issue #${await api.openIssue(title, body, isOwn)} was opened.`);
        return;
      }
      await api.updateIssue(present.number, body, { close: false });
      this.#log.write(`Issue #${present.number} was ${present.isOpen ? 'updated' : 'reopened'}.`);
    });
  }

  /** Whether a plan of the pull request must be reviewed; null if it is unknown what the base branch requires. */
  async approveMode({ approve, comment, githubToken }: Inputs): Promise<ApproveMode | null> {
    const base = this.#event.pullRequest?.base ?? null;
    if (approve !== undefined || comment === 'false' || githubToken === undefined || base === null)
      return approve ?? null;
    const ask = async (api: GithubApi): Promise<ApproveMode> =>
      (await api.requiresReviews(base)) ? 'reviewed' : 'merged';
    return await this.#askOrNull(githubToken, ask);
  }

  /** Whether the pull request changes none of the files in `paths`; false if unknown. */
  async changesNoPath({ githubToken, paths }: Inputs): Promise<boolean> {
    const { pullRequest } = this.#event;
    if (paths.length === 0 || pullRequest === null || githubToken === undefined) return false;
    const files = await this.#askOrNull(githubToken, (api) => api.changedFiles(pullRequest.number));
    // GitHub lists no more than 3,000.
    if (files === null || files.length >= 3_000) return false;
    return !files.some((file) => paths.some((path) => matchesPath(file, path)));
  }

  /** GitHub's answer; null if the request fails. */
  async #askOrNull<T>(token: string, ask: (api: GithubApi) => Promise<T>): Promise<T | null> {
    try {
      return await withGithub(token, this.#event, { signal: this.#signal }, ask);
    } catch (failure) {
      if (failure instanceof GithubFailure) return null;
      throw failure;
    }
  }

  /** Calls `ask` with GitHub's API. If a request fails, warns that `what` may be missing. */
  async #attempt(
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

/** Whether idops closed the issue with this marker: then it names neither a plan nor a run. */
function isClosedByIdops(marker: Marker | null): boolean {
  return marker !== null && marker.plan === null && marker.run === null;
}

/** Whether a path of the input `paths` matches a file: by its name, or as `FOLDER/**`. */
function matchesPath(file: string, path: string): boolean {
  return path.endsWith('/**') ? file.startsWith(path.slice(0, -2)) : file === path;
}

/** For `.catch`: null if the commit is not the merge of one pull request. */
function nullIfNotMerged(failure: unknown): PullRequest | null {
  if (failure instanceof ProblemsError) return null;
  throw failure;
}
