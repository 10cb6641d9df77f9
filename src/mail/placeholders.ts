import type { Span } from '../base/problems.js';
import { limits } from './limits.js';
import type { Part } from './template.js';

/** A name that a body uses, and the names that it can mean. */
export interface Placeholder {
  readonly name: string;
  /** Whether it only opens sections, with `#` or `^`. */
  readonly section: boolean;
  /** The name itself, and the name under each of the sections around it: `user.name` in `{{#user}}`. */
  readonly meanings: readonly string[];
  /** The tags that use it. */
  readonly at: readonly Span[];
}

interface Found extends Placeholder {
  readonly at: Span[];
}

/** The names that a body uses, each once, in order of first use. `{{.}}` is the section's own name. */
export function placeholdersOf(parts: readonly Part[]): Placeholder[] {
  const found = new Map<string, Found>();
  collect(parts, [], found);
  return [...found.values()];
}

function collect(parts: readonly Part[], sections: readonly string[], found: Map<string, Found>): void {
  for (const part of parts) {
    if (part.kind === 'text' || part.kind === 'partial' || part.name === '.') continue;
    const meanings = [part.name, ...within(sections, part.name)];
    const section = part.kind === 'section';
    const before = found.get(part.name);
    const at = before?.at ?? [];
    at.push(part.at);
    found.set(part.name, {
      name: part.name,
      section: section && (before?.section ?? true),
      // Enough for names that are used in many sections.
      meanings: [...new Set([...(before?.meanings ?? []), ...meanings])].slice(0, 64),
      at,
    });
    if (part.kind !== 'section') continue;
    collect(part.parts, part.inverted ? sections : below(sections, part.name), found);
  }
}

/** The prefixes inside a section: its name, alone and under the sections around it. */
function below(sections: readonly string[], name: string): string[] {
  // Only the nearest, since deep nesting would give every combination.
  return [...new Set([name, ...within(sections, name), ...sections])].slice(0, 8);
}

/** The name under each of the sections, unless that is too long for a name. */
function within(sections: readonly string[], name: string): string[] {
  return sections.flatMap((section) =>
    section.length + name.length < limits.nameCharacters ? [`${section}.${name}`] : [],
  );
}

/** The placeholders of `one` that `other` doesn't use under any of their names. */
export function missingFrom(other: readonly Placeholder[], one: readonly Placeholder[]): Placeholder[] {
  const used = new Set(other.flatMap(({ meanings }) => meanings));
  return one.filter(({ meanings }) => !meanings.some((meaning) => used.has(meaning)));
}

/** A placeholder as in a body: `{{ name }}`, `{{# name }}`. */
export function written({ name, section }: Pick<Placeholder, 'name' | 'section'>): string {
  return section ? `{{# ${name} }}` : `{{ ${name} }}`;
}

/** Example values by the name of a placeholder; the first match counts. */
const examples: readonly (readonly [RegExp, string])[] = [
  [/e-?mail/, 'jane.doe@example.com'],
  [/(^|_)(url|uri|link|href)$/, ''],
  [/(first|given)_?name$/, 'Jane'],
  [/(last|family|sur)_?name$/, 'Doe'],
  [/(^|_)(name|username|user|display_?name|full_?name)$/, 'Jane Doe'],
  [/(code|otp|pin)$/, '493172'],
  [/(date|day)$/, '31 January 2026'],
  [/(time|_at|expiry|expiration|expires)$/, '31 January 2026, 12:00'],
  [/(count|number|minutes|hours|days)$/, '3'],
  [/(company|organi[sz]ation|product|brand|app)(_?name)?$/, 'ACME'],
];

/** An example value for a placeholder: `https://example.com/reset-password` for `reset_password_url`. */
export function exampleOf(name: string): string {
  const last = name.split('.').at(-1) ?? name;
  const key = last.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase();
  const known = examples.find(([pattern]) => pattern.test(key))?.[1];
  if (known === undefined) return `[${last.replaceAll('_', ' ')}]`;
  if (known !== '') return known;
  const path = key.replace(/_?(url|uri|link|href)$/, '').replace(/[^a-z0-9]+/g, '-');
  return `https://example.com/${path}`;
}
