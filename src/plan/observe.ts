import pLimit from 'p-limit';
import { markSecrets } from '../kinds/fields.js';
import { kindOf, kinds } from '../kinds/index.js';
import type { Declared, Identity, KindName, Live, ObserveContext } from '../kinds/kind.js';
import { type OrganizationIndex, readOrganizations } from '../kinds/organizations.js';
import {
  type Catalog,
  catalogNames,
  type ListName,
  type References,
  readCatalog,
} from '../kinds/references.js';
import { shownFields } from '../kinds/rules.js';
import { error, ProblemsError } from '../problems.js';
import type { Progress } from '../progress.js';
import type { Reader } from '../server/client.js';
import { ServerFailure } from '../server/failures.js';
import type { Profile } from '../server/profiles.js';
import { settle } from '../settle.js';

/** An object that the server is to be asked for. */
export interface Wanted {
  readonly kind: KindName;
  readonly identity: Identity;
}

export interface ObserveOptions {
  readonly reader: Reader;
  readonly profile: Profile;
  readonly concurrency: number;
  readonly progress: Progress;
  /** Aborted where nothing more may be asked. */
  readonly signal?: AbortSignal;
  /** Lists that were asked for already, and that take what is asked for now. */
  readonly lists?: Lists;
}

/** What is read as a whole, once for all that need it. */
export interface Lists {
  organizations?: Promise<OrganizationIndex>;
  scopes?: Promise<Catalog | null>;
  roles?: Promise<Catalog | null>;
}

/** The server's answers; an object without an entry is of a kind that this server has no read for. */
export interface Observed<T> {
  readonly live: ReadonlyMap<T, Live>;
  /** The lists that were read. */
  readonly references: References;
}

/**
 * Reads what the given objects look like now, each once: no kind that isn't among them, and besides the lists
 * in which references have to be looked up, as far as the profile has reads for them.
 * Throws an AggregateError of all that the reader threw, since nothing may be built on a part.
 */
export async function observe<T extends Wanted>(
  objects: readonly T[],
  needed: readonly ListName[],
  { reader, profile, concurrency, progress, signal, lists = {} }: ObserveOptions,
): Promise<Observed<T>> {
  const limit = pLimit(concurrency);
  let refused: ServerFailure | undefined;
  const goOn = (): void => {
    if (signal?.aborted) throw interrupted();
  };
  // Every page of a list asks first whether anything may be asked at all.
  const paged: Reader = {
    ...reader,
    listOrganizations: async (page) => {
      goOn();
      return await reader.listOrganizations(page);
    },
    listExtra: async (read, page, parse) => {
      goOn();
      return await reader.listExtra(read, page, parse);
    },
  };
  const limited =
    (step: () => void): ObserveContext['limit'] =>
    (read) =>
      limit(async () => {
        // Credentials that were refused once will be refused each time.
        goOn();
        if (refused !== undefined) throw refused;
        try {
          const result = await read();
          step();
          return result;
        } catch (failure) {
          if (failure instanceof ServerFailure && failure.kind === 'unauthorized') refused = failure;
          throw failure;
        }
      });
  const counted = async <L>(reading: Promise<L>): Promise<L> => {
    const list = await reading;
    progress.step();
    return list;
  };
  const context: Omit<ObserveContext, 'limit'> = {
    reader,
    profile,
    organizations: () => {
      lists.organizations ??= counted(readOrganizations(paged));
      return lists.organizations;
    },
  };
  const live = new Map<T, Live>();
  const readable = kinds.filter((kind) => kind.readable(profile));
  const wanted = new Set(needed);
  const catalogs = catalogNames.flatMap((name) => {
    const read = profile.reads[name];
    return wanted.has(name) && read !== undefined ? [{ name, read }] : [];
  });
  // A list is one step, however many objects are looked up in it.
  const listSteps =
    wanted.has('organizations') || objects.some(({ kind }) => kind === 'Organization') ? 1 : 0;
  const single = objects.filter(
    ({ kind }) => kind !== 'Organization' && kindOf(kind).readable(profile),
  ).length;
  const steps = listSteps + catalogs.length + single;
  if (steps > 0) progress.phase('Observing', steps);
  try {
    await settle<unknown>([
      ...readable.map(async (kind) => {
        const own = objects.filter((object) => object.kind === kind.name);
        if (own.length === 0) return;
        // A list answers for several objects at once, and one of them may need a further read: a step is an object.
        let left = kind.name === 'Organization' ? 0 : own.length;
        const step = (): void => {
          if (left === 0) return;
          left -= 1;
          progress.step();
        };
        const observed = await kind.observe(own, { ...context, limit: limited(step) });
        while (left > 0) step();
        for (const [object, shown] of observed) {
          const fields = markSecrets(kind.fields, shownFields(kind, shown.fields, profile));
          live.set(object, { ...shown, fields });
        }
      }),
      ...(wanted.has('organizations') ? [context.organizations()] : []),
      ...catalogs.map(({ name, read }) => {
        lists[name] ??= counted(readCatalog(name, read, paged));
        return lists[name];
      }),
    ]);
  } catch (failure) {
    progress.end('failed');
    throw failure;
  }
  progress.end();
  return { live, references: await listed(lists) };
}

/** The lists that were read. */
async function listed(lists: Lists): Promise<References> {
  const { organizations, scopes, roles } = lists;
  return {
    ...(organizations === undefined ? {} : { organizations: await organizations }),
    ...(scopes === undefined ? {} : { scopes: await scopes }),
    ...(roles === undefined ? {} : { roles: await roles }),
  };
}

/** The lists that the documents' references have to be looked up in. */
export function listsFor(declared: readonly Declared[], profile: Profile): readonly ListName[] {
  return declared.flatMap((document) => kindOf(document.kind).refersTo?.(document, profile) ?? []);
}

/** What a plan ends with where it was interrupted before it was made. */
export function interrupted(): ProblemsError {
  return new ProblemsError([error('interrupted', 'interrupted: nothing more was asked')]);
}
