import type { Redactor } from '../base/redact.js';
import {
  type About,
  broughtBy,
  type DriftOutcome,
  syncComment,
  syncDriftIssue,
  syncResult,
  type Tell,
} from './comment.js';
import type { WorkflowEvent } from './event.js';
import { type GithubApi, openGithub } from './github.js';
import { GithubFailure } from './github-client.js';
import type { Inputs } from './inputs.js';
import { type Log, titleLine } from './log.js';
import { type Marker, markerLine } from './marker.js';
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
   * Writes the comment of the pull request, where there is one and it is wanted. With `quiet` nothing is said where the token may
   * not: of what comes from a fork it never does.
   */
  async comment(
    inputs: Pick<Inputs, 'comment' | 'githubToken' | 'prNumber'>,
    about: About,
    tell: Tell,
    { quiet = false } = {},
  ): Promise<void> {
    const number = this.#event.pullRequest?.number ?? inputs.prNumber;
    if (number === undefined || inputs.comment === 'false' || inputs.githubToken === undefined) return;
    const ask = (api: GithubApi) => syncComment(api, number, about, tell);
    await this.#asking('The comment', 'pull-requests: write', inputs.githubToken, ask, { quiet });
  }

  /**
   * Brings the comment of the pull request that brought the commit up to date with what became of its plan. `tell` is given the
   * comment, or null where there is none, and gives what it is to be, or null for no change.
   */
  async result(
    inputs: Pick<Inputs, 'comment' | 'githubToken' | 'prNumber'>,
    key: string,
    tell: (body: string | null) => Promise<string | null>,
  ): Promise<void> {
    const { githubToken, comment } = inputs;
    if (comment === 'false' || githubToken === undefined || this.#event.commit === '') return;
    const write = async (api: GithubApi): Promise<void> => {
      const number = await broughtBy(api, this.#event, inputs.prNumber);
      if (number !== null) await syncResult(api, number, key, tell);
    };
    await this.#asking('The result', 'pull-requests: write', githubToken, write);
  }

  /** Writes or closes the issue about a server that is not as declared. */
  async drift(
    inputs: Inputs,
    shown: SharedPlan,
    { found, ...marker }: Omit<Marker, 'kind'> & { readonly found: boolean },
  ): Promise<void> {
    if (inputs.githubToken === undefined) {
      this.#log.annotate('warning', "The issue can't be written: there is no github-token.");
      return;
    }
    const first = markerLine({ kind: 'drift', ...marker });
    const { subject } = shown;
    const gone = `The server is as the manifests say${subject.narrowed ? ', as far as they were looked at' : ''}.`;
    const outcome: DriftOutcome | undefined = await this.#asking(
      'The issue',
      'issues: write',
      inputs.githubToken,
      async (api) =>
        syncDriftIssue(
          api,
          marker.key,
          found
            ? {
                title: titleLine(aboutPlain('Identity server is not as declared', subject)).slice(0, 250),
                body: `${first}\n${await planText(shown, this.#event, {
                  note: 'The server is not as the manifests say. Apply puts it right; so does a change of the manifests.',
                  taken: first.length + 1,
                })}`,
              }
            : null,
          `${first}\n${plainText(
            `${aboutText('idops plan', subject)}: no drift`,
            [gone, selectedSentence(subject)].join(' ').trim(),
            this.#event,
          )}`,
        ),
    );
    if (outcome !== undefined && outcome !== null)
      this.#log.say(`Issue #${outcome.issue} was ${outcome.done}.`);
  }

  /** Asks GitHub for something that may fail without the step failing: a warning then says what to do. */
  async #asking<T>(
    what: string,
    permission: string,
    token: string,
    ask: (api: GithubApi) => Promise<T>,
    { quiet = false }: { readonly quiet?: boolean } = {},
  ): Promise<T | undefined> {
    try {
      return await ask(await openGithub(token, this.#event, { signal: this.#signal }));
    } catch (failure) {
      if (!(failure instanceof GithubFailure)) throw failure;
      if (quiet && failure.lacksPermission) return undefined;
      const help = failure.lacksPermission ? ` The job needs the permission ${permission}.` : '';
      this.#log.annotate('warning', `${this.#unwritten(what, failure)}${help}`);
      return undefined;
    }
  }

  /** Says of what wasn't written why that is, or that it isn't known. */
  #unwritten(what: string, { message, mayBeDone }: GithubFailure): string {
    const said = this.#redactor.redactSentence(message).replace(/\.+$/, '');
    return `${what} ${mayBeDone ? 'may or may not have been written' : "can't be written"}: ${said}.`;
  }
}
