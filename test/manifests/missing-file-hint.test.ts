import { describe, expect, it } from 'vitest';
import { missingFileHint } from '../../src/manifests/builder.js';

const place = { file: 'manifests/emails.yaml', line: 4, column: 14, length: 16 };

describe('a text instead of a body', () => {
  it.each([
    ['emails/reset.txt', 'emails/reset.txt'],
    ['../a.HTML', '../a.HTML'],
    ['file: reset.htm\n', 'reset.htm'],
    ['mails/a.mustache', 'mails/a.mustache'],
  ])('is reported if it looks like a path: %s', (text, path) => {
    expect(missingFileHint('txt_content', text, place)).toEqual({
      code: 'forgotten-file',
      severity: 'warning',
      message: `"txt_content" is the text "${path}", which looks like the path of a file; recipients would see the path`,
      hint: `to send the content of the file, write txt_content: {file: ${path}}`,
      places: [place],
    });
  });

  it.each([
    'Hello',
    'emails/reset',
    'See reset.txt',
    'Hello {{ user.username }}.txt',
    'https://id.example.com/a.html',
    '<p>a.html',
    'a.txt\nb.txt',
    `${'a/'.repeat(200)}b.txt`,
  ])('is a body otherwise: %s', (text) => {
    expect(missingFileHint('txt_content', text, place)).toBeUndefined();
  });
});
