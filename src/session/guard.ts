import { error, type Problem, ProblemsError } from '../base/problems.js';
import { sameIdentifier } from '../base/values.js';
import { regenerated } from '../kinds/index.js';
import type { Declared } from '../kinds/kind.js';
import type { RunLine } from '../state/journal.js';

/** What is wrong with an id of `--accept-did`: no declared client has it. */
export function undeclaredClient(id: string, declared: readonly Declared[]): Problem[] {
  const { name } = regenerated.kind;
  if (declared.some(({ kind, identity }) => kind === name && sameIdentifier(identity.id ?? '', id)))
    return [];
  return [error('no-such-target', `--accept-did ${id} is the id of no client that the manifests declare`)];
}

/** What was there on one server has no place on another. */
export function otherServer({ run, server }: RunLine, here: string): ProblemsError {
  return new ProblemsError([
    error(
      'run-other-server',
      `run ${run} was on ${server}, and this is ${here}`,
      [],
      'choose the environment that it was run with',
    ),
  ]);
}
