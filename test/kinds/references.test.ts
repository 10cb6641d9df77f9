import { describe, expect, it } from 'vitest';
import type { Fields } from '../../src/base/values.js';
import { readList } from '../../src/kinds/references.js';
import type { Page } from '../../src/server/answers.js';
import { type Profile, profiles } from '../../src/server/profiles.js';
import type { Reader } from '../../src/server/reader.js';

const boruta = profiles.boruta as Profile;

/** A reader that returns the given pages, one for each request, and records the requests. */
function listing(...answers: (Page<Fields> | null)[]) {
  const asked: string[] = [];
  const reader: Pick<Reader, 'listExtra'> = {
    async listExtra({ path }, page) {
      asked.push(`${path} ${page}`);
      const answer = answers[asked.length - 1];
      if (answer === undefined) throw new Error('asked too often');
      // These rows are parsed already, as a reader returns them.
      return answer as Page<never> | null;
    },
  };
  return { asked, reader };
}

const row = (id: string, name: string): Fields => ({ id, name });

describe('a list of scopes or roles', () => {
  it("is read once if it doesn't count pages", async () => {
    const { asked, reader } = listing({ rows: [row('1', 'a'), row('2', 'b'), row('3', 'b')] });
    const catalog = await readList('scopes', reader as Reader, boruta);
    expect(asked).toEqual(['/api/scopes 1']);
    expect(catalog?.byId('2')).toEqual(row('2', 'b'));
    expect(catalog?.byId('b')).toBeUndefined();
    expect(catalog?.byName('a')).toEqual([row('1', 'a')]);
    expect(catalog?.byName('b')).toHaveLength(2);
    expect(catalog?.byName('constructor')).toEqual([]);
    expect(catalog?.isIncomplete).toBe(false);
  });

  it('is read page by page if it has pages', async () => {
    const { asked, reader } = listing(
      { rows: [row('1', 'a')], totalPages: 2, totalEntries: 2 },
      { rows: [row('2', 'b')], totalPages: 2, totalEntries: 2 },
    );
    const catalog = await readList('roles', reader as Reader, boruta);
    expect(asked).toEqual(['/api/roles 1', '/api/roles 2']);
    expect(catalog?.byName('b')).toEqual([row('2', 'b')]);
  });

  it("is absent if the server doesn't offer it", async () => {
    expect(await readList('scopes', listing(null).reader as Reader, boruta)).toBeNull();
  });

  it("doesn't decide what a row without an id is", async () => {
    const { reader } = listing({ rows: [{ name: 'a' }] });
    expect((await readList('scopes', reader as Reader, boruta))?.isIncomplete).toBe(true);
  });
});
