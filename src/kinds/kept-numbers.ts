import { type Problem, warning } from '../base/problems.js';
import { ExactNumber, isMap, keptSpelling, type Value } from '../base/values.js';
import type { Declared } from './kind.js';

/** Warns of decimals in a field that the server keeps in another spelling: it reads them as doubles. Their value stays. */
export function respelledNumbers(declared: Declared, field: string): Problem[] {
  const value = declared.fields[field];
  if (value === undefined) return [];
  const told = numbersIn(value).flatMap((text) => {
    const kept = keptSpelling(text);
    return kept === text ? [] : [`${text} as ${kept}`];
  });
  if (told.length === 0) return [];
  return [
    warning(
      'number-spelling',
      `this server keeps ${[...new Set(told)].join(', ')}`,
      [declared.placeOf(field)],
      'the two compare as equal; a text, in quotation marks, keeps its spelling',
    ),
  ];
}

function numbersIn(value: Value): string[] {
  if (typeof value === 'number' || value instanceof ExactNumber) return [String(value)];
  if (Array.isArray(value)) return value.flatMap(numbersIn);
  return isMap(value) ? Object.values(value).flatMap(numbersIn) : [];
}
