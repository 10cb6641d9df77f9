import { describe, expect, it } from 'vitest';
import { Catalog } from '../../src/kinds/catalog.js';
import { readList } from '../../src/kinds/references.js';
import type { Organization, Page } from '../../src/server/answers.js';
import { type Profile, profiles } from '../../src/server/profiles.js';
import type { Reader } from '../../src/server/reader.js';

interface Listing {
  readonly asked: number[];
  readonly reader: Reader;
}

/** A server that answers only requests for the list; `number` counts them from 1. */
function listing(answer: (page: number, number: number) => Page<Organization>): Listing {
  const asked: number[] = [];
  const unasked = () => Promise.reject(new Error('nobody asked for this'));
  return {
    asked,
    reader: {
      listOrganizations: async (page) => {
        asked.push(page);
        return answer(page, asked.length);
      },
      showTemplate: unasked,
      showExtra: unasked,
      listExtra: unasked,
    },
  };
}

function rows(from: number, to: number): Organization[] {
  return Array.from({ length: to - from + 1 }, (_, index) => ({
    id: String(from + index),
    name: `organization ${from + index}`,
  }));
}

/** Pages of a list that doesn't change. A page beyond the last is empty or, if `clamped`, the last page. */
function pages(all: readonly Organization[], size: number, clamped = false) {
  const last = Math.ceil(all.length / size);
  return (asked: number): Page<Organization> => {
    const page = clamped ? Math.min(asked, Math.max(last, 1)) : asked;
    return {
      rows: all.slice((page - 1) * size, page * size),
      pageSize: size,
      totalPages: last,
      totalEntries: all.length,
    };
  };
}

function count(index: Catalog | null, to: number): number {
  return rows(1, to).filter(({ id }) => index?.byId(String(id)) !== undefined).length;
}

describe('reading the list', () => {
  it('sends one request if the list is empty', async () => {
    const { asked, reader } = listing(pages([], 4));
    expect(count(await readList('organizations', reader, profiles.documented as Profile), 20)).toBe(0);
    expect(asked).toEqual([1]);
  });

  it('reports a list without counts that never ends', async () => {
    const { asked, reader } = listing((_, number) => ({
      rows: Array.from({ length: 5000 }, (__, index) => ({ id: `${number}-${index}` })),
    }));
    await expect(readList('organizations', reader, profiles.documented as Profile)).rejects.toMatchObject({
      problems: [{ code: 'unstable-list' }],
    });
    expect(asked.length).toBeLessThan(300);
  });
});

describe('reading a list with incomplete pages', () => {
  const told = pages(rows(1, 5), 2);
  const rowsOf = (page: number) => told(page).rows;
  const clamped = (page: number) => pages(rows(1, 5), 2, true)(page).rows;
  it.each<[string, (page: number) => Page<Organization>, number[]]>([
    [
      'total_entries and page_size',
      (page) => ({ rows: rowsOf(page), pageSize: 2, totalEntries: 5 }),
      [1, 2, 3],
    ],
    ['total_entries alone', (page) => ({ rows: rowsOf(page), totalEntries: 5 }), [1, 2, 3]],
    ['the first empty page', (page) => ({ rows: rowsOf(page) }), [1, 2, 3, 4]],
    ['the first page that comes again', (page) => ({ rows: clamped(page) }), [1, 2, 3, 4]],
  ])('ends by %s', async (_, page, wanted) => {
    const { asked, reader } = listing(page);
    expect(count(await readList('organizations', reader, profiles.documented as Profile), 20)).toBe(5);
    expect(asked).toEqual(wanted);
  });

  it('counts rows without an id, since they exist', async () => {
    const { asked, reader } = listing(() => ({
      rows: [{ id: '1', name: 'acme' }, { name: 'globex' }, {}],
      totalPages: 1,
      totalEntries: 3,
    }));
    const index = await readList('organizations', reader, profiles.documented as Profile);
    expect(index?.rowsWithoutId).toBe(2);
    expect(index?.byId('1')?.name).toBe('acme');
    expect(index?.byName('globex')).toEqual([]);
    expect(asked).toEqual([1]);
  });
});

describe('finding an organization', () => {
  const names = ['acme', 'twin', 'twin', '1', null];
  const named = names.map((name, at) => ({ id: String(at + 1), name }));
  const index = new Catalog(named, { noun: 'organization' });

  it('works by name or by id', () => {
    expect(index.find('acme')).toMatchObject({ id: '1' });
    expect(index.find('5')).toMatchObject({ id: '5' });
    expect(index.findNamed('acme')).toMatchObject({ id: '1' });
  });

  it.each([
    ['two have the name', 'find', 'twin', '2 organizations are called "twin" (2, 3): refer to one by its id'],
    ['one has it as its id, another as its name', 'find', '1', '2 organizations are called "1"'],
    ['an id is no name', 'findNamed', '5', 'the server has no organization "5"'],
    ['no operation creates one', 'find', 'hooli', 'no operation creates one'],
  ] as const)('says what is wrong: %s', (_, how, name, trouble) => {
    expect(index[how](name)).toEqual(expect.stringContaining(trouble));
  });

  it('accepts both names in the plan that renames an organization', () => {
    const renamed = index.afterPlan({ changed: new Map([['1', { name: 'acme international' }]]) });
    expect(renamed.find('acme international')).toMatchObject({ id: '1' });
    expect(renamed.find('acme')).toMatchObject({ id: '1', name: 'acme international' });
    // Rebuilt during apply, when the server already has the new name.
    const applied = index
      .afterPlan({ changed: new Map([['1', { name: 'x' }]]) })
      .afterPlan({}, renamed.others);
    expect(applied.find('acme')).toMatchObject({ id: '1' });
  });

  it('suggests the new name for a former one', () => {
    const former = new Map([['1', ['old']]]);
    const known = index.afterPlan({}, { live: new Map(), former });
    expect(known.find('old')).toBe('the organization "old" is called "acme" now: refer to it by that name');
  });

  it.each(['find', 'findNamed'] as const)('refuses both names of a swap, which are ambiguous: %s', (how) => {
    const changed = new Map([
      ['1', { name: 'twin' }],
      ['2', { name: 'acme' }],
    ]);
    const swapped = new Catalog(named.slice(0, 2)).afterPlan({ changed });
    expect(swapped[how]('acme')).toMatch('2 objects are called "acme" (2, 1)');
    expect(swapped[how]('twin')).toMatch('2 objects are called "twin" (1, 2)');
    expect(swapped.byId('1')).toMatchObject({ name: 'twin' });
  });
});
