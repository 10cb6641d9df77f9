import pLimit from 'p-limit';
import type { Progress } from '../base/progress.js';
import { settle } from '../base/settle.js';
import { readRows } from '../kinds/catalog.js';
import type { Asked, DiscoverContext, Discovered, Kind, Known } from '../kinds/kind.js';
import { idTrouble } from '../kinds/limits.js';
import { type HeldLists, holdList } from '../kinds/references.js';
import { shownFields } from '../kinds/rules.js';
import { stoppable } from '../plan/stoppable.js';
import type { Profile } from '../server/profiles.js';
import type { Reader } from '../server/reader.js';

/** How a server is looked at. */
export interface LookOptions {
  readonly reader: Reader;
  readonly profile: Profile;
  readonly concurrency: number;
  readonly progress: Progress;
  /** Aborted where nothing more may be asked. */
  readonly signal?: AbortSignal;
}

/** What is looked for. */
export interface Wanted {
  readonly kinds: readonly Kind[];
  readonly asked: Asked;
  /** What manifests and the state name. */
  readonly known: readonly Known[];
}

/** What a server has, by kind; a kind without an entry can't be read there. */
export interface Found {
  readonly byKind: ReadonlyMap<Kind, Discovered>;
  readonly lists: HeldLists;
  /** Reads a list that the document doesn't have, unless it was read already. */
  readonly rows: DiscoverContext['rows'];
}

/** Finds the objects of some kinds, with GETs alone. Throws an AggregateError of all that the reader threw. */
export async function discover({ kinds, asked, known }: Wanted, look: LookOptions): Promise<Found> {
  const { reader, profile, concurrency, progress, signal } = look;
  const limit = pLimit(concurrency);
  const { stopped, goOn } = stoppable(reader, signal);
  const lists: HeldLists = {};
  const rows = new Map<string, ReturnType<DiscoverContext['rows']>>();
  const context: DiscoverContext = {
    reader: stopped,
    profile,
    alone: false,
    asked,
    // No path can carry what the server could not have given.
    known: known.filter(({ identity }) => idTrouble(identity, profile) === undefined),
    list: (name) => holdList(lists, name, { reader: stopped, profile }, () => {}),
    limit: (read) =>
      limit(async () => {
        goOn();
        return await read();
      }),
    rows: (noun, read, parse) => {
      const before = rows.get(read.path);
      if (before !== undefined) return before;
      const reading = readRows(noun, read, parse, stopped);
      rows.set(read.path, reading);
      return reading;
    },
  };
  const readable = kinds.filter((kind) => kind.discovery !== undefined && kind.readable(profile));
  if (readable.length > 0) progress.phase('Looking', readable.length);
  try {
    const look = async (kind: Kind): Promise<readonly [Kind, Discovered]> => {
      const { found = [], notes = [], ...rest } = (await kind.discovery?.find(context)) ?? {};
      progress.step();
      const shown = found.map((one) => ({
        ...one,
        live: { ...one.live, ...shownFields(kind, one.live.fields, profile) },
      }));
      return [kind, { ...rest, found: shown, notes }];
    };
    // A server that isn't there, or that refuses the token, is told of once.
    const [first, ...others] = readable;
    const found = first === undefined ? [] : [await look(first), ...(await settle(others.map(look)))];
    progress.end();
    return { byKind: new Map(found), lists, rows: context.rows };
  } catch (failure) {
    progress.end('failed');
    throw failure;
  }
}

/** Says which kinds the profile has no read for, and what to do. */
export function unreadable(kinds: readonly Kind[], { name }: Profile): string[] {
  const nouns = kinds.filter((kind) => kind.discovery !== undefined).map(({ noun }) => `${noun}s`);
  if (nouns.length === 0) return [];
  const list = nouns.length === 1 ? nouns[0] : `${nouns.slice(0, -1).join(', ')} and ${nouns.at(-1)}`;
  return [
    `${list} can't be read with the profile ${name}: declare what you manage of them by hand, or set another profile under server where idops doctor says that it fits`,
  ];
}
