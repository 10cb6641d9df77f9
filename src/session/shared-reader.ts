import { setTimeout as wait } from 'node:timers/promises';
import type { Shard } from '../base/shard.js';
import { surePages } from '../kinds/listing.js';
import { type OrganizationPage, parseOrganizationPage } from '../server/answers.js';
import type { Reader } from '../server/reader.js';
import type { SharedPages, SharedReading } from '../state/pages.js';

export interface SharedListing {
  readonly pages: SharedPages;
  /** What tells the list from those of other servers. */
  readonly list: string;
  readonly shard: Shard;
  readonly concurrency: number;
  /** Aborted where nothing more may be asked. */
  readonly signal: AbortSignal;
}

/** Milliseconds: for the others at least, which are started one after the other, and at most. */
const SHORTEST = 250;
const LONGEST = 5_000;
/** Between two looks at what others gave. */
const POLL = 25;
/** The least without a page from anybody, before what others said they would ask for is asked for by this one. */
const PATIENCE = 500;

/**
 * The same reader, which shares the list of organizations out with the other shards that read it at the same time: each asks for the
 * first page and for its part of the others. It waits for them to come no longer than reading all of it would take, and for their pages no
 * longer than its own took, and reads itself whatever doesn't come. The list is shared out once: whoever reads it again wants it as it is by then.
 */
export function sharedReader(reader: Reader, listing: SharedListing): Reader {
  let isFirst = true;
  let gathering: Gathering | undefined;
  return {
    ...reader,
    async listOrganizations(number, wanted) {
      if (number > 1) {
        return (await gathering?.page(number)) ?? (await reader.listOrganizations(number, wanted));
      }
      gathering?.stop();
      gathering = undefined;
      const begun = performance.now();
      const first = await reader.listOrganizations(number, wanted);
      const last = surePages(first, first.organizations.length);
      // With fewer there is nothing to ask for to some of them.
      if (isFirst && last > listing.shard.count)
        gathering = new Gathering(reader, listing, last, performance.now() - begun);
      isFirst = false;
      return first;
    },
  };
}

type Given = OrganizationPage | Promise<OrganizationPage> | undefined;

/** The pages of a list after the first, as they come: from this shard's own asking, or from others. */
class Gathering {
  readonly #reader: Reader;
  readonly #listing: SharedListing;
  readonly #pages = new Map<number, Promise<OrganizationPage | undefined>>();
  /** Those that nobody gave yet. */
  readonly #missing = new Map<number, (page: Given) => void>();
  /** How many this shard asked for and has no answer to. */
  #asked = 0;
  /** Milliseconds that the first page took. */
  readonly #took: number;
  /** When this shard asked for its part, and had the last page of it. */
  #began = 0;
  #ended = 0;
  #stopped = false;

  constructor(reader: Reader, listing: SharedListing, last: number, took: number) {
    this.#reader = reader;
    this.#listing = listing;
    this.#took = took;
    for (let number = 2; number <= last; number += 1) {
      const page = new Promise<OrganizationPage | undefined>((give) => this.#missing.set(number, give));
      // Whoever asks for the page hears of it.
      page.catch(() => {});
      this.#pages.set(number, page);
    }
    const { signal } = listing;
    const stop = (): void => this.stop();
    signal.addEventListener('abort', stop, { once: true });
    // Where the others can't be heard, all of it is read here.
    void this.#gather()
      .catch(() => {})
      .finally(() => {
        signal.removeEventListener('abort', stop);
        this.stop();
      });
  }

  /** A page when it is there; undefined where it has to be read. Throws what reading it threw. */
  async page(number: number): Promise<OrganizationPage | undefined> {
    const page = this.#pages.get(number);
    this.#pages.delete(number);
    return await page;
  }

  /** Waits for nothing more. */
  stop(): void {
    this.#stopped = true;
    for (const give of this.#missing.values()) give(undefined);
    this.#missing.clear();
  }

  async #gather(): Promise<void> {
    const { pages, list, shard } = this.#listing;
    const reading = await pages.join(list, shard);
    if (reading === null) return;
    try {
      const readers = await this.#meet(reading);
      const place = readers.indexOf(shard.index);
      const own = [...this.#missing.keys()].filter((_, index) => index % readers.length === place);
      this.#ask(reading, await reading.claim(own));
      await this.#listen(reading);
    } finally {
      await reading.leave();
    }
  }

  /** The shards that read the list, once all do, or others aren't worth waiting for any more. */
  async #meet(reading: SharedReading): Promise<readonly number[]> {
    const { shard, concurrency } = this.#listing;
    const alone = this.#took * Math.ceil(this.#missing.size / concurrency);
    const until = performance.now() + Math.min(LONGEST, Math.max(SHORTEST, alone));
    for (;;) {
      const readers = await reading.readers();
      if (readers.length >= shard.count || performance.now() >= until || this.#stopped) return readers;
      await wait(POLL);
    }
  }

  /** Takes what others give, and asks for what they don't. */
  async #listen(reading: SharedReading): Promise<void> {
    let heard = performance.now();
    while (this.#missing.size > 0 && !this.#stopped) {
      const found = await reading.found([...this.#missing.keys()]);
      for (const [number, text] of found) this.#give(number, pageOf(text));
      // The parts are as large as this one's.
      const patience = Math.min(LONGEST, Math.max(PATIENCE, this.#ended - this.#began));
      const isQuiet = performance.now() - heard > patience;
      if (found.size > 0 || this.#asked > 0) heard = performance.now();
      else if (isQuiet) {
        const left = await reading.claim([...this.#missing.keys()]);
        if (left.length === 0) return;
        this.#ask(reading, left);
      }
      await wait(POLL);
    }
    // The others may wait for what is still under way.
    while (this.#asked > 0) await wait(POLL);
  }

  #give(number: number, page: Given): void {
    this.#missing.get(number)?.(page);
    this.#missing.delete(number);
  }

  #ask(reading: SharedReading, numbers: readonly number[]): void {
    this.#began = performance.now();
    for (const number of numbers) {
      this.#asked += 1;
      const page = this.#reader.listOrganizations(number, () => !this.#stopped);
      this.#give(number, page);
      page
        .then(async (read) => {
          this.#ended = performance.now();
          await reading.put(number, textOf(read));
        })
        .catch(() => this.stop())
        .finally(() => {
          this.#asked -= 1;
        });
    }
  }
}

/** A page as the server writes it. */
function textOf({ organizations, pageNumber, pageSize, totalPages, totalEntries }: OrganizationPage): string {
  return JSON.stringify({
    data: organizations,
    page_number: pageNumber,
    page_size: pageSize,
    total_pages: totalPages,
    total_entries: totalEntries,
  });
}

/** Undefined where it isn't one. */
function pageOf(text: string): OrganizationPage | undefined {
  try {
    const parsed = parseOrganizationPage(JSON.parse(text));
    return 'value' in parsed ? parsed.value : undefined;
  } catch {
    return undefined;
  }
}
