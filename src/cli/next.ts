import type { Result } from '../apply/result.js';
import { shellWord } from '../base/escape.js';
import type { Plan } from '../plan/plan.js';
import { nextSteps } from '../report/next.js';
import type { GlobalOptions } from './context.js';

/** What to do after a run, a line each, a command at its end; empty where there is nothing to say. */
export function nextAfter(
  result: Result,
  plan: Pick<Plan, 'undoes' | 'again' | 'environment'>,
  options: GlobalOptions,
): string[] {
  return nextSteps(result, plan).map(({ before, command }) =>
    command === null ? before : `${before}${commandLine(command, plan.environment, options)}`,
  );
}

/** A command with the options that it needs to find the same project and server again, to be typed as it stands. */
export function commandLine(
  command: string,
  environment: string | null,
  { config, baseUrl, tokenFile }: GlobalOptions,
): string {
  const options = { config, env: environment ?? undefined, 'base-url': baseUrl, 'token-file': tokenFile };
  const given = Object.entries(options).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, shellWord(value)],
  );
  return ['idops', command, ...given].join(' ');
}
