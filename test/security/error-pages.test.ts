import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { problemCodes } from '../../src/base/problem-codes.js';
import { failureKinds } from '../../src/server/failures.js';

describe('docs/reference/errors.md', () => {
  test('has one entry for each code, in alphabetical order', async () => {
    const page = await readFile('docs/reference/errors.md', 'utf8');
    const headings = [...page.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual([...problemCodes]);
    expect(headings).toEqual([...new Set(headings)].sort());
  });

  test('explains each code', async () => {
    const page = await readFile('docs/reference/errors.md', 'utf8');
    for (const section of page.split(/^## /m).slice(1)) {
      const [, ...text] = section.split('\n');
      expect(text.join(' ').trim().length, section).toBeGreaterThan(30);
    }
  });
});

test('every code is used by a source file', async () => {
  const files = (await readdir('src', { recursive: true })).filter(
    (path) => path.endsWith('.ts') && !path.endsWith('problem-codes.ts') && !path.startsWith('sandbox/'),
  );
  const sources = (await Promise.all(files.map((file) => readFile(join('src', file), 'utf8')))).join('\n');
  const ofServer: readonly string[] = failureKinds.map((kind) => `server-${kind}`);
  const given = problemCodes.filter((code) => ofServer.includes(code) || sources.includes(`'${code}'`));
  expect(given).toEqual([...problemCodes]);
});
