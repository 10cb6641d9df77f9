import { mayBeUndone, type Result } from '../apply/result.js';
import { shellWord } from '../base/shell.js';
import type { Plan } from '../plan/plan.js';

/** Something that can be done after a run. */
export interface NextStep {
  /** Why, or what there is to say. */
  readonly before: string;
  /** What is typed behind `idops`, at the end of the line; null where there is nothing to type. */
  readonly command: string | null;
}

/** What to do after a run, a line each; empty where there is nothing to say. */
export function nextSteps(
  { run, results }: Pick<Result, 'run' | 'results'>,
  { undoes, again = ['apply'] }: Pick<Plan, 'undoes' | 'again'>,
): NextStep[] {
  if (run === null) return [];
  // Of a regeneration the result itself says what a person has to find out.
  const isLeft = results.some(({ status, action }) => status !== 'applied' && action !== 'regenerate');
  const isUndoable = mayBeUndone({ results });
  const command = again.map((word) => (/^--[a-z-]+$/.test(word) ? word : shellWord(word))).join(' ');
  if (undoes !== undefined) {
    const otherwise =
      'Where the manifests still say otherwise, the next apply does it again: change them too.';
    return [
      ...(isLeft ? [{ before: 'To go on, which puts back what is left: ', command }] : []),
      ...(isUndoable ? [{ before: otherwise, command: null }] : []),
    ];
  }
  return [
    ...(isLeft ? [{ before: 'To go on, which plans anew and sends what is left: ', command }] : []),
    ...(isUndoable ? [{ before: 'To put back what this run changed: ', command: `undo ${run}` }] : []),
  ];
}
