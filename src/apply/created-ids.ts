import { randomUUID } from 'node:crypto';
import { isMap } from '../base/values.js';
import { kindOf } from '../kinds/index.js';
import { idInPlan, textsIn } from '../plan/create.js';
import type { Change } from '../plan/plan.js';
import type { Outcome } from './attempt-outcome.js';

/**
 * The ids of the objects that a run creates. In a plan a new object has an id that no request may have; here it gets its own, which the
 * creator chooses, or the server.
 */
export class CreatedIds {
  /** The creations of the plan, by the id that their object has there. */
  readonly #creations: ReadonlyMap<string, Change>;
  /** The ids in place of those in the plan. */
  readonly #ids = new Map<string, string>();
  readonly #done = new Set<Change>();

  constructor(changes: readonly Change[]) {
    this.#creations = new Map(
      changes.flatMap((change): [string, Change][] =>
        change.action === 'create' ? idInPlan(change).map((id) => [id, change]) : [],
      ),
    );
  }

  /** Why a change can't be sent: it refers to an object that was not created. */
  lacking(change: Change): string | undefined {
    if (this.#creations.size === 0) return undefined;
    for (const text of textsIn(change)) {
      const creation = this.#creations.get(text);
      if (creation !== undefined && creation !== change && !this.#done.has(creation))
        return `not sent: ${creation.address} was not created`;
    }
    return undefined;
  }

  /** Chooses the id of a new object, if the server takes it. */
  begin({ kind, apply: { plannedId, chosenId } }: Change): void {
    if (plannedId !== undefined && kindOf(kind).creation?.takesId === true)
      this.#ids.set(plannedId, chosenId ?? randomUUID());
  }

  /** Takes the outcome of a change in. */
  end(change: Change, { status, after }: Pick<Outcome, 'status' | 'after'>): void {
    if (change.action !== 'create' || (status !== 'applied' && status !== 'not_converged')) return;
    this.#done.add(change);
    const { plannedId } = change.apply;
    if (plannedId !== undefined && typeof after?.id === 'string') this.#ids.set(plannedId, after.id);
  }

  /** The change with the ids of the created objects. */
  withIds(change: Change): Change {
    return this.#ids.size === 0 ? change : (this.#replaced(change) as Change);
  }

  #replaced(value: unknown): unknown {
    if (typeof value === 'string') return this.#replacedText(value);
    if (Array.isArray(value)) return value.map((one) => this.#replaced(one));
    if (!isMap(value)) return value;
    // Ends of access are kept by the id of the member.
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [this.#ids.get(key) ?? key, this.#replaced(one)]),
    );
  }

  /** Keys and addresses have ids among slashes. */
  #replacedText(text: string): string {
    const own = this.#ids.get(text);
    if (own !== undefined || !text.includes('/')) return own ?? text;
    return text
      .split('/')
      .map((part) => this.#ids.get(part) ?? part)
      .join('/');
  }
}
