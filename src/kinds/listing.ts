import { error, ProblemsError } from '../base/problems.js';
import type { Fields } from '../base/values.js';
import type { Page } from '../server/answers.js';

/** How many times a list is read again when its ids don't add up. */
const PASSES = 4;
/** Pages that bring nothing new, one after another, before a page count is no longer believed. */
const IDLE_PAGES = 3;
/** More than any server has: a list that goes on after it never ends. */
const MOST_PAGES = 10_000;
const MOST_ROWS = 1_000_000;

/**
 * Reads a list whole: as many pages as `total_pages` says, once each, and all again where the ids don't add up
 * to `total_entries`, since rows can repeat or be skipped while others write. `noun` names the rows in errors.
 * Throws where they still don't, and what reading a page throws.
 */
export async function readListing(
  noun: string,
  readPage: (number: number) => Promise<Page<Fields>>,
): Promise<readonly Fields[]> {
  let sum = '';
  for (let pass = 0; pass < PASSES; pass += 1) {
    const { rows, found, total } = await readAllPages(noun, readPage);
    if (total === undefined || found === total) return rows;
    sum = `${found} ${noun} were listed, total_entries says ${total}`;
  }
  throw new ProblemsError([
    error(
      'unstable-list',
      `the list of ${noun} does not add up, read ${PASSES} times: ${sum}`,
      [],
      'try again when nobody else is writing',
    ),
  ]);
}

interface Listing {
  readonly rows: readonly Fields[];
  readonly found: number;
  readonly total: number | undefined;
}

async function readAllPages(
  noun: string,
  readPage: (number: number) => Promise<Page<Fields>>,
): Promise<Listing> {
  const byId = new Map<string, Fields>();
  const anonymous: Fields[] = [];
  let total: number | undefined;
  let idle = 0;
  for (let number = 1; number <= MOST_PAGES; number += 1) {
    const page = await readPage(number);
    const before = byId.size;
    for (const row of page.rows) {
      if (typeof row.id === 'string') byId.set(row.id, row);
      else anonymous.push(row);
    }
    idle = byId.size === before ? idle + 1 : 0;
    total = page.totalEntries ?? total;
    const found = byId.size + anonymous.length;
    const pages = page.totalPages ?? pagesFrom(total, page.pageSize);
    // Without a page count the end shows itself: a page that brings nothing, be it empty or the last one again.
    const done = pages === undefined ? idle > 0 : number >= pages || idle >= IDLE_PAGES;
    // A page count that never ends counts for no more than all that there is.
    const complete = total !== undefined && found >= total;
    if (done || complete) return { rows: [...byId.values(), ...anonymous], found, total };
    if (found > MOST_ROWS) throw endless(noun, `${MOST_ROWS} ${noun}`);
  }
  throw endless(noun, `${MOST_PAGES} pages`);
}

function endless(noun: string, most: string): ProblemsError {
  return new ProblemsError([
    error(
      'unstable-list',
      `the list of ${noun} goes on after ${most}`,
      [],
      'check that base_url is the address of an identity server of this API',
    ),
  ]);
}

function pagesFrom(total: number | undefined, size: number | undefined): number | undefined {
  return total === undefined || !size ? undefined : Math.ceil(total / size);
}
