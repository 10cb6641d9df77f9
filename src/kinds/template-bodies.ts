import { error, type Problem } from '../base/problems.js';
import type { Fields } from '../base/values.js';
import { altered } from './declared.js';
import type { Declared } from './kind.js';
import { characters, isBlank, textOf } from './texts.js';

const halves = ['txt_content', 'html_content'] as const;

/** Bodies that can't be anybody's mail: servers refuse them, some of them after the former body is gone. */
export function bodyProblems(template: Declared): Problem[] {
  return halves.flatMap((half) => bodyProblem(template, half) ?? []);
}

function bodyProblem(template: Declared, half: (typeof halves)[number]): Problem | undefined {
  const text = textOf(template.fields[half]);
  if (text === '') return undefined;
  if (isBlank(text)) {
    const message = `"${half}" is white space alone, which is no body of an email`;
    const hint = 'write the text, or declare "state: absent" to delete the template';
    return error('body-blank', message, [template.placeOf(half)], hint);
  }
  if (!text.includes('\0')) return undefined;
  const message = `"${half}" has a NUL character in it, at character ${characters(text.slice(0, text.indexOf('\0'))) + 1}`;
  return error(
    'body-nul',
    message,
    [template.placeOf(half)],
    'no server can keep one: save the file as UTF-8 text',
  );
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
