import { describe, expect, test } from 'vitest';
import { oneLine } from '../../src/base/escape.js';
import { messageIn } from '../../src/server/messages.js';

describe("the server's own message", () => {
  test.each([
    [{ errors: { name: ['is blank'], label: ['is long', 'odd'] } }, 'name: is blank; label: is long, odd'],
    [{ code: 'NOT_FOUND', message: 'Not found' }, 'Not found'],
    [{ code: 'NOT_FOUND' }, 'NOT_FOUND'],
    [{ code: 'X', message: 'Invalid', errors: { name: ['is odd'] } }, 'Invalid: name: is odd'],
    [{ errors: { user: { scopes: [{}, { name: ['odd'] }], age: 3 } } }, 'user.scopes.name: odd; user.age: 3'],
    [{ errors: ['one', 'two'] }, 'one, two'],
    [{ errors: 'all wrong' }, 'all wrong'],
    [{ error: 'invalid_token', error_description: 'expired' }, 'expired'],
    [{ error: { message: 'nested' } }, 'nested'],
    ['Request Entity Too Large', 'Request Entity Too Large'],
    [{ message: 'You are forbidden.', errors: { resource: ['you are forbidden'] } }, 'You are forbidden.'],
    [{ code: 'UNAUTHORIZED', message: 'Bad.', errors: { resource: ['is unauthorized'] } }, 'Bad.'],
    [{ code: 'CONFLICT', message: 'No.', errors: { resource: ['is locked'] } }, 'No.: resource: is locked'],
    [{ message: 'Bad request.', errors: { resource: ['is missing'] } }, 'Bad request.: resource: is missing'],
    [{ detail: 'why' }, 'why'],
  ])('in %j', (body, message) => {
    expect(messageIn(body)).toBe(message);
  });

  const without = [{}, null, [], 3, '', { errors: {} }, { errors: null, message: '' }, { message: 3 }];
  test.each(without.map((body) => [body]))('is absent in %j', (body) => {
    expect(messageIn(body)).toBeNull();
  });

  test('ends if errors are nested endlessly', () => {
    expect(messageIn(JSON.parse(`${'{"errors":'.repeat(9999)}"x"${'}'.repeat(9999)}`))).toBeNull();
  });

  test('becomes one line without control characters', () => {
    expect(oneLine(' a\r\n::error::b\u001b[31mc\u202e\u2028d\u0000\ud800 ')).toBe(
      'a ::error::b [31mc d \ufffd',
    );
  });

  test('is cut between characters', () => {
    expect(oneLine('😀'.repeat(500))).toBe('😀'.repeat(500));
    expect(oneLine('😀'.repeat(501))).toBe(`${'😀'.repeat(499)}…`);
  });
});
