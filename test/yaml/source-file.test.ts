import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { looksSecret } from '../../src/secrets/names.js';
import { MAX_BYTES, readBytes, SourceFile } from '../../src/yaml/source-file.js';
import { temporaryFolder } from '../cleanups.js';

/** The place of the first `find` in a text. */
function placeOf(text: string, find: string) {
  const start = text.indexOf(find);
  return new SourceFile({ file: 'x.yaml' }, text).place({ start, end: start + find.length });
}

describe('places', () => {
  test('lines and columns count from 1, and a range ends at the end of its line', () => {
    const place = { file: 'x.yaml', line: 2, column: 5, length: 3, text: 'bc: [x,' };
    expect(placeOf('a: 1\nbc: [x,\n y]\n', '[x,\n y]')).toEqual(place);
  });

  test('CRLF is not part of a line', () => {
    expect(placeOf('a: 1\r\nb: 2\r\n', 'b')).toMatchObject({ line: 2, column: 1, text: 'b: 2' });
  });

  test('the end of the file is a place', () => {
    const file = new SourceFile({ file: 'x.yaml' }, 'a: 1');
    expect(file.place({ start: 99, end: 100 })).toMatchObject({ line: 1, column: 5, length: 1 });
    const empty = new SourceFile({ file: 'x.yaml' }, '').place({ start: 0, end: 1 });
    expect(empty).toMatchObject({ line: 1, column: 1 });
  });
});

describe('secrets in shown lines', () => {
  test.each([
    'smtp_password: hunter2',
    'smtp_pasword: hunter2 # mine',
    'smtppassword: "hunter2"',
    '"clientSecret" : hunter2',
    '- api_token: hunter2',
    '{smtp_password: hunter2, smtp_port: 25}',
    'a: {b: 1, smtp_password: "hunter2, }", c: 2}',
    `{"smtp_password":"hunter2"}`,
    'smtp_password: !hunter2 x',
    'smtp_password            : hunter2',
    'smtp_password: ${A}, hunter2',
    'smtp_password: ${A:-hunter2}',
    'url: postgres://ada:hunter2@db/state',
  ])('hide these lines: %s', (text) => {
    const column = text.indexOf('hunter2') + 1;
    expect(placeOf(text, 'hunter2')).toEqual({ file: 'x.yaml', line: 1, column, length: 1 });
  });

  test.each([
    'label: nothing secret',
    'type: reset_password_instructions',
    'txt_content: {file: emails/reset_password.txt}',
    'token: ${IDOPS_TOKEN}',
    'token: "${IDOPS_TOKEN}"',
    'url: postgres://${USER}:${PASSWORD}@db/state',
  ])('hide nothing in this line: %s', (text) => {
    expect(placeOf(text, text).text).toBe(text);
  });

  test.each([
    'smtp_password: |\n  hunter2\n  hunter2\nport: 25\n',
    '- "smtp_password": >\n     hunter2\n\n     hunter2\n  port: 25\n',
    'smtp_password: "abc\n  hunter2\n  hunter2"\nport: 25\n',
    'smtp_password: "hunter2\n\n hunter2\n',
    'secrets:\n- hunter2\n- hunter2\nport: 25\n',
    'secrets: [a,\n  hunter2,\n hunter2]\nport: 25\n',
    '? smtp_password\n: hunter2\n',
    'smtp_password: ${A}\n  hunter2\nport: 25\n',
  ])('are hidden on each of their lines: %j', (text) => {
    const file = new SourceFile({ file: 'x.yaml' }, text);
    for (let start = 0; start <= text.length; start += 1) {
      const place = file.place({ start, end: start + 3 });
      expect(place.text ?? '').not.toContain('hunter2');
    }
    if (text.includes('port')) expect(placeOf(text, 'port').text?.trim()).toBe('port: 25');
  });

  test('are found under names in any alphabet', () => {
    for (const name of ['passwörd', 'contraseña', 'пароль', 'パスワード', '𝐩𝐚𝐬𝐬𝐰𝐨𝐫𝐝']) {
      const inMap = [`${name}: hunter2\nport: x`, `{"${name}": hunter2, port: [}`];
      for (const text of [...inMap, `- ${name} : |\n    hunter2\n- x`])
        expect(placeOf(text, 'hunter2').text ?? '').not.toContain('hunter2');
    }
  });

  test('a value that later proves secret is hidden too, except the name of a variable', () => {
    const text = 'a: ${IDOPS_API_TOKEN}\nb: a${B}c\n';
    const file = new SourceFile({ file: 'x.yaml' }, text);
    file.hide({ start: 3, end: 21 });
    file.hide({ start: 25, end: 31 });
    expect(file.place({ start: 3, end: 21 })).toMatchObject({ length: 18, text: 'a: ${IDOPS_API_TOKEN}' });
    expect(file.place({ start: 25, end: 31 }).text).toBeUndefined();
  });

  test("a text that isn't YAML has none", () => {
    const file = new SourceFile({ file: 'a.html' }, 'Your password: x', false);
    expect(file.place({ start: 0, end: 4 }).text).toBe('Your password: x');
  });

  test('any text has places', () => {
    const part = fc.constantFrom(...'smtp_password¦:¦ ¦\n¦{¦}¦"¦\'¦[¦,¦- ¦x¦|¦\r\n'.split('¦'));
    fc.assert(
      fc.property(fc.array(part), fc.nat(), fc.nat(), (parts, start, length) => {
        const file = new SourceFile({ file: 'x.yaml' }, parts.join(''));
        expect(file.place({ start, end: start + length }).length).toBeGreaterThan(0);
      }),
    );
  });
});

