import { error, type Problem } from '../base/problems.js';
import type { LoadedManifests } from './load.js';

const SHOWN = 10;

/**
 * Why `--prune` may not take for undeclared what no document names: a folder that wasn't there, or a file that
 * wasn't read, would delete what it declares. Empty where everything was read.
 */
export async function pruneRefusals({ declared, unread }: LoadedManifests): Promise<Problem[]> {
  const missed = await unread();
  const reasons = declared.length === 0 ? ['no document was read', ...missed] : missed;
  const more = reasons.length > SHOWN ? [`there are ${reasons.length - SHOWN} more like these`] : [];
  return [...reasons.slice(0, SHOWN), ...more].map((reason) =>
    error(
      'prune-refused',
      `--prune deletes nothing: ${reason}`,
      [],
      declared.length === 0
        ? 'delete a template with "state: absent", or look whether the manifests are where the configuration says'
        : 'rename it, remove it, or change "manifests" ("!" excludes), so that what was read is all that is declared',
    ),
  );
}
