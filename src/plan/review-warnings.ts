import { quote } from '../base/escape.js';
import { isMap, type Value } from '../base/values.js';
import type { Change, FieldChange, Plan, PlanWarning } from './plan.js';

/** Letters that look like the Latin letters at the same positions of `latin`: Cyrillic, then Greek. */
const lookalikes = 'асеорхуіјѕԁһԛԝАВСЕНІЈКМОРЅТХУοινυρκταΑΒΕΖΗΙΚΜΝΟΡΤΥΧ';
const latin = 'aceopxyijsdhqwABCEHIJKMOPSTXYoivupktaABEZHIKMNOPTYX';
const alphabets = ['Latin', 'Cyrillic', 'Greek', 'Armenian', 'Cherokee', 'Coptic', 'Lisu'].map(
  (name) => [name, new RegExp(`\\p{Script=${name}}`, 'u')] as const,
);

/** Adds a warning for each key and name with a word that mixes alphabets, since it may look like another name. */
export function warnOfMixedScripts(change: Change): Change {
  const names = [...new Set(change.fields.flatMap(namesIn))];
  const warnings = names.flatMap((name): PlanWarning[] => {
    const mixed = (name.match(/[\p{L}\p{M}]+/gu) ?? [])
      .map((word) => alphabets.flatMap(([alphabet, letters]) => (letters.test(word) ? [alphabet] : [])))
      .find((found) => found.length > 1);
    if (mixed === undefined) return [];
    const reads = [...name].map((letter) => latin.charAt(lookalikes.indexOf(letter)) || letter).join('');
    const beside = names.includes(reads) ? ', which is there as well' : '';
    const resemblance = reads === name ? '' : `, and looks like ${quote(reads)}${beside}`;
    return [
      { code: 'mixed-script', message: `${quote(name)} mixes ${mixed.join(' and ')} letters${resemblance}` },
    ];
  });
  return warnings.length === 0 ? change : { ...change, warnings: [...change.warnings, ...warnings] };
}

/** The names in a difference: keys of maps, names of elements, an object's own name. */
function namesIn({ path, before, after, sensitive }: FieldChange): string[] {
  if (sensitive) return [];
  const own = path === 'name' ? [before, after].filter((value) => typeof value === 'string') : [];
  return [...path.split(/[.[\]"]+/).slice(1), ...own, ...[before, after].flatMap((value) => namesOf(value))];
}

function namesOf(value: Value | undefined): string[] {
  if (Array.isArray(value)) return value.flatMap(namesOf);
  if (!isMap(value)) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    key === 'name' && typeof member === 'string' ? [key, member] : [key, ...namesOf(member)],
  );
}

/** Adds a warning for each body that is not secret but has a masked part. */
export function warnOfMasks(plan: Plan, redact: (text: string) => string): Plan {
  return { ...plan, changes: plan.changes.map((change) => warned(change, redact)) };
}

function warned(change: Change, redact: (text: string) => string): Change {
  const warnings = change.fields.flatMap(({ path, type, before, after, sensitive }) => {
    if (type !== 'body' || sensitive) return [];
    return [
      ...(isMasked(before, redact) ? [maskedBody(`the present ${path}`)] : []),
      ...(isMasked(after, redact) ? [maskedBody(`the new ${path}`)] : []),
    ];
  });
  return warnings.length === 0 ? change : { ...change, warnings: [...change.warnings, ...warnings] };
}

/** Whether a part of a body is masked. */
export function isMasked(body: unknown, redact: (text: string) => string): boolean {
  return typeof body === 'string' && redact(body) !== body;
}

/** The warning that a body is not shown as it is. */
export function maskedBody(what: string): PlanWarning {
  return {
    code: 'masked-body',
    message: `${what} contains a known credential, which is masked here: look at the source before you trust the text around it`,
  };
}
