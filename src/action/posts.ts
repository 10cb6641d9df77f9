import { ProblemsError } from '../base/problems.js';
import type { Redactor } from '../base/redact.js';
import type { WorkflowEvent } from './event.js';
import { type GithubApi, GithubFailure, type PullRequest, withGithub } from './github.js';
import type { Inputs } from './inputs.js';
import { type Log, titleLine } from './log.js';
import { isAbout, type Marker, markerLine } from './marker.js';
import { mergedPullRequest } from './merged.js';
import { aboutPlain, aboutText, selectedSentence } from './subject.js';
import { plainText, planText, type SharedPlan } from './text.js';

/** What the step writes on GitHub. That it can't be written stops nothing. */
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
   * Brings the one comment with the plan of a project and environment up to date, where there is a pull request and it is wanted.
   * `opens` says whether it is written where there is none yet. With `quiet` nothing is said where the token may not: of what comes
   * from a fork it never does.
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
      if (this.#event.pullRequest === null) {
        const { head } = await api.pullRequest(number);
        if (head.sha !== this.#event.sha) {
          const [now, then] = [head.sha, this.#event.sha].map((sha) => sha.slice(0, 12));
          const other = then === '' ? 'another commit' : then;
          this.#log.annotate(
            'warning',
            `The comment was not written: pull request #${number} ends with ${now} now, and this is of ${other}. Run it again.`,
          );
          return;
        }
      }
      const [own] = await api.comments(number, (text) => isAbout(text, { kind: 'plan', key }));
      if (own !== undefined) await api.updateComment(own.id, body);
      else if (opens) await api.addComment(number, body);
    };
    await this.#asking('The comment', 'pull-requests: write', githubToken, write, { quiet });
  }

  /** Writes what apply came to as a comment of the pull request that brought the commit. */
  async result({ comment, githubToken, prNumber }: Inputs, body: string): Promise<void> {
    if (comment === 'false' || githubToken === undefined || this.#event.commit === '') return;
    const write = async (api: GithubApi): Promise<void> => {
      const pull = await mergedPullRequest(api, this.#event, prNumber).catch(nothing);
      if (pull !== null) await api.addComment(pull.number, body);
    };
    await this.#asking('The result', 'pull-requests: write', githubToken, write);
  }

  /** Keeps one issue open for as long as the server is not as declared. */
  async drift(
    { githubToken }: Inputs,
    shown: SharedPlan,
    { found, ...marker }: Omit<Marker, 'kind'> & { readonly found: boolean },
  ): Promise<void> {
    if (githubToken === undefined) {
      this.#log.annotate('warning', "The issue can't be written: there is no github-token.");
      return;
    }
    const first = markerLine({ kind: 'drift', ...marker });
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
    await this.#asking('The issue', 'issues: write', githubToken, async (api) => {
      const [own] = await api.issues((one) => isAbout(one, { kind: 'drift', key: marker.key }));
      if (own !== undefined) {
        await api.updateIssue(own.id, body, { close: !found });
        this.#log.say(`Issue #${own.id} was ${found ? 'updated' : 'closed'}.`);
      } else if (found) {
        const title = titleLine(aboutPlain('Identity server is not as declared', subject)).slice(0, 250);
        this.#log.say(`Issue #${await api.openIssue(title, body)} was opened.`);
      }
    });
  }

  /** Asks GitHub for something that may fail without the step failing: a warning then says what to do. */
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
      const said = this.#redactor.redactSentence(message).replace(/\.+$/, '');
      const help = lacksPermission ? ` The job needs the permission ${permission}.` : '';
      this.#log.annotate('warning', `${what} may be missing: ${said}.${help}`);
    }
  }
}

/** What there is where no pull request is the one. */
function nothing(failure: unknown): PullRequest | null {
  if (failure instanceof ProblemsError) return null;
  throw failure;
}
