import { lstatSync, realpathSync, type Stats } from 'node:fs';
import { lstat, realpath } from 'node:fs/promises';
import { readBytes, readBytesSync, type Unreadable } from '../source/file.js';

/** So many calls tell how quick a disk is. */
const ENOUGH = 20;
/** Milliseconds of a call from which on waiting for several at once takes less than doing one after the other. */
const SLOW = 0.3;

/**
 * Calls of the file system that many small files take. On a disk of this machine, one on the spot takes a tenth of what it
 * takes to have it done beside everything else; where they are slow, as over a network, they are done so all the same.
 */
export class Disk {
  readonly #now: () => number;
  #calls = 0;
  #spent = 0;

  /** `now` gives milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  lstat(path: string): Stats | Promise<Stats> {
    return this.#isSlow() ? lstat(path) : this.#onTheSpot(() => lstatSync(path));
  }

  realpath(path: string): string | Promise<string> {
    return this.#isSlow() ? realpath(path) : this.#onTheSpot(() => realpathSync.native(path));
  }

  /** The bytes of a file, or why they can't be had. */
  readBytes(path: string): Uint8Array | Unreadable | Promise<Uint8Array | Unreadable> {
    return this.#isSlow() ? readBytes(path) : this.#onTheSpot(() => readBytesSync(path));
  }

  #isSlow(): boolean {
    return this.#calls >= ENOUGH && this.#spent > SLOW * this.#calls;
  }

  #onTheSpot<T>(work: () => T): T {
    const begun = this.#now();
    try {
      return work();
    } finally {
      this.#calls += 1;
      this.#spent += this.#now() - begun;
    }
  }
}
