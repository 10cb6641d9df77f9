import type { Redactor } from '../base/redact.js';
import { type DriftOutcome, syncComment, syncDriftIssue, type Told } from './comment.js';
import type { WorkflowEvent } from './event.js';
import { type GithubApi, openGithub } from './github.js';
import { GithubFailure } from './github-client.js';
import type { Inputs } from './inputs.js';
import { type Log, titleLine } from './log.js';
import { type Marker, markerLine } from './marker.js';
import { plainComment, planComment, type SharedPlan } from './text.js';

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

  /** Writes the comment of the pull request, where there is one and it is wanted. */
  async comment(inputs: Inputs, key: string, told: () => Promise<Told>): Promise<void> {
    const { pullRequest } = this.#event;
    if (pullRequest === null || inputs.comment === 'false' || inputs.githubToken === undefined) return;
    await this.#asking('The comment', 'pull-requests: write', inputs.githubToken, async (api) =>
      syncComment(api, pullRequest.number, key, await told()),
    );
  }

  /** Writes or closes the issue about a server that is not as declared. */
  async drift(
    inputs: Inputs,
    shown: SharedPlan,
    { found, ...marker }: Omit<Marker, 'kind'> & { readonly found: boolean },
  ): Promise<void> {
    if (inputs.githubToken === undefined) {
      this.#log.say('::warning title=idops::The issue can not be written: there is no github-token.');
      return;
    }
    const first = markerLine({ kind: 'drift', ...marker });
    const name = titleLine(shown.plan.environment ?? shown.plan.server).slice(0, 100);
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
                title: `Identity server is not as declared: ${name}`,
                body: await planComment(
                  first,
                  shown,
                  this.#event,
                  'The server is not as the manifests say. Apply puts it right; so does a change of the manifests.\n\n',
                ),
              }
            : null,
          plainComment(first, 'no drift', 'The server is as the manifests say.', this.#event),
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
  ): Promise<T | undefined> {
    try {
      return await ask(await openGithub(token, this.#event, { signal: this.#signal }));
    } catch (failure) {
      if (!(failure instanceof GithubFailure)) throw failure;
      const help = failure.lacksPermission ? ` The job needs the permission ${permission}.` : '';
      this.#log.say(
        `::warning title=idops::${commandText(`${what} can't be written: ${this.#redactor.redactSentence(failure.message)}.${help}`)}`,
      );
      return undefined;
    }
  }
}

function commandText(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}
