import { expect, test } from 'vitest';
import { parseUrl } from '../../src/base/parse-url.js';

test('an address with letters of other languages is stable, however often it is parsed', () => {
  // Node 20 optimizes URL.canParse after about 2,500 calls.
  for (let at = 0; at < 20_000; at += 1) {
    if (parseUrl('https://ex\u00e4mple.com') === undefined) throw new Error(`no address at ${at}`);
  }
  expect(parseUrl('/x', 'https://id.example.com')?.href).toBe('https://id.example.com/x');
  expect(parseUrl('id.example.com')).toBeUndefined();
});
