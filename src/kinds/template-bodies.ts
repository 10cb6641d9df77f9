import { error, type Problem } from '../base/problems.js';
import type { Fields } from '../base/values.js';
import { altered } from './declared.js';
import type { Declared } from './kind.js';
import { isBlank, textOf } from './texts.js';

const halves = ['txt_content', 'html_content'] as const;

/** Bodies that can't be anybody's mail: servers refuse them, some of them after the former body is gone. */
export function bodyProblems(template: Declared): Problem[] {
  return halves.flatMap((half) => bodyProblem(template, half) ?? []);
}

function bodyProblem(template: Declared, half: (typeof halves)[number]): Problem | undefined {
  const text = textOf(template.fields[half]);
  if (text === '' || !isBlank(text)) return undefined;
  const message = `"${half}" is white space alone, which is no body of an email`;
  const hint = 'write the text, or declare "state: absent" to delete the template';
  return error('body-blank', message, [template.placeOf(half)], hint);
}

/** A template without the bodies that are refused. */
export function withUsableBodies(template: Declared): Declared {
  const unusable = halves.filter((half) => bodyProblem(template, half) !== undefined);
  const fields = Object.entries(template.fields).filter(
    ([field]) => !unusable.some((half) => half === field),
  );
  return altered(template, { fields: Object.fromEntries(fields) });
}

/** The bodies of a template that are known. */
export function bodiesOf(fields: Fields): Fields {
  return Object.fromEntries(
    halves.flatMap((half) => (typeof fields[half] === 'string' ? [[half, fields[half]]] : [])),
  );
}