test.each([
  ...'smtp_password smtp_pasword passwd token Tokens client_secret credentials smtp_pass'.split(' '),
  ...'api_key apiKey APIKEY private-key privateKey access_key pin card.pin passwörd PASSWÓRD'.split(' '),
  ...'pa\u0301ssword ｐａｓｓｗｏｒｄ contraseña mot_de_passe Kennwort passwørd hasło пароль パスワード'.split(
    ' ',
  ),
  ...'pins totp otp_seed totpSecret recovery_codes backupCodes session_id cookie bearer'.split(' '),
])('%s looks secret', (key) => expect(looksSecret(key)).toBe(true));
test.each([
  ...'label name kind state type username public_key blocked group txt_content key_pair'.split(' '),
  ...'keyboard pinned auth shipping totp_registered_at optional postal_code session seed'.split(' '),
  ...'größe authorization_level cookie_consent'.split(' '),
])('%s does not look secret', (key) => expect(looksSecret(key)).toBe(false));

test('an unreadable line has its place, and is not shown', () => {
  const file = new SourceFile({ file: 'a.html' }, `a\n${'x'.repeat(200_000)}yz`, false);
  const place = file.place({ start: 200_002, end: 200_004 });
  expect(place).toEqual({ file: 'a.html', line: 2, column: 200_001, length: 2 });
});

describe('reading bytes', () => {
  test('returns the bytes of a regular file, by a link too, or the reason why not', async () => {
    const here = await temporaryFolder('file');
    const [file, link] = [join(here, 'a'), join(here, 'b')];
    writeFileSync(file, 'text \u00e9');
    symlinkSync(file, link);
    expect(Buffer.from(readBytes(link) as Uint8Array).toString()).toBe('text \u00e9');
    expect(readBytes(join(here, 'none'))).toMatchObject({ reason: 'missing' });
    expect(readBytes(here)).toEqual({ reason: 'unreadable', detail: 'is a folder, not a regular file' });
  });

  test.each([
    [0, 0],
    [MAX_BYTES, MAX_BYTES],
    [MAX_BYTES + 1, undefined],
  ])('of %i returns %s', async (size, length) => {
    const file = join(await temporaryFolder('file'), 'a');
    writeFileSync(file, Buffer.alloc(size, 'a'));
    const read = readBytes(file);
    expect('length' in read ? read.length : undefined).toBe(length);
  });
});
