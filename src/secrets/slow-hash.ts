import { createHmac, randomBytes, scrypt, scryptSync } from 'node:crypto';
import { availableParallelism } from 'node:os';
import pLimit from 'p-limit';
import { Pauses } from '../base/concurrency.js';

/** scrypt's cost, about 10 ms a value: guessing is slow, and hundreds of secrets don't delay a plan. */
const COST = { N: 4096, r: 8, p: 1 };
const LENGTH = 32;

/** One for each core, but one of Node's four threads stays free for names and files. */
const limit = pLimit(Math.max(1, Math.min(3, availableParallelism())));

interface WantedHash {
  readonly salt: string;
  readonly text: string;
}

/** Every slow hash of this process, by a keyed hash of the secret. */
const known = new Map<string, Buffer>();
const underWay = new Map<string, Promise<void>>();
const ownKey = randomBytes(32);

/** The hashes that the attempted work lacks; undefined outside of an attempt. */
let lacking: Map<string, WantedHash> | undefined;

/** Placeholder for an unknown hash; the work is repeated once it is known. */
export const notYet = Buffer.alloc(LENGTH);

/** How often work is attempted, since one hash may decide whether the next is needed, before it computes the rest synchronously. */
const TRIES = 8;

/**
 * The slow hash of a text, computed once for each salt. An unknown one is computed synchronously, except within
 * `withSlowHashes` and `eachWithSlowHashes`.
 */
export function slowHash(salt: string, text: string): Buffer {
  const key = keyOf(salt, text);
  const before = known.get(key);
  if (before !== undefined) return before;
  if (lacking === undefined) return keep(key, scryptSync(text, salt, LENGTH, COST));
  lacking.set(key, { salt, text });
  return notYet;
}

/** Computes slow hashes in the background; an aborted signal skips those that haven't started. */
export async function prepareSlowHashes(wanted: Iterable<WantedHash>, signal?: AbortSignal): Promise<void> {
  await Promise.all([...wanted].map((one) => prepared(one, signal)));
}

/**
 * The results of pure work for each of several things, without blocking on slow hashes: work that lacks some is repeated
 * when they are known. Throws what the pauses throw.
 */
export async function eachWithSlowHashes<T, R>(
  things: readonly T[],
  work: (thing: T) => R,
  pauses = new Pauses(undefined),
): Promise<R[]> {
  const first: { readonly thing: T; readonly done: Tried<R> }[] = [];
  for (const thing of things) {
    first.push({ thing, done: tried(() => work(thing)) });
    if (pauses.due) await pauses.pause();
  }
  // Together, so that several are computed at once.
  await prepareSlowHashes(new Map(first.flatMap(({ done }) => [...done.lacks])).values());
  const results: R[] = [];
  for (const { thing, done } of first) {
    results.push(done.lacks.size === 0 ? done.result() : await withSlowHashes(() => work(thing)));
  }
  return results;
}

/** The same for one piece of work. */
export async function withSlowHashes<R>(work: () => R): Promise<R> {
  for (let tries = 1; tries < TRIES; tries += 1) {
    const { result, lacks } = tried(work);
    if (lacks.size === 0) return result();
    await prepareSlowHashes(lacks.values());
  }
  return work();
}

interface Tried<R> {
  /** Returns or throws what the work did. */
  readonly result: () => R;
  readonly lacks: ReadonlyMap<string, WantedHash>;
}

/** Attempts work; its result counts only if it lacks no hash. */
function tried<R>(work: () => R): Tried<R> {
  const around = lacking;
  const lacks = new Map<string, WantedHash>();
  lacking = lacks;
  try {
    const result = work();
    return { result: () => result, lacks };
  } catch (failure) {
    return {
      result: () => {
        throw failure;
      },
      lacks,
    };
  } finally {
    lacking = around;
  }
}

async function prepared(one: WantedHash, signal: AbortSignal | undefined): Promise<void> {
  const key = keyOf(one.salt, one.text);
  if (known.has(key)) return;
  let work = underWay.get(key);
  if (work === undefined) {
    work = limit(async () => {
      if (signal?.aborted !== true) keep(key, await hashed(one));
    }).finally(() => underWay.delete(key));
    underWay.set(key, work);
  }
  await work;
}

function hashed({ salt, text }: WantedHash): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(text, salt, LENGTH, COST, (failure, hash) => {
      if (failure === null) resolve(hash);
      else reject(failure);
    });
  });
}

function keep(key: string, hash: Buffer): Buffer {
  known.set(key, hash);
  return hash;
}

function keyOf(salt: string, text: string): string {
  return createHmac('sha256', ownKey)
    .update(JSON.stringify([salt, text]))
    .digest('base64');
}
