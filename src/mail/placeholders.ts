import type { Span } from '../base/problems.js';
import { limits } from './limits.js';
import type { Part } from './template.js';

/** A name that a body uses. */
export interface Placeholder {
  readonly name: string;
  /** Whether it is only used to open sections, with `#` or `^`. */
  readonly section: boolean;
  /** Whether its first tag is `^`. */
  readonly inverted?: boolean;
  /** The paths that the name can refer to: its own, and one for each enclosing section, such as `user.name` in `{{#user}}`. */
  readonly possibleNames: readonly string[];
  /** The tags that use it. */
  readonly at: readonly Span[];
}

interface CollectedPlaceholder extends Placeholder {
  readonly at: Span[];
}

/** The names that a body uses, each once, in order of first use; without `{{.}}`, which is the value of the section. */
export function placeholdersOf(parts: readonly Part[]): Placeholder[] {
  const found = new Map<string, CollectedPlaceholder>();
  collect(parts, [], found);
  return [...found.values()];
}

function collect(
  parts: readonly Part[],
  sections: readonly string[],
  found: Map<string, CollectedPlaceholder>,
): void {
  for (const part of parts) {
    if (part.kind === 'text' || part.kind === 'partial' || part.name === '.') continue;
    const meanings = [part.name, ...qualifiedNames(sections, part.name)];
    const section = part.kind === 'section';
    const known = found.get(part.name);
    const at = known?.at ?? [];
    at.push(part.at);
    found.set(part.name, {
      name: part.name,
      section: section && (known?.section ?? true),
      inverted: known?.inverted ?? (section && part.inverted),
      // Limited, since a name can be used in very many sections.
      possibleNames: [...new Set([...(known?.possibleNames ?? []), ...meanings])].slice(0, 64),
      at,
    });
    if (part.kind !== 'section') continue;
    collect(part.parts, part.inverted ? sections : sectionPrefixes(sections, part.name), found);
  }
}

/** The prefixes of names inside a section: its own name, and that in each section around it. */
function sectionPrefixes(sections: readonly string[], name: string): string[] {
  // Limited, since deep nesting would give every combination.
  return [...new Set([name, ...qualifiedNames(sections, name), ...sections])].slice(0, 8);
}

/** The name in each of the sections, unless it is too long. */
function qualifiedNames(sections: readonly string[], name: string): string[] {
  return sections.flatMap((section) =>
    section.length + name.length < limits.nameCharacters ? [`${section}.${name}`] : [],
  );
}

/** The `placeholders` that are not in `usedPlaceholders` under any of their possible names. */
export function missingFrom(
  usedPlaceholders: readonly Placeholder[],
  placeholders: readonly Placeholder[],
): Placeholder[] {
  const used = new Set(usedPlaceholders.flatMap(({ possibleNames }) => possibleNames));
  return placeholders.filter(({ possibleNames }) => !possibleNames.some((name) => used.has(name)));
}

/** A placeholder as bodies contain it: `{{ name }}`, `{{# name }}`; Mustachex requires the spaces around a dotted name as written. */
export function placeholderText({
  name,
  section,
  inverted = false,
}: Pick<Placeholder, 'name' | 'section' | 'inverted'>): string {
  const space = section && name.includes('.') ? '' : ' ';
  return section
    ? `{{${inverted ? '^' : '#'}${space}${name}${/^\s/.test(name) ? ' ' : space}}}`
    : `{{ ${name} }}`;
}

/** Example values by name; the first matching pattern is used. An empty value means an address. */
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
export function exampleValue(name: string): string {
  const last = name.split('.').at(-1) ?? name;
  const key = last.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase();
  const known = examples.find(([pattern]) => pattern.test(key))?.[1];
  if (known === undefined) return `[${last.replaceAll('_', ' ')}]`;
  if (known !== '') return known;
  const path = key.replace(/_?(url|uri|link|href)$/, '').replace(/[^a-z0-9]+/g, '-');
  return `https://example.com/${path}`;
}
