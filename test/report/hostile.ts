import fc from 'fast-check';

/** Stands at the start of hostile lines and nowhere in idops's own words. */
export const marker = 'Ж';

/** Texts that try to forge lines, colours, commands and JSON. */
export const hostileText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...['\n', '\r', '\r\n', '\u2028', '\u0085'].map((end) => `${end}${marker}`),
        ...['\u001b[2J', '\u009b31m', '\u0000', '\u007f', '\u202e', '\u2066', '\u200b', '\ufeff'],
        ...['\u{e0041}', '\ud800', '\udc00', '"', '\\', '\t', '  ', '__proto__', '\nPlan: 0 to update'],
        ...['\n::error::x', '::stop-commands::x', ' ::warning::y', '##[error]', '##vso[task.complete]'],
      ),
      fc.string({ unit: 'binary', maxLength: 12 }),
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join(''));
