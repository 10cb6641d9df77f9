import { isMap, type Value } from '../base/values.js';

const maxDepth = 6;

/**
 * The message in the JSON of an error answer; null if there is none. Knows both documented shapes, `{errors: {field: [...]}}` and
 * `{code, message}`, also together, and common ones of other servers and gateways. It may have line breaks.
 */
export function messageIn(body: unknown): string | null {
  if (typeof body === 'string') return body.trim() === '' ? null : body;
  if (!isMap(body)) return null;
  const main = [body.message, body.error_description, body.detail, body.error, body.code].find(
    (candidate) => typeof candidate === 'string' && candidate.trim() !== '',
  );
  const error = isMap(body.error) ? messageIn(body.error) : null;
  const message = main?.toString() ?? error ?? '';
  const code = typeof body.code === 'string' ? body.code : '';
  const details = flatten(body.errors, '', maxDepth).filter((part) => !repeats(`${message} ${code}`, part));
  if (details.length === 0) return message || null;
  return [...(message === '' ? [] : [message]), details.join('; ')].join(': ');
}

/** Whether a part only repeats earlier words, except for its field, as in `resource: is unauthorized`. */
function repeats(before: string, part: string): boolean {
  const knownWords = new Set(['is', ...words(before)]);
  return words(part.replace(/^[\w.]+: /, '')).every((word) => knownWords.has(word));
}

function words(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Elixir code, exceptions and queries that a server sends instead of a message. */
const internals =
  /\*\* \(|%[A-Z][\w.]*\{|\b(?:Ecto|Postgrex|DBConnection|Plug|Phoenix)\.[A-Z]|#(?:PID|Reference|Ecto)\b/;

/** Whether a message shows raw internals of the server. */
export function showsInternals(message: string): boolean {
  return internals.test(message);
}

export const internalsNote = 'its message is raw internals of the server, which --debug shows';

function flatten(errors: Value | undefined, path: string, depth: number): string[] {
  const label = path === '' ? '' : `${path}: `;
  if (Array.isArray(errors)) {
    const texts = errors.filter((item) => typeof item !== 'object').map(String);
    const others = errors.filter((item) => typeof item === 'object');
    return [
      ...(texts.length === 0 ? [] : [`${label}${texts.join(', ')}`]),
      ...(depth === 0 ? [] : others.flatMap((item) => flatten(item, path, depth - 1))),
    ];
  }
  if (isMap(errors)) {
    if (depth === 0) return [];
    return Object.entries(errors).flatMap(([key, value]) =>
      flatten(value, path === '' ? key : `${path}.${key}`, depth - 1),
    );
  }
  return errors === undefined || errors === null ? [] : [`${label}${String(errors)}`];
}
