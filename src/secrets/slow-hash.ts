import { createHmac, randomBytes, type ScryptOptions, scrypt, scryptSync } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import pLimit from 'p-limit';
import { Pauses } from '../base/concurrency.js';

/** scrypt's cost, about 10 ms a value: guessing is slow, and hundreds of secrets don't delay a plan. */
const COST = { N: 4096, r: 8, p: 1 };
const LENGTH = 32;

const scryptAsync = promisify<string, string, number, ScryptOptions, Buffer>(scrypt);

/** One for each core, but one of Node's four threads stays free for names and files. */
const limit = pLimit(Math.max(1, Math.min(3, availableParallelism())));

interface WantedHash {
  readonly salt: string;
  readonly text: string;
}

/** Every slow hash of this process, by a keyed hash of the secret. */
const computed = new Map<string, Buffer>();
const inProgress = new Map<string, Promise<void>>();
const ownKey = randomBytes(32);

/** The hashes that the attempted work lacks; undefined outside of an attempt. */
let missingHashes: Map<string, WantedHash> | undefined;

/** Placeholder for an unknown hash; the work is repeated once it is known. */
export const pendingHash = Buffer.alloc(LENGTH);

/** How often work is attempted, since one hash may decide whether the next is needed, before it computes the rest synchronously. */
const MAX_ATTEMPTS = 8;

/**
 * The slow hash of a text, computed once for each salt. An unknown one is computed synchronously, except within
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

/** Computes slow hashes in the background; an aborted signal skips those that haven't started. */
export async function prepareSlowHashes(wanted: Iterable<WantedHash>, signal?: AbortSignal): Promise<void> {
  await Promise.all([...wanted].map((one) => prepareOne(one, signal)));
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
  const results: Promise<R>[] = [];
  for (const thing of things) {
    const result = withSlowHashes(() => work(thing));
    // Awaited below, perhaps after it failed.
    result.catch(() => {});
    results.push(result);
    if (pauses.due) await pauses.pause();
  }
  return await Promise.all(results);
}

/** The same for one piece of work. */
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
