import type { StateLocation } from '../../apply/owner.js';
import { problemError } from '../../base/problems.js';
import { shardText } from '../../base/shard.js';
import type { Plan } from '../../plan/plan.js';
import type { Project } from '../../project/index.js';
import { backendOf } from '../../session/backend.js';
import type { AccessMode, Lock, StateBackend } from '../../state/backend.js';
import type { Context } from '../context.js';
import { type ExitCode, exit } from '../exit.js';

/** The server, environment and shard of a plan, for a question. */
export function serverAndEnvironment({
  server,
  environment,
  shard,
}: Pick<Plan, 'server' | 'environment' | 'shard'>): string {
  const part = shard === undefined ? '' : `, shard ${shardText(shard)}`;
  return `${server} (${environment ?? 'no environment'}${part})`;
}

/** The server of a state, for a question; the place of a state that can't be read. */
export async function serverOf(backend: StateBackend, environment: string | null): Promise<string> {
  const state = await backend.saved().catch(() => undefined);
  return serverAndEnvironment({ server: state?.server ?? backend.place, environment });
}

export interface Question {
  readonly text: string;
  /** The word to type; by default `y`. */
  readonly confirmation?: string;
  /** The message if the answer is not yes. */
  readonly declinedMessage?: string;
  /** An addition to the hint if there is no terminal. */
  readonly noTerminalHint?: string | undefined;
}

/** Asks a question, unless `yes`, then calls `work` with the time of the answer by `performance.now()`, or 0 without a question. Throws a ProblemsError if there is no terminal. */
export async function withConsent(
  { text, confirmation, declinedMessage = 'Nothing was sent.', noTerminalHint = '' }: Question,
  yes: boolean | undefined,
  { prompt, output }: Context,
  work: (asked: number) => Promise<ExitCode>,
): Promise<ExitCode> {
  if (yes === true) return await work(0);
  if (!prompt.available) {
    throw problemError(
      'no-terminal',
      'the command asks a question, and there is no terminal',
      `use --yes to continue without a question${noTerminalHint}`,
    );
  }
  const answer = await prompt.confirm(text, confirmation);
  if (answer === 'yes') return await work(performance.now());
  output.message(declinedMessage);
  return answer === 'aborted' ? exit.interrupted : exit.failed;
}

/** The backend of the project's state, checked for `use`. Adds the configured tokens to the redactor. */
export async function openState(
  context: Context,
  use?: AccessMode,
): Promise<StateLocation & { readonly project: Project }> {
  const project = await context.project();
  await context.addConfiguredTokens();
  const backend = await backendOf(project, context.redactor.add);
  if (use !== undefined) await backend.check(use);
  return { project, backend, environment: project.environment };
}

/** Calls `work` while holding the lock of a state. A failure to release the lock is a warning. */
export async function withLock<T>(
  backend: StateBackend,
  command: string,
  { output }: Context,
  work: (lock: Lock) => Promise<T>,
): Promise<T> {
  const lock = await backend.lock(command, new Date());
  try {
    return await work(lock);
  } finally {
    output.problems(await lock.release());
  }
}
