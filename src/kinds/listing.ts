import { type ProblemsError, problemError } from '../base/problems.js';
import type { Fields } from '../base/values.js';
import type { Page } from '../server/answers.js';

type Counts = Omit<Page<Fields>, 'rows'>;

/** How often a list is read if its ids don't add up. */
const MAX_PASSES = 4;
/** Pages in a row with nothing new before the page count is ignored. */
const MAX_IDLE_PAGES = 3;
/** A longer list is taken as endless. */
const MAX_PAGES = 10_000;
const MAX_ROWS = 1_000_000;
/** Pages read at a time once their number is known. */
const PAGES_AHEAD = 20;

/** Reads a page; throws if it is no longer wanted when its turn comes. */
type ReadPage = (number: number, wanted: () => boolean) => Promise<Page<Fields>>;

/**
 * Reads a whole list: each of `total_pages` once, and all again if the ids don't add up to `total_entries`, since rows can repeat
 * or be skipped while others write. Throws if they still don't.
 */
export async function readListing(noun: string, readPage: ReadPage): Promise<readonly Fields[]> {
  let sum = '';
  for (let pass = 0; pass < MAX_PASSES; pass += 1) {
    const ahead = new PageQueue(readPage);
    const { rows, found, total } = await readPass(noun, ahead).finally(() => ahead.end());
    if (total === undefined || found === total) return rows;
    sum = `${found} ${noun} were listed, total_entries says ${total}`;
  }
  const message = `the list of ${noun} does not add up after ${MAX_PASSES} reads: ${sum}`;
  throw problemError('unstable-list', message, 'try again when nobody else is writing');
}

interface Listing {
  readonly rows: readonly Fields[];
  readonly found: number;
  readonly total: number | undefined;
}

async function readPass(noun: string, ahead: PageQueue): Promise<Listing> {
  const byId = new Map<string, Fields>();
  const anonymous: Fields[] = [];
  let total: number | undefined;
  let idle = 0;
  for (let number = 1; number <= MAX_PAGES; number += 1) {
    const page = await ahead.take(number);
    if (number === 1) ahead.last = surePages(page, page.rows.length);
    const before = byId.size;
    for (const row of page.rows) {
      if (typeof row.id === 'string') byId.set(row.id, row);
      else anonymous.push(row);
    }
    idle = byId.size === before ? idle + 1 : 0;
    total = page.totalEntries ?? total;
    const found = byId.size + anonymous.length;
    const pages = page.totalPages ?? pagesFrom(total, page.pageSize);
    // Without a page count, a page with nothing new is the end.
    const done = pages === undefined ? idle > 0 : number >= pages || idle >= MAX_IDLE_PAGES;
    if (idle > 0) ahead.last = number;
    // Ignore a page count that is larger than the list.
    const complete = total !== undefined && found >= total;
    if (done || complete) return { rows: [...byId.values(), ...anonymous], found, total };
    if (found > MAX_ROWS) throw endless(noun, `${MAX_ROWS} ${noun}`);
  }
  throw endless(noun, `${MAX_PAGES} pages`);
}

function endless(noun: string, most: string): ProblemsError {
  const hint = 'check that base_url is the address of an identity server of this API';
  return problemError('unstable-list', `the list of ${noun} goes on after ${most}`, hint);
}

/** Pages in order, with the next ones requested ahead. */
class PageQueue {
  readonly #readPage: ReadPage;
  readonly #asked = new Map<number, Promise<Page<Fields>>>();
  /** The last page that surely exists. */
  last = 1;
  /** The last page that is wanted: none after one that failed. */
  #wanted = Number.POSITIVE_INFINITY;

  constructor(readPage: ReadPage) {
    this.#readPage = readPage;
  }

  /** Returns a page, and requests those after it. */
  async take(number: number): Promise<Page<Fields>> {
    for (
      let next = number;
      next === number || (next <= this.last && next < number + PAGES_AHEAD);
      next += 1
    ) {
      if (this.#asked.has(next)) continue;
      this.#asked.set(next, this.#ask(next));
    }
    const page = this.#asked.get(number) ?? this.#ask(number);
    try {
      return await page;
    } finally {
      this.#asked.delete(number);
    }
  }

  #ask(number: number): Promise<Page<Fields>> {
    const page = this.#readPage(number, () => number <= this.#wanted);
    // The failure is thrown by `take`.
    page.catch(() => {
      this.#wanted = Math.min(this.#wanted, number);
    });
    return page;
  }

  /** Waits for pending requests, and cancels the others. */
  async end(): Promise<void> {
    this.#wanted = 0;
    await Promise.allSettled(this.#asked.values());
  }
}

/** How many pages surely exist, by the counts and rows of the first. */
function surePages(first: Counts, rows: number): number {
  const pages = first.totalPages ?? pagesFrom(first.totalEntries, first.pageSize);
  return Math.min(pages ?? 1, pagesFrom(first.totalEntries, rows) ?? 1, MAX_PAGES);
}

function pagesFrom(total: number | undefined, size: number | undefined): number | undefined {
  return total === undefined || !size ? undefined : Math.ceil(total / size);
}
