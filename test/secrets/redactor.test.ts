import { describe, expect, it } from 'vitest';
import { createRedactor, redactAddress, resettableRedactor } from '../../src/secrets/redactor.js';

function redactorOf(...secrets: string[]) {
  const redactor = createRedactor();
  for (const secret of secrets) redactor.add(secret);
  return redactor;
}

describe('a redactor', () => {
  it('leaves other text unchanged', () => {
    expect(createRedactor().redact('a.b')).toBe('a.b');
    expect(redactorOf('a.b*c[1]').redact('axbbc1 a.b*c[1]')).toBe('axbbc1 (sensitive)');
  });

  it('masks a longer secret before a shorter one inside it', () => {
    expect(redactorOf('token', 'token-longer').redact('token-longer token')).toBe('(sensitive) (sensitive)');
  });

  it('masks a secret in a text that was harmless before it was known', () => {
    const redactor = redactorOf('first-secret');
    for (const redact of [redactor.redact, redactor.redactKey, redactor.redactName]) {
      expect(redact('a second-secret')).toBe('a second-secret');
    }
    redactor.add('second-secret');
    for (const redact of [redactor.redact, redactor.redactKey, redactor.redactName]) {
      expect(redact('a second-secret')).toBe('a (sensitive)');
    }
  });

  it('finds a secret of any length in a text of the same length', () => {
    for (let length = 4; length < 40; length += 1) {
      const secret = 'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hI5kL7n'.slice(0, length);
      expect(redactorOf(secret).redact(secret), secret).toBe('(sensitive)');
    }
  });

  it('ignores secrets that are too short', () => {
    expect(redactorOf('abc', '', '   ').redact('abc abcd')).toBe('abc abcd');
  });

  it('masks a secret of several lines line by line, without the frame of a PEM block', () => {
    const key =
      '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\r\nkqhkiG9w0BAQEF\nAA==\n-----END PRIVATE KEY-----\n';
    const { redact } = redactorOf(key);
    expect(redact(`x ${key}`)).toBe('x (sensitive)');
    expect(redact('| kqhkiG9w0BAQEF |')).toBe('| (sensitive) |');
    expect(redact('-----BEGIN PRIVATE KEY----- AA==')).toBe('-----BEGIN PRIVATE KEY----- AA==');
  });

  it('masks a token from a file that ends with a newline', () => {
    expect(redactorOf('s3cret-token\n').redact('Bearer s3cret-token')).toBe('Bearer (sensitive)');
  });

  it('accepts lone surrogates', () => {
    expect(redactorOf('abc\ud800d').redact('abc\ud800d')).toBe('(sensitive)');
  });

  it('searches long texts for many secrets once', () => {
    const secrets = Array.from({ length: 300 }, (_, index) => `secret-number-${index}-${'x'.repeat(40)}`);
    const { redact } = redactorOf(...secrets);
    const text = 'nothing to see here, secret-number-, '.repeat(50_000);
    expect(redact(text + secrets[299])).toBe(`${text}(sensitive)`);
  });
});

it('learns thousands of secrets one by one while texts are shown', () => {
  const redactor = createRedactor();
  const secret = (number: number): string => `generated-${number.toString(36).padStart(8, 'x')}`;
  for (let number = 0; number < 5000; number += 1) {
    redactor.add(secret(number));
    expect(redactor.redact(`now ${secret(number)}.`)).toBe('now (sensitive).');
  }
  const long = `${'nothing here '.repeat(100_000)}${secret(17)}`;
  expect(redactor.redact(long).endsWith('here (sensitive)')).toBe(true);
});

describe("a credential that is one of idops' own words", () => {
  const sentence = 'plan 2026: deletes the Template of backend 1';

  it.each(['delete', 'template', '2026'])("leaves idops's sentences unchanged: %s", (word) => {
    const redactor = createRedactor();
    redactor.add(word, 'variable');
    expect(redactor.redactSentence(sentence)).toBe(sentence);
    expect(redactor.redact(`a value with ${word} in it`)).toBe('a value with (sensitive) in it');
  });

  it('is masked if it is a token, or not just a word', () => {
    const redactor = createRedactor();
    redactor.add('template', 'variable');
    redactor.add('template', 'token');
    redactor.add('hunter2', 'variable');
    expect(redactor.redactSentence('the template of hunter2')).toBe('the (sensitive) of (sensitive)');
  });
});

describe('a credential that is an id', () => {
  const id = '20000000-0000-4000-8000-000000000001';

  it('leaves addresses and paths unchanged, and is masked elsewhere or if it is a token', () => {
    const redactor = createRedactor();
    redactor.add(id, 'variable');
    expect(redactAddress(`EmailTemplate/${id}/tx_code`, redactor)).toBe(`EmailTemplate/${id}/tx_code`);
    expect(redactor.redactName(`organizations[${id}]`)).toBe(`organizations[${id}]`);
    expect(redactor.redact(`a value, ${id}`)).toBe('a value, (sensitive)');
    expect(redactorOf(id).redactName(id)).toBe('(sensitive)');
    expect(redactor.holds(id)).toBe(true);
  });
});

describe('a secret of a server', () => {
  const redactor = createRedactor();
  for (const secret of ['manifests/all.yaml', '4111-8111', 'smtp_password', 'deletes the template']) {
    redactor.add(secret, 'answer');
  }

  it('leaves addresses, field names and file paths unchanged', () => {
    const address = 'User/11111111-1111-4111-8111-000000000001';
    expect(redactAddress(address, redactor)).toBe(address);
    expect(redactor.redactName('backend.smtp_password')).toBe('backend.smtp_password');
    expect(redactor.redactFile('manifests/all.yaml')).toBe('manifests/all.yaml');
  });

  it("is masked in idops's sentences only within quotation marks", () => {
    expect(redactor.redactSentence('deletes the template')).toBe('deletes the template');
    expect(redactor.redactSentence('asked "deletes the template", "a", the server has "x 4111-8111"')).toBe(
      'asked "(sensitive)", "a", the server has "x (sensitive)"',
    );
  });

  it("is masked in values, keys and the server's messages", () => {
    expect(redactor.redact('it deletes the template now')).toBe('it (sensitive) now');
    expect(redactor.redactKey('smtp_password')).toBe('(sensitive)');
    expect(redactor.redactEcho('it deletes the template')).toBe('it (sensitive)');
  });
});

it('a token is masked in addresses, files and sentences too', () => {
  const redactor = redactorOf('manifests/all.yaml');
  expect(redactAddress('Organization/manifests/all.yaml', redactor)).toBe('Organization/(sensitive)');
  expect(redactor.redactFile('manifests/all.yaml')).toBe('(sensitive)');
  expect(redactor.redactSentence('see manifests/all.yaml')).toBe('see (sensitive)');
});

it('forgets added secrets when it is reset, and keeps the initial ones', () => {
  const { add, redact, redactKey, redactName, redactFile, redactSentence, redactEcho, holds, reset } =
    resettableRedactor(['always-known-token']);
  const text = 'always-known-token learned-secret-1234';
  const all = [redact, redactKey, redactName, redactFile, redactSentence, redactEcho];
  add('learned-secret-1234');
  expect(all.map((one) => one(text))).toEqual(all.map(() => '(sensitive) (sensitive)'));
  expect(holds('learned-secret-1234')).toBe(true);
  reset();
  expect(all.map((one) => one(text))).toEqual(all.map(() => '(sensitive) learned-secret-1234'));
  expect([holds('learned-secret-1234'), holds('always-known-token')]).toEqual([false, true]);
});
