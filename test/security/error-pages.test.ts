import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

async function sourceTexts(): Promise<string[]> {
  const files = (await readdir('src', { recursive: true })).filter(
    (path) => path.endsWith('.ts') && !path.startsWith('sandbox/'),
  );
  return await Promise.all(files.map((file) => readFile(join('src', file), 'utf8')));
}

async function headingsOf(): Promise<string[]> {
  const page = await readFile('docs/errors.md', 'utf8');
  return [...page.matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading);
}

/** The ways in which the sources write a code. */
const writings = [
  /\b(?:error|warning|problem)\(\s*'([a-z][a-z0-9-]+)',/g,
  /\bcode: '([a-z][a-z0-9-]+)'/g,
  // Handed on to what makes the problem.
  /, '([a-z]+-[a-z-]+)', places/g,
];

/** Every code in the sources: of problems, of warnings in plans, and of the failures of the server. */
async function codesInSources(): Promise<Set<string>> {
  const texts = await sourceTexts();
  const codes = texts.flatMap((text) =>
    writings.flatMap((writing) => [...text.matchAll(writing)].map(([, code = '']) => code)),
  );
  const failures = await readFile('src/server/failures.ts', 'utf8');
  const [kinds = ''] = /export type FailureKind =[^;]*;/.exec(failures) ?? [];
  const ofServer = [...kinds.matchAll(/'([a-z-]+)'/g)].map(([, kind]) => `server-${kind}`);
  return new Set([...codes, ...ofServer]);
}

describe('the page of errors', () => {
  test('has an entry for every code, in the order of the alphabet, each with a text', async () => {
    const page = await readFile('docs/errors.md', 'utf8');
    const headings = await headingsOf();
    expect(headings).toEqual([...headings].sort());
    expect(new Set(headings).size).toBe(headings.length);
    const codes = await codesInSources();
    expect([...codes].filter((code) => !headings.includes(code)).sort()).toEqual([]);
    for (const section of page.split(/^## /m).slice(1)) {
      const [, ...text] = section.split('\n');
      expect(text.join(' ').trim().length, section).toBeGreaterThan(30);
    }
  });

  test('has no entry for a code that is not there any more', async () => {
    const codes = await codesInSources();
    const sources = (await sourceTexts()).join('\n');
    const gone = (await headingsOf()).filter(
      (heading) => !codes.has(heading) && !sources.includes(`'${heading}'`),
    );
    expect(gone).toEqual([]);
  });
});
