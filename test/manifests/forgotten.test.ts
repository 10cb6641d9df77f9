import { describe, expect, it } from 'vitest';
import { forgottenFile } from '../../src/manifests/forgotten.js';

const place = { file: 'manifests/emails.yaml', line: 4, column: 14, length: 16 };

async function said(text: string, files: readonly string[] = []): Promise<string | undefined> {
  const problem = await forgottenFile({
    field: 'txt_content',
    text,
    place,
    exists: async (path) => files.includes(path),
  });
  expect(problem === undefined || problem.places[0] === place).toBe(true);
  return problem === undefined ? undefined : `${problem.severity}: ${problem.message}; ${problem.hint}`;
}

describe('a text in the place of a body', () => {
  it('is told where it is the path of a file', async () => {
    expect(await said('emails/reset', ['emails/reset'])).toBe(
      'warning: "txt_content" is the text "emails/reset", which is the path of a file, and that is what recipients would get; to send what is in the file, write txt_content: {file: emails/reset}',
    );
    expect(await said('file:reset.md\n', ['reset.md'])).toContain('{file: reset.md}');
  });

  it.each(['emails/reset.txt', '../a.HTML', 'reset.htm\n', 'mails/a.mustache'])(
    'is told where it ends as a path does: %s',
    async (text) => {
      expect(await said(text)).toContain('looks like the path of a file');
    },
  );

  it.each([
    'Hello',
    'See reset.txt',
    'Hello {{ user.username }}.txt',
    'https://id.example.com/a.html',
    '<p>a.html',
    'a.txt\nb.txt',
    `${'a/'.repeat(200)}b.txt`,
  ])('is a body otherwise: %s', async (text) => {
    expect(await said(text, ['Hello'])).toBeUndefined();
  });
});
