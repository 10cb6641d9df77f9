import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ProblemsError } from '../../src/problems.js';
import { bearerToken, tokenFile } from '../../src/server/credentials.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'idops-credentials-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function problemOf(making: () => unknown): Promise<{ code: string; message: string }> {
  try {
    await making();
  } catch (failure) {
    if (failure instanceof ProblemsError && failure.problems[0] !== undefined) return failure.problems[0];
    throw failure;
  }
  throw new Error('expected a problem');
}

describe('a bearer token', () => {
  test('becomes an Authorization header', async () => {
    expect(await bearerToken('abc.DEF-1~+/==').authorization()).toBe('Bearer abc.DEF-1~+/==');
  });

  test.each([
    ['', 'empty'],
    ['hunter2\n', 'line break'],
    ['hunter2\r\nX-Other: 1', 'line break'],
    ['Bearer hunter2', 'white space'],
    ['hunter2\u0000', 'not visible'],
    ['hunter2\u200b', 'not visible'],
    ['hunter2é', 'not visible'],
  ])('%j is refused before anything is sent, without repeating it', async (token, why) => {
    const problem = await problemOf(() => bearerToken(token));
    expect(problem.code).toBe('unusable-token');
    expect(problem.message).toContain(why);
    expect(JSON.stringify(problem)).not.toContain('hunter2');
  });
});

describe('a token file', () => {
  test('is trimmed, and read each time it is used', async () => {
    const path = join(folder, 'token');
    const credentials = tokenFile(path);
    await writeFile(path, '  first\r\n');
    expect(await credentials.authorization()).toBe('Bearer first');
    await writeFile(path, 'second');
    expect(await credentials.authorization()).toBe('Bearer second');
  });

  test('that is missing is named', async () => {
    const path = join(folder, 'none');
    expect(await problemOf(() => tokenFile(path).authorization())).toMatchObject({
      code: 'unreadable-token-file',
      message: `the token file ${path} does not exist`,
    });
  });

  test('that is a folder is named with the reason', async () => {
    expect(await problemOf(() => tokenFile(folder).authorization())).toMatchObject({
      code: 'unreadable-token-file',
      message: `the token file ${folder} can't be read (EISDIR)`,
    });
  });

  test.each(['', ' \n', 'hunter2\nhunter3'])('that holds %j is refused', async (content) => {
    const path = join(folder, 'token');
    await writeFile(path, content);
    const problem = await problemOf(() => tokenFile(path).authorization());
    expect(problem.code).toBe('unusable-token');
    expect(problem.message).toContain(path);
    expect(problem.message).not.toContain('hunter');
  });
});
