import { createHmac, randomBytes, scrypt, scryptSync } from 'node:crypto';
import { availableParallelism } from 'node:os';
import pLimit from 'p-limit';
import { Pauses } from '../base/concurrency.js';

/**
 * scrypt's cost: about ten milliseconds a value, so that guessing a secret from its hash is slow and hundreds of them
 * delay no plan.
 */
const COST = { N: 4096, r: 8, p: 1 };
const LENGTH = 32;

/** As many at once as there are cores, and one thread of Node's four stays free for names and files. */
const limit = pLimit(Math.max(1, Math.min(3, availableParallelism())));

interface WantedHash {
  readonly salt: string;
  readonly text: string;
}

/** Every slow hash of this process. Its keys can't be read: this one is known to the process alone. */
const known = new Map<string, Buffer>();
const underWay = new Map<string, Promise<void>>();
const ownKey = randomBytes(32);

/** What the work that is being tried out lacks; undefined where nothing is tried out. */
let lacking: Map<string, WantedHash> | undefined;

/** Stands for a hash that isn't there yet, in work that is done again. */
export const notYet = Buffer.alloc(LENGTH);

/** Work is tried so often where one hash decides whether the next is needed, before the rest is worked out on the spot. */
const TRIES = 8;

/**
 * The slow hash of a text: once for each text and salt in a process. What hasn't been worked out is worked out on the
 * spot, which stops everything else for that time, but within `withSlowHashes` and `eachWithSlowHashes`.
 */
export function slowHash(salt: string, text: string): Buffer {
  const key = keyOf(salt, text);
  const before = known.get(key);
  if (before !== undefined) return before;
  if (lacking === undefined) return keep(key, scryptSync(text, salt, LENGTH, COST));
  lacking.set(key, { salt, text });
  return notYet;
}

/** Works out slow hashes beside everything else; those that haven't begun when the signal is aborted are left. */
export async function prepareSlowHashes(wanted: Iterable<WantedHash>, signal?: AbortSignal): Promise<void> {
  await Promise.all([...wanted].map((one) => prepared(one, signal)));
}

/**
 * What pure work gives for each of several things, without its slow hashes stopping anything: work that lacks some is
 * done again when they are there. Throws what the pauses throw.
 */
export async function eachWithSlowHashes<T, R>(
  things: readonly T[],
  work: (thing: T) => R,
  pauses = new Pauses(undefined),
): Promise<R[]> {
  const done: Tried<R>[] = [];
  for (const thing of things) {
    done.push(tried(() => work(thing)));
    if (pauses.due) await pauses.pause();
  }
  const lacked = new Map(done.flatMap(({ lacks }) => [...lacks]));
  await prepareSlowHashes(lacked.values());
  const results: R[] = [];
  for (const [index, thing] of things.entries()) {
    let one = done[index] ?? tried(() => work(thing));
    for (let tries = 1; one.lacks.size > 0 && tries < TRIES; tries += 1) {
      await prepareSlowHashes(one.lacks.values());
      one = tried(() => work(thing));
    }
    if (one.lacks.size === 0 && one.thrown !== undefined) throw one.thrown.failure;
    results.push(one.lacks.size === 0 ? (one.result as R) : work(thing));
  }
  return results;
}

/** The same for one piece of work. */
export async function withSlowHashes<R>(work: () => R): Promise<R> {
  const [result] = await eachWithSlowHashes([undefined], work);
  return result as R;
}

interface Tried<R> {
  readonly result: R | undefined;
  readonly thrown: { readonly failure: unknown } | undefined;
  readonly lacks: ReadonlyMap<string, WantedHash>;
}

/** Does work once. What it gives counts only where it lacks nothing. */
function tried<R>(work: () => R): Tried<R> {
  const around = lacking;
  const lacks = new Map<string, WantedHash>();
  lacking = lacks;
  try {
    return { result: work(), thrown: undefined, lacks };
  } catch (failure) {
    return { result: undefined, thrown: { failure }, lacks };
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
