import { describe, expect, test } from 'vitest';
import { checkBaseUrl, isBaseUrl } from '../../src/server/base-url.js';

describe('a base URL', () => {
  test.each([
    ['https://id.example.com', 'https://id.example.com', ''],
    ['https://ID.example.com:443/', 'https://id.example.com', ''],
    ['https://id.example.com/boruta//', 'https://id.example.com/boruta', '/boruta'],
    ['https://id.example.com/a/../b', 'https://id.example.com/b', '/b'],
    ['http://localhost:4000', 'http://localhost:4000', ''],
    ['http://id.localhost', 'http://id.localhost', ''],
    ['http://127.1.2.3/x', 'http://127.1.2.3/x', '/x'],
    ['http://[::1]:80', 'http://[::1]', ''],
  ])('%s is %s', (text, href, prefix) => {
    expect(checkBaseUrl(text, { allowInsecureHttp: false })).toEqual({
      href,
      prefix,
      origin: new URL(href).origin,
    });
  });

  test.each([
    '',
    'id.example.com',
    'localhost:4000',
    'ftp://id.example.com',
    'https://',
    'https://user:hunter2@id.example.com',
    'https://hunter2@id.example.com',
    'https://id.example.com/?token=hunter2',
    'https://id.example.com/#hunter2',
    'https://id.example.com/?',
    'https://id.example.com#',
    'https://user:hunter2@not a host',
    'https://user:hunter2@id.example.com:99999',
    'https:/id.example.com',
    'https:///id.example.com',
    'https://id..example.com',
    'https://id example.com',
    'https//id.example.com',
    'https://id.example.com:0',
    'https://-',
    '   ',
  ])('%s is refused with a hint, and not repeated', (text) => {
    const problem = checkBaseUrl(text, { allowInsecureHttp: true });
    expect(problem).toMatchObject({ code: 'bad-address', severity: 'error', hint: expect.any(String) });
    expect(JSON.stringify(problem)).not.toContain('hunter2');
  });

  test.each([
    ['id.example.com', 'is not an http or https address', 'write it as https://id.example.com'],
    [
      '$IDOPS_BASE_URL',
      'is the name of a variable that was not replaced',
      'in idops.yaml write ${NAME}, with braces',
    ],
    ['https://id.example.com/?', 'has a query', 'remove everything from the "?" on'],
    ['https://user:hunter2@id.example.com', 'contains a user name or a password'],
  ])('%s %s', (text, why, hint?: string) => {
    expect(checkBaseUrl(text, { allowInsecureHttp: false })).toMatchObject({
      message: `the base URL ${why}`,
      ...(hint === undefined ? {} : { hint }),
    });
  });

  test.each([
    'https://my_host/x',
    'https://[::1]:8443/x',
    'https://xn--exmple-cua.com',
    'https://ex\u00e4mple.com.',
  ])('%s is one', (text) => {
    expect(isBaseUrl(checkBaseUrl(text, { allowInsecureHttp: false }))).toBe(true);
  });

  test.each([
    'http://id.example.com',
    'http://localhost.example.com',
    'http://128.0.0.1',
    'http://127.example',
  ])('%s is refused unless plain http is allowed', (text) => {
    expect(checkBaseUrl(text, { allowInsecureHttp: false })).toMatchObject({
      code: 'insecure-http',
      hint: expect.any(String),
    });
    expect(isBaseUrl(checkBaseUrl(text, { allowInsecureHttp: true }))).toBe(true);
  });

  test('is reported with the place and the name that the caller gives', () => {
    const places = [{ file: 'idops.yaml', line: 3, column: 5, length: 1 }];
    const use = { allowInsecureHttp: false, what: 'the token address', places };
    expect(checkBaseUrl('ftp://a', use)).toMatchObject({
      message: 'the token address is not an http or https address',
      places,
    });
    expect(checkBaseUrl('http://id.example.com', use)).toMatchObject({ code: 'insecure-http', places });
  });

  test.each([
    'https://https://id.example.com',
    'https://1.2.3',
    'https://0x7f.1',
    'https://https//id.example.com',
    'https://id.example.com\\path',
  ])('refuses %s, which a parser turns into another host or path', (text) => {
    expect(checkBaseUrl(text, { allowInsecureHttp: false })).toMatchObject({ code: 'bad-address' });
  });
});
