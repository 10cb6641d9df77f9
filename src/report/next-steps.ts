import { mayBeUndone, type Result } from '../apply/result.js';
import { shellWord } from '../base/escape.js';
import { partWithoutAttempt } from '../base/shard.js';
import type { Plan } from '../plan/plan.js';
import { nameOf } from './names.js';

/** What a person can do after a run: a text, and the command that follows it, if any. */
export function nextSteps(
  { run: name, journal, results }: Pick<Result, 'run' | 'journal' | 'results'>,
  { undoes, again = ['apply'] }: Pick<Plan, 'undoes' | 'again'>,
): { readonly before: string; readonly command: string | null }[] {
  if (name === null) return [];
  // The run of this shard only.
  const run = partWithoutAttempt(journal ?? name);
  // Regenerations have suggestions of their own.
  const isLeft = results.some(({ status, action }) => status !== 'applied' && action !== 'regenerate');
  const isUndoable = mayBeUndone({ results });
  const open = results.filter(({ status, action }) => status === 'unknown' && action === 'regenerate');
  // Only a person can find out whether a DID was regenerated.
  const settle = open.flatMap((one) => {
    const words = `runs settle ${run} ${shellWord(one.address)}`;
    return [
      { before: `Look at ${nameOf(one)} on the server. If it was regenerated: `, command: `${words} --done` },
      { before: 'If it was not: ', command: `${words} --not-done` },
    ];
  });
  const command = again.map((word) => (/^--[a-z-]+$/.test(word) ? word : shellWord(word))).join(' ');
  if (undoes !== undefined) {
    const hint = 'If the manifests still declare the change, the next apply makes it again: update them too.';
    return [
      ...(isLeft ? [{ before: 'To put back what is left: ', command }] : []),
      ...(isUndoable ? [{ before: hint, command: null }] : []),
    ];
  }
  return [
    ...settle,
    ...(isLeft ? [{ before: 'To send what is left, after a new plan: ', command }] : []),
    ...(isUndoable ? [{ before: 'To undo this run: ', command: `undo ${run}` }] : []),
  ];
}
