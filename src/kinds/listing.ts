import { error, ProblemsError } from '../base/problems.js';
import type { Fields } from '../base/values.js';
import type { Page } from '../server/answers.js';

/** What a page says of its list. */
type Counts = Omit<Page<Fields>, 'rows'>;

/** How many times a list is read again when its ids don't add up. */
const PASSES = 4;
/** Pages that bring nothing new, one after another, before a page count is no longer believed. */
const IDLE_PAGES = 3;
/** More than any server has: a list that goes on after it never ends. */
const MOST_PAGES = 10_000;
const MOST_ROWS = 1_000_000;
/** So many pages are asked for at a time once their number is known; more of them could be in vain. */
const AHEAD = 20;

/** Reads a page; it needn't where it is no longer wanted when it could be asked for, and throws then. */
type ReadPage = (number: number, wanted: () => boolean) => Promise<Page<Fields>>;

/**
 * Reads a list whole: as many pages as `total_pages` says, once each, and all again where the ids don't add up
 * to `total_entries`, since rows can repeat or be skipped while others write. `noun` names the rows in errors.
 * Throws where they still don't, and what reading a page throws.
 */
export async function readListing(noun: string, readPage: ReadPage): Promise<readonly Fields[]> {
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

async function readAllPages(noun: string, readPage: ReadPage): Promise<Listing> {
  const ahead = new Ahead(readPage);
  try {
    return await listedBy(noun, ahead);
  } finally {
    await ahead.end();
  }
}

async function listedBy(noun: string, ahead: Ahead): Promise<Listing> {
  const byId = new Map<string, Fields>();
  const anonymous: Fields[] = [];
  let total: number | undefined;
  let idle = 0;
  for (let number = 1; number <= MOST_PAGES; number += 1) {
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
    // Without a page count the end shows itself: a page that brings nothing, be it empty or the last one again.
    const done = pages === undefined ? idle > 0 : number >= pages || idle >= IDLE_PAGES;
    if (idle > 0) ahead.last = number;
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

/** Pages in their order, of which the next ones are under way. */
class Ahead {
  readonly #readPage: ReadPage;
  readonly #asked = new Map<number, Promise<Page<Fields>>>();
  /** Up to which page there surely are some. */
  last = 1;
  /** Up to which page any are wanted: those after one that failed are in vain. */
  #wanted = Number.POSITIVE_INFINITY;

  constructor(readPage: ReadPage) {
    this.#readPage = readPage;
  }

  /** Gives a page, and asks for those after it. Throws what reading the page throws. */
  async take(number: number): Promise<Page<Fields>> {
    for (let next = number; next === number || (next <= this.last && next < number + AHEAD); next += 1) {
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
    // What went wrong is told when its turn comes.
    page.catch(() => {
      this.#wanted = Math.min(this.#wanted, number);
    });
    return page;
  }

  /** Waits for what is under way, whatever comes of it; what isn't yet is not asked for. */
  async end(): Promise<void> {
    this.#wanted = 0;
    await Promise.allSettled(this.#asked.values());
  }
}

/** How many pages there surely are, by what the first of them says, which has so many rows. */
function surePages(first: Counts, rows: number): number {
  return Math.min(pagesOf(first) ?? 1, pagesFrom(first.totalEntries, rows) ?? 1, MOST_PAGES);
}

function pagesOf({ totalPages, totalEntries, pageSize }: Counts): number | undefined {
  return totalPages ?? pagesFrom(totalEntries, pageSize);
}

function pagesFrom(total: number | undefined, size: number | undefined): number | undefined {
  return total === undefined || !size ? undefined : Math.ceil(total / size);
}
