import { nearest } from '../base/nearest.js';
import type { Placeholder } from './placeholders.js';
import { placeholdersOf } from './placeholders.js';
import type { Part } from './template.js';

/** The names that a server fills in, of one type of mail. A name with `.*` at its end stands for all that is below it. */
export class KnownPlaceholders {
  readonly #names: ReadonlySet<string>;
  /** What everything that begins so is known by. */
  readonly #open: readonly string[];
  /** The type of mail that they are known of. */
  readonly type: string;

  constructor(type: string, names: Iterable<string>) {
    this.type = type;
    this.#names = new Set(
      [...names].flatMap((name) => (name.endsWith('.*') ? [name.slice(0, -2), name] : [name])),
    );
    this.#open = [...this.#names].flatMap((name) => (name.endsWith('.*') ? [name.slice(0, -1)] : []));
  }

  /** Whether one of the things that a name may stand for is filled in. */
  has(meanings: readonly string[]): boolean {
    return meanings.some(
      (meaning) => this.#names.has(meaning) || this.#open.some((start) => meaning.startsWith(start)),
    );
  }

  /** The known name that a mistyped one most likely means; undefined where none is near. */
  nearest(name: string): string | undefined {
    const known = [...this.#names].filter((one) => !one.endsWith('.*'));
    return (
      known.find((one) => /[._]/.test(one.at(-name.length - 1) ?? '') && one.endsWith(name)) ??
      nearest(name, known)
    );
  }

  /** These, and others that are known from elsewhere. */
  with(more: Iterable<string>): KnownPlaceholders {
    return new KnownPlaceholders(this.type, [...this.#names, ...more]);
  }
}

/** The names of a body that nothing is known to fill in. What stands in a section of such a name is its own affair. */
export function unknownPlaceholders(parts: readonly Part[], known: KnownPlaceholders): Placeholder[] {
  return placeholdersOf(parts, (meanings) => known.has(meanings)).filter(
    ({ meanings }) => !known.has(meanings),
  );
}
