import { mayBeUndone, type Result } from '../apply/result.js';
import { shellWord } from '../base/shell.js';
import type { Plan } from '../plan/plan.js';
import type { GlobalOptions } from './context.js';

/** What to do after a run, a sentence each; empty where there is nothing to say. */
export function nextAfter(
  { run, results }: Result,
  { undoes, environment }: Pick<Plan, 'undoes' | 'environment'>,
  options: GlobalOptions,
): string[] {
  if (run === null) return [];
  const again = (command: string): string => commandLine(command, environment, options);
  // Of a regeneration the result itself says what a person has to find out.
  const isLeft = results.some(({ status, action }) => status !== 'applied' && action !== 'regenerate');
  const isUndoable = mayBeUndone({ results });
  if (undoes !== undefined) {
    return [
      ...(isLeft ? [`To go on: ${again(`undo ${undoes}`)} puts back what is left.`] : []),
      ...(isUndoable
        ? ['Where the manifests still say otherwise, the next apply does it again: change them too.']
        : []),
    ];
  }
  return [
    ...(isLeft ? [`To go on: ${again('apply')} plans anew, and sends what is left.`] : []),
    ...(isUndoable ? [`To put back what this run changed: ${again(`undo ${run}`)}`] : []),
  ];
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
