import { createHash } from 'node:crypto';
import { stringifyJson } from '../../base/json.js';
import type { Problem } from '../../base/problems.js';
import { planJson, resultJson } from '../../report/json.js';
import type { News } from '../../report/turn.js';
import type { Cycle } from './cycle.js';

/** Tells what differs from the cycle before, so that a log has it once. Keeps only hashes: plans are large, and may have secrets in them. */
export class CycleChanges {
  #plan: string | null = null;
  #result: string | null = null;
  #problems: string | null = null;

  changesIn({ plan, result, problems }: Cycle): News {
    const before = { plan: this.#plan, result: this.#result, problems: this.#problems };
    // A cycle that failed says nothing about what differs.
    if (plan !== null) this.#plan = planKey(plan);
    this.#result = result === null ? null : resultKey(result);
    this.#problems = problems.length === 0 ? null : keyOf(problems.map(withoutPlaces));
    return {
      plan: plan !== null && this.#plan !== before.plan,
      result: result !== null && this.#result !== before.result,
      problems: this.#problems !== before.problems,
    };
  }
}

function planKey(plan: NonNullable<Cycle['plan']>): string | null {
  const { changes, warnings, digest } = planJson(plan, { debug: false });
  return changes.length === 0 && warnings.length === 0 ? null : keyOf({ changes, warnings, digest });
}

function resultKey(result: NonNullable<Cycle['result']>): string {
  const { results } = resultJson(result);
  return keyOf(results.map(({ address, action, status, error }) => ({ address, action, status, error })));
}

function withoutPlaces({ code, message, hint, places }: Problem): unknown {
  return { code, message, hint, places: places.map(({ file, line }) => ({ file, line })) };
}

function keyOf(value: unknown): string {
  return createHash('sha256').update(stringifyJson(value)).digest('base64');
}
