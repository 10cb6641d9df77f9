import { kindNames } from '../base/kind-names.js';
import type { Redactor } from '../base/redact.js';
import { said } from './said.js';

/** What a member of a program's options may be. */
export interface Rule {
  /** In words, behind "it must be". */
  readonly takes: string;
  readonly fits: (value: unknown) => boolean;
  readonly required?: true;
}

export const text: Rule = { takes: 'a text', fits: (value) => typeof value === 'string' };
export const someText: Rule = {
  takes: 'a text that is not empty',
  fits: (value) => typeof value === 'string' && value !== '',
};
export const yesOrNo: Rule = { takes: 'true or false', fits: (value) => typeof value === 'boolean' };
export const texts: Rule = {
  takes: 'a list of texts',
  // A list with holes in it has no member there that could be looked at.
  fits: (value) => Array.isArray(value) && Array.from(value).every(text.fits),
};

/** A filter that names nothing is more likely a mistake than a wish for everything. */
const leaveOut = 'leave it out where all are meant';

export const someTexts: Rule = {
  takes: `a list of one text or more; ${leaveOut}`,
  fits: (value) => texts.fits(value) && (value as readonly string[]).length > 0,
};
export const someKinds: Rule = {
  takes: `a list of one kind or more; ${leaveOut}; the kinds are ${kindNames.join(', ')}`,
  fits: (value) => {
    const known: readonly unknown[] = kindNames;
    return Array.isArray(value) && value.length > 0 && value.every((kind) => known.includes(kind));
  },
};

/**
 * Options as a program gave them, each read once: what was checked is what counts. Throws a TypeError for what is none of them, and
 * where one is something else than it must be; one that is undefined is as if it weren't there.
 */
export function checkedOptions<O extends object>(
  given: O,
  rules: { readonly [name in keyof O]-?: Rule },
  redactor: Redactor,
): O {
  if (typeof given !== 'object' || given === null)
    throw new TypeError(`options are an object, and not ${said(given, redactor)}`);
  const known = Object.keys(rules) as (keyof O & string)[];
  const unknown = Object.keys(given).filter((name) => !known.some((one) => one === name));
  if (unknown.length > 0) {
    const names = unknown.map((name) => said(name, redactor)).join(', ');
    throw new TypeError(`there is no option ${names}: the options are ${known.join(', ')}`);
  }
  const members = known.flatMap((name) => {
    const value = given[name];
    const { takes, fits, required = false } = rules[name];
    if (value === undefined && !required) return [];
    if (fits(value)) return [[name, value] as const];
    throw new TypeError(`${name} is ${said(value, redactor)}: it must be ${takes}`);
  });
  return Object.fromEntries(members) as O;
}
