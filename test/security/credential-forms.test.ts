import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor, type SecretKind } from '../../src/secrets/redactor.js';
import { often } from '../often.js';

function redactorOf(secret: string, kind?: SecretKind) {
  const redactor = createRedactor();
  redactor.add(secret, kind);
  return redactor;
}

const json = (text: string): string => JSON.stringify(text).slice(1, -1);
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const entities = (text: string, write: (code: number) => string): string =>
  [...text].map((character) => write(character.codePointAt(0) ?? 0)).join('');
const named: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  '+': '&plus;',
  '/': '&sol;',
  '=': '&equals;',
  _: '&lowbar;',
  '.': '&period;',
  ö: '&ouml;',
};

/** Every form in which a server, a proxy or a program may repeat a credential. */
const forms: { readonly [form: string]: (secret: string) => string } = {
  'as it is': (secret) => secret,
  'in JSON': json,
  'in JSON twice': (secret) => json(json(secret)),
  'in JSON three times': (secret) => json(json(json(secret))),
  'in JSON with every character escaped': (secret) =>
    [...Array(secret.length).keys()]
      .map((at) => `\\u${secret.charCodeAt(at).toString(16).padStart(4, '0')}`)
      .join(''),
  'in a URL': (secret) => encodeURIComponent(secret),
  'in a URL in a URL': (secret) => encodeURIComponent(encodeURIComponent(secret)),
  'in a URL with every character encoded': (secret) =>
    [...Buffer.from(secret)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  'in a form': (secret) => new URLSearchParams([['', secret]]).toString().slice(1),
  'in JSON in a URL': (secret) => encodeURIComponent(json(secret)),
  'in HTML with names': (secret) => [...secret].map((character) => named[character] ?? character).join(''),
  'in HTML with decimal numbers': (secret) => entities(secret, (code) => `&#${code};`),
  'in HTML with numbers and no semicolons': (secret) => entities(secret, (code) => `&#${code}`),
  'in HTML with long numbers': (secret) => entities(secret, (code) => `&#${String(code).padStart(12, '0')};`),
  'in HTML with names and no semicolons': (secret) =>
    [...secret]
      .map((character, at, all) => {
        const name = /[&<>"ö]/.test(character) ? named[character] : undefined;
        // A semicolon that follows would end the name.
        return all[at + 1] === ';' ? (name ?? character) : (name?.slice(0, -1) ?? character);
      })
      .join(''),
  'in HTML with hexadecimal numbers': (secret) => entities(secret, (code) => `&#x${code.toString(16)};`),
  'in HTML with HEXADECIMAL numbers': (secret) =>
    entities(secret, (code) => `&#X${code.toString(16).toUpperCase()};`),
  'in hexadecimal': (secret) => Buffer.from(secret).toString('hex'),
  'in HEXADECIMAL': (secret) => Buffer.from(secret).toString('hex').toUpperCase(),
  'in base64': base64,
  'in base64 without padding': (secret) => base64(secret).replace(/=+$/, ''),
  'in base64url': (secret) => Buffer.from(secret).toString('base64url'),
  'in base64 in a URL': (secret) => encodeURIComponent(base64(secret)),
  'in base64 over several lines': (secret) => base64(secret).replace(/.{8}(?=.)/g, '$&\r\n'),
  'in capitals': (secret) => secret.toUpperCase(),
  'in small letters': (secret) => secret.toLowerCase(),
  'over several lines': (secret) => secret.replace(/.{7}/gs, '$&\r\n  '),
  'with zero-width characters': (secret) => [...secret].join('\u200b'),
  'with control characters': (secret) => secret.replace(/.{5}/gs, '$&\u0000\u001b'),
  'with blanks that are no white space': (secret) =>
    [...'\u2800\u3164\u115f\u1160\uffa0'].reduce(
      (text, blank, at) => text.replace(new RegExp(`^.{${3 + 5 * at}}`, 's'), `$&${blank}`),
      secret,
    ),
  'with tags': (secret) => secret.replace(/.{5}/gs, '$&\u{e0041}'),
};

const credential = 'p@ss"<w/öRd>+\\1_x.Y%41&amp=';

describe.each<SecretKind>(['token', 'variable', 'answer'])('a credential that is a %s is masked', (kind) => {
  it.each(Object.entries(forms))('%s', (_, form) => {
    const { redact, redactName, redactKey, redactEcho, holds } = redactorOf(credential, kind);
    const text = `before ${form(credential)} after`;
    expect(redact(text)).toBe('before (sensitive) after');
    expect(redactKey(text)).toBe('before (sensitive) after');
    // A server can't hide names by declaring them secret.
    expect(redactName(text)).toBe(kind === 'answer' ? text : 'before (sensitive) after');
    expect(redactEcho(text)).toBe('before (sensitive) after');
    expect(holds(text)).toBe(true);
  });
});

/** What is left of a secret next to a mask: at most one character at each end. */
function withoutMask(text: string): string {
  expect(text).toContain('(sensitive)');
  return text.replaceAll('(sensitive)', '');
}

it.each(['Bearer ', 'bearer:', 'id:', 'client-id:', 'a', 'ab', 'abc'])(
  'a credential is masked in base64 after "%s", with any text after it',
  (before) => {
    const token = createHash('sha256').update(before).digest('base64url').slice(0, 32);
    const { redact } = redactorOf(token);
    for (const after of ['', 'x', 'xy', 'xyz']) {
      for (const encoding of ['base64', 'base64url'] as const) {
        const text = Buffer.from(`${before}${token}${after}`).toString(encoding);
        const rest = withoutMask(redact(text));
        expect(rest.length).toBeLessThanOrEqual(Math.ceil(((before.length + after.length) * 4) / 3) + 4);
        const [start = ''] = redact(text).split('(sensitive)');
        expect(before.startsWith(Buffer.from(start, encoding).toString())).toBe(true);
      }
    }
  },
);

describe('random credentials are masked', () => {
  const unseen = String.raw`[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]`;
  const seen = (text: string): boolean => text.replace(new RegExp(unseen, 'gu'), '').length >= 12;
  // Invisible characters at the ends of a secret reveal nothing, and are kept.
  const trimmed = (text: string): string => text.replace(new RegExp(`^${unseen}+|${unseen}+$`, 'gu'), '');
  // Secrets without upper case or line breaks don't test these forms.
  const general = Object.entries(forms).filter(
    ([form]) => !/capitals|small|with (tags|control|blanks)|lines/.test(form),
  );
  const check = (secret: fc.Arbitrary<string>, among: typeof general): void => {
    fc.assert(
      fc.property(secret.map(trimmed).filter(seen), fc.constantFrom(...among), (text, [, form]) => {
        const written = form(text);
        expect(redactorOf(text, 'variable').redact(`< ${written} >`)).toMatch(/^<\s*\(sensitive\)\s*>$/);
      }),
      { numRuns: often(1500) },
    );
  };

  it('in every form', () => {
    const size = { minLength: 12, maxLength: 40 };
    const plain = /[\\%&]/g;
    check(
      fc
        .oneof(fc.string(size), fc.string({ ...size, unit: 'grapheme' }))
        .map((text) => text.replace(plain, 'x')),
      general,
    );
  });

  it('if they look encoded, in every form that is not nested', () => {
    const part = fc.constantFrom(...'%41|\\n|\\u0041|&amp;|&#65;|\\|%|&|aB3|"|+| '.split('|'));
    check(
      fc.array(part, { minLength: 8, maxLength: 20 }).map((parts) => parts.join('')),
      general.filter(([form]) => !/twice|three|URL in|JSON in a|base64 in/.test(form)),
    );
  });
});

describe('a part of a long token', () => {
  // Always the same token: a part of a random one may look like a word.
  const part = (seed: string) => createHash('sha512').update(seed).digest('base64url');
  const token = `eyJhbGciOiJSUzI1NiJ9.${part('payload')}.${part('signature')}`;

  it('is masked if it has 12 or more characters', () => {
    const { redact } = redactorOf(token);
    for (let from = 0; from + 12 <= token.length; from += 1) {
      const run = token.slice(from, from + 12);
      if (!/\d/.test(run) && !(/[a-z]/.test(run) && /[A-Z]/.test(run))) continue;
      expect(redact(`<${run}>`)).toBe('<(sensitive)>');
      const longer = token.slice(from, from + 40);
      expect(redact(`cut: ${longer}…`)).toBe('cut: (sensitive)…');
    }
  });

  it('is masked across lines and in upper case', () => {
    const { redact } = redactorOf(token);
    expect(redact(`<${token.slice(30, 38)}\r\n\t${token.slice(38, 46).toUpperCase()}>`)).toBe(
      '<(sensitive)>',
    );
  });

  it('is kept if it is shorter or consists of words', () => {
    const { redact } = redactorOf(token);
    expect(redact(token.slice(30, 41))).toBe(token.slice(30, 41));
    expect(redactorOf('admin-token-for-the-identity-provider').redact('the identity-provider')).toBe(
      'the identity-provider',
    );
    expect(redactorOf('https://example.com/reset/password').redact('https://example.com/help')).toBe(
      'https://example.com/help',
    );
  });

  it('is masked only for tokens, not for other secrets', () => {
    expect(redactorOf(token, 'variable').redact(token.slice(30, 60))).toBe(token.slice(30, 60));
    expect(redactorOf(token, 'answer').redact(token.slice(30, 60))).toBe(token.slice(30, 60));
  });
});

describe('a short secret', () => {
  it.each([
    ['abc', 'abc', 'abc'],
    ['prod', 'prod Prod p rod 70726f64', '(sensitive) Prod p rod 70726f64'],
    ['hunter2', 'hunter2 Hunter2 hun ter2', '(sensitive) Hunter2 hun ter2'],
    ['hunter22', 'Hunter22 hunt er22', '(sensitive) hunt er22'],
    ['aaaa', 'a aa aaa', 'a aa aaa'],
  ])('%s is masked only where it is unlikely by chance', (secret, text, shown) => {
    expect(redactorOf(secret).redact(text)).toBe(shown);
  });

  it('of a response is masked only in text of the server', () => {
    expect(redactorOf('hunter2', 'answer').redact('hunter2')).toBe('hunter2');
    expect(redactorOf('hunter2', 'answer').redactEcho('hunter2')).toBe('(sensitive)');
  });
});

it('a declared secret is masked only in text of the server', () => {
  const { redact, redactName, redactEcho, holds } = redactorOf('https://example.com/reset', 'declared');
  const text = 'go to https://example.com/reset';
  expect([redact(text), redactName(text), holds(text)]).toEqual([text, text, false]);
  expect(redactEcho(text)).toBe('go to (sensitive)');
});

it('a mask splits no surrogate pair, and is not masked again', () => {
  const high = 'secret-\ud83d';
  const { redact } = redactorOf(high);
  expect(redact('x secret-😀 y').isWellFormed()).toBe(true);
  expect(redact('x secret-😀 y')).toBe('x (sensitive) y');
  const low = redactorOf('\ude00-secret');
  expect(low.redact('x 😀-secret y')).toBe('x (sensitive) y');
  for (const secret of ['sensitive', '(sensitive)', 'SENSITIVE', '(sens']) {
    const redactor = redactorOf(secret);
    redactor.add('another-secret');
    const once = redactor.redact('x another-secret');
    expect(redactor.redact(once)).toBe(once);
  }
});
