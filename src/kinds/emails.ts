import { kindOf } from './index.js';
import type { Declared, Email } from './kind.js';

/** The documents that declare an email, with where its bodies and its type stand. */
export function emailsIn(
  declared: readonly Declared[],
): { readonly template: Declared; readonly email: Email }[] {
  return declared.flatMap((template) => {
    const { email } = kindOf(template.kind);
    return email === undefined || template.absent ? [] : [{ template, email }];
  });
}
