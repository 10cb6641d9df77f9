import type { Pruning } from '../apply/prune.js';
import { escapeText } from '../base/escape.js';
import { plural } from './words.js';

/** The runs whose journals go, a line each. */
export function journalLines(runs: readonly Pruning['remove'][number][]): string[] {
  return runs.map(
    ({ run, command, at }) => `- ${escapeText(run)}  ${escapeText(command)} at ${escapeText(at)}`,
  );
}

/** What `runs prune` removed. */
export function pruningText({ remove, keep }: Pruning): string {
  const summary = `${plural(remove.length, 'journal')} removed, ${keep.length} kept.`;
  return `${[...journalLines(remove), summary].join('\n')}\n`;
}

/** The same as `--format json` gives it. */
export function pruningJson({ remove, keep, needed }: Pruning): object {
  const named = ({ run, command, at }: Pruning['remove'][number]) => ({ run, command, at });
  const reasons = new Map(needed.map(({ run, why }) => [run.run, why]));
  return {
    format_version: 1,
    removed: remove.map(named),
    kept: keep.map((run) => ({ ...named(run), reason: reasons.get(run.run) ?? null })),
  };
}
