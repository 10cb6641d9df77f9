import { type ProblemsError, problemError } from '../base/problems.js';
import type { Fields } from '../base/values.js';
import type { Page } from '../server/answers.js';

/** How often a list is read if its ids don't match its count. */
const MAX_PASSES = 4;
/** After this many pages in a row without new ids, the page count is ignored. */
const MAX_IDLE_PAGES = 3;
/** A list with more pages is treated as endless. */
const MAX_PAGES = 10_000;
const MAX_ROWS = 1_000_000;
/** How many pages are requested at once when their number is known. */
const PAGES_AHEAD = 20;

/** Reads a page. Throws if `wanted` is false when the request would be sent. */
type ReadPage = (number: number, wanted: () => boolean) => Promise<Page<Fields>>;

/**
 * Reads a whole list. Reads all pages again if the number of ids differs from `total_entries`, since rows can repeat or be skipped
 * while others write. Throws a ProblemsError (`unstable-list`) if it still differs after MAX_PASSES.
 */
export async function readListing(noun: string, readPage: ReadPage): Promise<readonly Fields[]> {
  let sum = '';
  for (let pass = 0; pass < MAX_PASSES; pass += 1) {
    const queue = new PageQueue(readPage);
    const { rows, found, total } = await readPass(noun, queue).finally(() => queue.end());
    if (total === undefined || found === total) return rows;
    sum = `${found} ${noun} were listed, total_entries says ${total}`;
  }
  const message = `the list of ${noun} does not add up after ${MAX_PASSES} reads: ${sum}`;
  throw problemError('unstable-list', message, 'try again when nobody else is writing');
}

async function readPass(noun: string, queue: PageQueue) {
  const byId = new Map<string, Fields>();
  const anonymous: Fields[] = [];
  let total: number | undefined;
  let idle = 0;
  for (let number = 1; number <= MAX_PAGES; number += 1) {
    const page = await queue.take(number);
    if (number === 1) queue.last = surePages(page);
    const before = byId.size;
    for (const row of page.rows) {
      if (typeof row.id === 'string') byId.set(row.id, row);
      else anonymous.push(row);
    }
    idle = byId.size === before ? idle + 1 : 0;
    total = page.totalEntries ?? total;
    const found = byId.size + anonymous.length;
    const pages = page.totalPages ?? pagesFrom(total, page.pageSize);
    // Without a page count, a page without new ids is the last one.
    const done = pages === undefined ? idle > 0 : number >= pages || idle >= MAX_IDLE_PAGES;
    if (idle > 0) queue.last = number;
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

/** Returns pages in order and requests the next ones ahead. */
class PageQueue {
  readonly #readPage: ReadPage;
  readonly #asked = new Map<number, Promise<Page<Fields>>>();
  /** The last page that certainly exists. */
  last = 1;
  /** The last page to request. Pages after a failed one aren't. */
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
    // `take` throws the failure.
    page.catch(() => {
      this.#wanted = Math.min(this.#wanted, number);
    });
    return page;
  }

  /** Cancels requests that weren't sent, and waits for the others. */
  async end(): Promise<void> {
    this.#wanted = 0;
    await Promise.allSettled(this.#asked.values());
  }
}

/** How many pages certainly exist, from the counts and rows of the first page. */
function surePages({ rows, totalPages, totalEntries, pageSize }: Page<Fields>): number {
  const pages = totalPages ?? pagesFrom(totalEntries, pageSize);
  return Math.min(pages ?? 1, pagesFrom(totalEntries, rows.length) ?? 1, MAX_PAGES);
}

function pagesFrom(total: number | undefined, size: number | undefined): number | undefined {
  return total === undefined || !size ? undefined : Math.ceil(total / size);
}
