import { createHmac, randomBytes, type ScryptOptions, scrypt, scryptSync } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import pLimit from 'p-limit';
import { Pauses } from '../base/concurrency.js';

/** The cost of scrypt, about 10 ms per value: guessing is slow, and hundreds of secrets still don't delay a plan. */
const COST = { N: 4096, r: 8, p: 1 };
const LENGTH = 32;

const scryptAsync = promisify<string, string, number, ScryptOptions, Buffer>(scrypt);

/** One per core, but one of Node's four threads stays free for host names and files. */
const limit = pLimit(Math.max(1, Math.min(3, availableParallelism())));

interface WantedHash {
  readonly salt: string;
  readonly text: string;
}

/** The slow hashes of this process, by a keyed hash of the secret. */
const computed = new Map<string, Buffer>();
const inProgress = new Map<string, Promise<void>>();
const ownKey = randomBytes(32);

/** The hashes that the attempted work needs and that are not computed yet; undefined outside of an attempt. */
let missingHashes: Map<string, WantedHash> | undefined;

/** Placeholder for a hash that is not computed yet; the work is repeated when it is. */
export const pendingHash = Buffer.alloc(LENGTH);

/** After so many attempts, work computes its hashes synchronously. One is not enough: a hash may decide which one is needed next. */
const MAX_ATTEMPTS = 8;

/**
 * The slow hash of a text, computed once for each salt: synchronously, except within
 * `withSlowHashes` and `eachWithSlowHashes`.
 */
export function slowHash(salt: string, text: string): Buffer {
  const key = keyOf(salt, text);
  const before = computed.get(key);
  if (before !== undefined) return before;
  if (missingHashes === undefined) return keep(key, scryptSync(text, salt, LENGTH, COST));
  missingHashes.set(key, { salt, text });
  return pendingHash;
}

/** Computes slow hashes in the background. If the signal aborts, those that haven't started are skipped. */
export async function prepareSlowHashes(wanted: Iterable<WantedHash>, signal?: AbortSignal): Promise<void> {
  await Promise.all([...wanted].map((one) => prepareOne(one, signal)));
}

/**
 * The results of a pure function for each item, without blocking on slow hashes: work that needs a missing hash is repeated
 * when the hash is computed. Throws what `pauses` throws.
 */
export async function eachWithSlowHashes<T, R>(
  items: readonly T[],
  work: (item: T) => R,
  pauses = new Pauses(undefined),
): Promise<R[]> {
  const results: Promise<R>[] = [];
  for (const item of items) {
    const result = withSlowHashes(() => work(item));
    // It is awaited below, perhaps only after it has failed.
    result.catch(() => {});
    results.push(result);
    if (pauses.due) await pauses.pause();
  }
  return await Promise.all(results);
}

/** The same for one call. */
export async function withSlowHashes<R>(work: () => R): Promise<R> {
  for (let attempt = 1; attempt < MAX_ATTEMPTS; attempt += 1) {
    const missing = new Map<string, WantedHash>();
    missingHashes = missing;
    try {
      const result = work();
      if (missing.size === 0) return result;
    } catch (failure) {
      if (missing.size === 0) throw failure;
    } finally {
      missingHashes = undefined;
    }
    await prepareSlowHashes(missing.values());
  }
  return work();
}

async function prepareOne(one: WantedHash, signal: AbortSignal | undefined): Promise<void> {
  const key = keyOf(one.salt, one.text);
  if (computed.has(key)) return;
  let work = inProgress.get(key);
  if (work === undefined) {
    work = limit(async () => {
      if (signal?.aborted !== true) keep(key, await scryptAsync(one.text, one.salt, LENGTH, COST));
    }).finally(() => inProgress.delete(key));
    inProgress.set(key, work);
  }
  await work;
}

function keep(key: string, hash: Buffer): Buffer {
  computed.set(key, hash);
  return hash;
}

function keyOf(salt: string, text: string): string {
  return createHmac('sha256', ownKey)
    .update(JSON.stringify([salt, text]))
    .digest('base64');
}
