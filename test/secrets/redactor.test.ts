import { describe, expect, it } from 'vitest';
import { createRedactor, redactAddress, resettableRedactor } from '../../src/secrets/redactor.js';

function redactorOf(...secrets: string[]) {
  const redactor = createRedactor();
  for (const secret of secrets) redactor.add(secret);
  return redactor;
}

describe('a redactor', () => {
  it('leaves everything else', () => {
    expect(createRedactor().redact('a.b')).toBe('a.b');
    expect(redactorOf('a.b*c[1]').redact('axbbc1 a.b*c[1]')).toBe('axbbc1 (sensitive)');
  });

  it('takes a longer secret before a shorter one that it holds', () => {
    expect(redactorOf('token', 'token-longer').redact('token-longer token')).toBe('(sensitive) (sensitive)');
  });

  it('knows a secret in a text that it found harmless before', () => {
    const redactor = redactorOf('first-secret');
    for (const redact of [redactor.redact, redactor.redactKey, redactor.redactName]) {
      expect(redact('a second-secret')).toBe('a second-secret');
    }
    redactor.add('second-secret');
    for (const redact of [redactor.redact, redactor.redactKey, redactor.redactName]) {
      expect(redact('a second-secret')).toBe('a (sensitive)');
    }
  });

  it('finds a secret of every length in a text that is no longer', () => {
    for (let length = 4; length < 40; length += 1) {
      const secret = 'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hI5kL7n'.slice(0, length);
      expect(redactorOf(secret).redact(secret), secret).toBe('(sensitive)');
    }
  });

  it('leaves secrets alone that are too short to look for', () => {
    expect(redactorOf('abc', '', '   ').redact('abc abcd')).toBe('abc abcd');
  });

  it('knows a secret of several lines line by line, without the frame of a PEM block', () => {
    const key =
      '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\r\nkqhkiG9w0BAQEF\nAA==\n-----END PRIVATE KEY-----\n';
    const { redact } = redactorOf(key);
    expect(redact(`x ${key}`)).toBe('x (sensitive)');
    expect(redact('| kqhkiG9w0BAQEF |')).toBe('| (sensitive) |');
    expect(redact('-----BEGIN PRIVATE KEY----- AA==')).toBe('-----BEGIN PRIVATE KEY----- AA==');
  });

  it('knows a token that came from a file with a newline at its end', () => {
    expect(redactorOf('s3cret-token\n').redact('Bearer s3cret-token')).toBe('Bearer (sensitive)');
  });

  it('takes lone surrogates without harm', () => {
    expect(redactorOf('abc\ud800d').redact('abc\ud800d')).toBe('(sensitive)');
  });

  it('goes through long texts and many secrets once', () => {
    const secrets = Array.from({ length: 300 }, (_, index) => `secret-number-${index}-${'x'.repeat(40)}`);
    const { redact } = redactorOf(...secrets);
    const text = 'nothing to see here, secret-number-, '.repeat(50_000);
    expect(redact(text + secrets[299])).toBe(`${text}(sensitive)`);
  });
});

it('learns thousands of secrets one after the other, while texts are shown', () => {
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

  it.each(['delete', 'template', '2026'])('leaves its sentences as they are: %s', (word) => {
    const redactor = createRedactor();
    redactor.add(word, 'variable');
    expect(redactor.redactSentence(sentence)).toBe(sentence);
    expect(redactor.redact(`a value with ${word} in it`)).toBe('a value with (sensitive) in it');
  });

  it('is masked all the same where it is a token, or no mere word', () => {
    const redactor = createRedactor();
    redactor.add('template', 'variable');
    redactor.add('template', 'token');
    redactor.add('hunter2', 'variable');
    expect(redactor.redactSentence('the template of hunter2')).toBe('the (sensitive) of (sensitive)');
  });
});

describe('a credential that is an id', () => {
  const id = '20000000-0000-4000-8000-000000000001';

  it('leaves addresses and paths as they are, and is masked elsewhere, and where it is a token', () => {
    const redactor = createRedactor();
    redactor.add(id, 'variable');
    expect(redactAddress(`EmailTemplate/${id}/tx_code`, redactor)).toBe(`EmailTemplate/${id}/tx_code`);
    expect(redactor.redactName(`organizations[${id}]`)).toBe(`organizations[${id}]`);
    expect(redactor.redact(`a value, ${id}`)).toBe('a value, (sensitive)');
    expect(redactorOf(id).redactName(id)).toBe('(sensitive)');
    expect(redactor.holds(id)).toBe(true);
  });
});

describe('what a server calls a secret', () => {
  const redactor = createRedactor();
  for (const secret of ['manifests/all.yaml', '4111-8111', 'smtp_password', 'deletes the template']) {
    redactor.add(secret, 'answer');
  }

  it('takes nothing out of addresses, names of fields and paths of files', () => {
    const address = 'User/11111111-1111-4111-8111-000000000001';
    expect(redactAddress(address, redactor)).toBe(address);
    expect(redactor.redactName('backend.smtp_password')).toBe('backend.smtp_password');
    expect(redactor.redactFile('manifests/all.yaml')).toBe('manifests/all.yaml');
  });

  it("is taken out of idops' sentences within quotation marks alone", () => {
    expect(redactor.redactSentence('deletes the template')).toBe('deletes the template');
    expect(redactor.redactSentence('asked "deletes the template", "a", the server has "x 4111-8111"')).toBe(
      'asked "(sensitive)", "a", the server has "x (sensitive)"',
    );
  });

  it('is taken out of values, keys and what the server says', () => {
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
