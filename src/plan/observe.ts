import pLimit from 'p-limit';
import { markSecrets } from '../kinds/fields.js';
import { kindOf, kinds } from '../kinds/index.js';
import type { Declared, Identity, KindName, Live, ObserveContext } from '../kinds/kind.js';
import { type OrganizationIndex, readOrganizations } from '../kinds/organizations.js';
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
}

/** The server's answers; an object without an entry is of a kind that this server has no read for. */
export interface Observed<T> {
  readonly live: ReadonlyMap<T, Live>;
  /** The list of organizations, where it was read. */
  readonly organizations: OrganizationIndex | undefined;
}

/**
 * Reads what the given objects look like now, each once: no kind that isn't among them, and the list of
 * organizations besides where references to it have to be resolved.
 * Throws an AggregateError of all that the reader threw, since nothing may be built on a part.
 */
export async function observe<T extends Wanted>(
  objects: readonly T[],
  needsOrganizations: boolean,
  { reader, profile, concurrency, progress, signal }: ObserveOptions,
): Promise<Observed<T>> {
  const limit = pLimit(concurrency);
  let refused: ServerFailure | undefined;
  let list: Promise<OrganizationIndex> | undefined;
  const goOn = (): void => {
    if (signal?.aborted)
      throw new ProblemsError([error('interrupted', 'interrupted: nothing more was asked')]);
  };
  const context: ObserveContext = {
    reader,
    profile,
    organizations: () => {
      list ??= readOrganizations({
        ...reader,
        listOrganizations: async (page) => {
          goOn();
          return await reader.listOrganizations(page);
        },
      }).finally(progress.step);
      return list;
    },
    limit: (read) =>
      limit(async () => {
        // Credentials that were refused once will be refused each time.
        goOn();
        if (refused !== undefined) throw refused;
        try {
          const result = await read();
          progress.step();
          return result;
        } catch (failure) {
          if (failure instanceof ServerFailure && failure.kind === 'unauthorized') refused = failure;
          throw failure;
        }
      }),
  };
  const live = new Map<T, Live>();
  const readable = kinds.filter((kind) => kind.readable(profile));
  // The list of organizations is one step, however many of them are declared.
  const listed = needsOrganizations || objects.some(({ kind }) => kind === 'Organization') ? 1 : 0;
  const single = objects.filter(
    ({ kind }) => kind !== 'Organization' && kindOf(kind).readable(profile),
  ).length;
  if (listed + single > 0) progress.phase('Observing', listed + single);
  try {
    await settle<unknown>([
      ...readable.map(async (kind) => {
        const own = objects.filter((object) => object.kind === kind.name);
        if (own.length === 0) return;
        for (const [object, found] of await kind.observe(own, context)) {
          const fields = markSecrets(kind.fields, shownFields(kind, found.fields, profile));
          live.set(object, { ...found, fields });
        }
      }),
      ...(needsOrganizations ? [context.organizations()] : []),
    ]);
  } finally {
    progress.end();
  }
  return { live, organizations: await list };
}

/** Whether the documents refer to organizations, so that the list has to be read for them. */
export function needOrganizations(declared: readonly Declared[], profile: Profile): boolean {
  return declared.some(
    (document) => kindOf(document.kind).refersToOrganizations?.(document, profile) ?? false,
  );
}
