import { setTimeout as sleep } from 'node:timers/promises';
import { noProgress } from '../base/progress.js';
import { same } from '../base/values.js';
import type { Kind, Live } from '../kinds/kind.js';
import type { ReadLists } from '../kinds/references.js';
import { type ObjectRef, type ObserveOptions, observe } from '../plan/observe.js';
import type { OpenChange } from './attempt-outcome.js';
import { intentOf, judge } from './outcome.js';

/** Milliseconds in which a server can finish a request whose client is gone. */
const PAUSE = 500;
/** How many times a reading is repeated if it differs from the previous one. */
const MAX_ROUNDS = 8;

/** Waits. */
export type Pause = (milliseconds: number) => Promise<void>;

export interface ReadBackOptions extends Omit<ObserveOptions, 'progress' | 'signal' | 'lists'> {
  readonly pause?: Pause | undefined;
}

/** The objects, and the lists of the newest reading. */
export interface ReadBack<T> {
  readonly live: ReadonlyMap<T, Live>;
  readonly read: ReadLists;
}

/**
 * Reads objects after requests without a usable answer. If the server may still be working on an object, reads it until two readings
 * are equal. Throws the errors of the reader.
 */
export async function readBack<T extends ObjectRef>(
  objects: readonly T[],
  isInProgress: (object: T, live: Live) => boolean,
  { pause = sleep, ...options }: ReadBackOptions,
): Promise<ReadBack<T>> {
  let newest: ReadLists = { at: performance.now(), lists: {} };
  const read = async (wanted: readonly T[]): Promise<ReadonlyMap<T, Live>> => {
    newest = { at: performance.now(), lists: {} };
    return (await observe(wanted, [], { ...options, lists: newest.lists, progress: noProgress })).live;
  };
  const latest = new Map(await read(objects));
  let open = [...latest].flatMap(([object, live]) => (isInProgress(object, live) ? [object] : []));
  for (let round = 0; open.length > 0 && round < MAX_ROUNDS; round += 1) {
    await pause(PAUSE);
    const again = await read(open);
    open = open.filter((object) => {
      const before = latest.get(object);
      const now = again.get(object);
      if (now !== undefined) latest.set(object, now);
      return before !== undefined && now !== undefined && !same(before.fields, now.fields);
    });
  }
  return { live: latest, read: newest };
}

/** Reads the objects of open changes of one kind; unreadable ones have no entry. */
export async function readBackAll(
  kind: Kind,
  open: readonly OpenChange[],
  { reader, profile, pause }: Pick<ReadBackOptions, 'reader' | 'profile' | 'pause'>,
  concurrency: number,
): Promise<ReadonlyMap<OpenChange, Live>> {
  const objects = open.map((one) => ({ kind: kind.name, identity: one.change.apply.identity, one }));
  const isInProgress = ({ one: { change, failure } }: (typeof objects)[number], live: Live): boolean =>
    failure.inProgress && judge(kind, intentOf(change), live).verdict !== 'done';
  const options = { reader, profile, concurrency, pause };
  try {
    const { live } = await readBack(objects, isInProgress, options);
    return new Map([...live].map(([{ one }, found]) => [one, found]));
  } catch {
    // The result says that it could not be read back.
    return new Map();
  }
}

/** Reads the object of one open change. */
export async function readBackOne(
  kind: Kind,
  open: OpenChange,
  options: Pick<ReadBackOptions, 'reader' | 'profile' | 'pause'>,
): Promise<Live | undefined> {
  return (await readBackAll(kind, [open], options, 1)).get(open);
}
