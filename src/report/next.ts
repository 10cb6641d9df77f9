import { mayBeUndone, type Result } from '../apply/result.js';
import type { Plan } from '../plan/plan.js';

/** Something that can be done after a run: why, the command, and what it does. */
export interface NextStep {
  readonly before: string;
  /** What is typed behind `idops`; null where there is nothing to type. */
  readonly command: string | null;
  readonly after: string;
}

/** What to do after a run, a sentence each; empty where there is nothing to say. */
export function nextSteps(
  { run, results }: Pick<Result, 'run' | 'results'>,
  { undoes }: Pick<Plan, 'undoes'>,
): NextStep[] {
  if (run === null) return [];
  // Of a regeneration the result itself says what a person has to find out.
  const isLeft = results.some(({ status, action }) => status !== 'applied' && action !== 'regenerate');
  const isUndoable = mayBeUndone({ results });
  const goOn = 'To go on: ';
  if (undoes !== undefined) {
    const again = 'Where the manifests still say otherwise, the next apply does it again: change them too.';
    return [
      ...(isLeft ? [{ before: goOn, command: `undo ${undoes}`, after: ' puts back what is left.' }] : []),
      ...(isUndoable ? [{ before: again, command: null, after: '' }] : []),
    ];
  }
  return [
    ...(isLeft ? [{ before: goOn, command: 'apply', after: ' plans anew, and sends what is left.' }] : []),
    ...(isUndoable
      ? [{ before: 'To put back what this run changed: ', command: `undo ${run}`, after: '' }]
      : []),
  ];
}
