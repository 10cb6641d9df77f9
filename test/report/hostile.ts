import fc from 'fast-check';

/** The start of hostile lines. idops itself never prints it. */
export const marker = 'Ж';

/** Texts that could forge lines, colours, commands or JSON. */
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
