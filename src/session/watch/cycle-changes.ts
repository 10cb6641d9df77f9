import { createHash } from 'node:crypto';
import { stringifyJson } from '../../base/json.js';
import { planJson, resultJson } from '../../report/json.js';
import type { ChangedInCycle } from '../../report/watch-cycle.js';
import type { Cycle } from './cycle.js';

/** Finds what differs from the previous cycle, so that a log has it only once. Keeps only hashes, since plans are large and may contain secrets. */
export class CycleChanges {
  #plan: string | null = null;
  #result: string | null = null;
  #problems: string | null = null;

  changesIn({ plan, result, problems }: Cycle): ChangedInCycle {
    const before = { plan: this.#plan, result: this.#result, problems: this.#problems };
    // A cycle without a plan changes nothing here: the next plan is compared with the last one.
    if (plan !== null) {
      const { changes, warnings, digest } = planJson(plan, { debug: false });
      const isEmpty = changes.length === 0 && warnings.length === 0;
      this.#plan = isEmpty ? null : keyOf({ changes, warnings, digest });
    }
    const results = result && resultJson(result).results;
    this.#result =
      results &&
      keyOf(results.map(({ address, action, status, error }) => ({ address, action, status, error })));
    const told = problems.map(({ code, message, hint, places }) => {
      return { code, message, hint, places: places.map(({ file, line }) => ({ file, line })) };
    });
    this.#problems = told.length === 0 ? null : keyOf(told);
    return {
      plan: plan !== null && this.#plan !== before.plan,
      result: result !== null && this.#result !== before.result,
      problems: this.#problems !== before.problems,
    };
  }
}

function keyOf(value: unknown): string {
  return createHash('sha256').update(stringifyJson(value)).digest('base64');
}
