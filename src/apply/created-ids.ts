import { randomUUID } from 'node:crypto';
import { isMap } from '../base/values.js';
import { kindOf } from '../kinds/index.js';
import { idInPlan, textsIn } from '../plan/create.js';
import type { Change } from '../plan/plan.js';
import type { Outcome } from './attempt-outcome.js';

/** The ids of the objects that a run creates. A plan has a placeholder for each; idops or the server chooses the real id. */
export class CreatedIds {
  /** The creations of the plan, by placeholder. */
  readonly #creations: ReadonlyMap<string, Change>;
  /** The real ids, by placeholder. */
  readonly #ids = new Map<string, string>();
  readonly #created = new Set<Change>();

  constructor(changes: readonly Change[]) {
    this.#creations = new Map(
      changes.flatMap((change): [string, Change][] =>
        change.action === 'create' ? idInPlan(change).map((id) => [id, change]) : [],
      ),
    );
  }

  /** Why a change can't be sent: it refers to an object that was not created. */
  missingReference(change: Change): string | undefined {
    if (this.#creations.size === 0) return undefined;
    for (const text of textsIn(change)) {
      const creation = this.#creations.get(text);
      if (creation !== undefined && creation !== change && !this.#created.has(creation))
        return `not sent: ${creation.address} was not created`;
    }
    return undefined;
  }

  /** Chooses the id of a new object, if the server takes it. */
  begin({ kind, apply: { plannedId, chosenId } }: Change): void {
    if (plannedId !== undefined && kindOf(kind).creation?.acceptsId === true)
      this.#ids.set(plannedId, chosenId ?? randomUUID());
  }

  /** Notes the outcome of a change. */
  end(change: Change, { status, after }: Pick<Outcome, 'status' | 'after'>): void {
    if (change.action !== 'create' || (status !== 'applied' && status !== 'not_converged')) return;
    const { plannedId } = change.apply;
    if (plannedId !== undefined && typeof after?.id === 'string') this.#ids.set(plannedId, after.id);
    const isKnown = plannedId === undefined || this.#ids.has(plannedId);
    if (after !== undefined && isKnown) this.#created.add(change);
  }

  /** The change with the ids of the created objects. */
  withIds(change: Change): Change {
    return this.#ids.size === 0 ? change : (this.#withIds(change) as Change);
  }

  #withIds(value: unknown): unknown {
    if (typeof value === 'string') return this.#textWithIds(value);
    if (Array.isArray(value)) return value.map((one) => this.#withIds(one));
    if (!isMap(value)) return value;
    // Maps of access ends have ids of members as keys.
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [this.#ids.get(key) ?? key, this.#withIds(one)]),
    );
  }

  /** Keys and addresses have ids among slashes. */
  #textWithIds(text: string): string {
    const replacement = this.#ids.get(text);
    if (replacement !== undefined || !text.includes('/')) return replacement ?? text;
    return text
      .split('/')
      .map((part) => this.#ids.get(part) ?? part)
      .join('/');
  }
}
