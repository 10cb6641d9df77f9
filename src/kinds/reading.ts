import type { Parser } from '../server/answers.js';
import type { PathParameters } from '../server/operations.js';
import type { ExtraRead } from '../server/reads.js';
import type { Identity, Live, ObserveContext } from './kind.js';

/** One object by a read of the profile, when its turn comes; null where the server has none. */
export async function readOne<T>(
  { reader, limit }: ObserveContext,
  read: ExtraRead,
  params: PathParameters,
  parse: Parser<T>,
): Promise<T | null> {
  return await limit(() => reader.showExtra(read, params, parse));
}

/** An object that the server doesn't have and that nothing can create. */
export function missing(identity: Identity, noun: string): Live {
  return {
    exists: false,
    identity,
    fields: {},
    trouble: `the server has no ${noun} with the id ${identity.id}, and no operation creates one: create it there, or correct the id`,
  };
}
