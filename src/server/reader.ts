import type { Organization, Page, Parser, Template } from './answers.js';
import type { ExtraRead, PathParameters } from './operations.js';

/**
 * Reads the server, and can't write. Methods throw a `ServerFailure`, or an Error if `isWanted` returns false right before sending.
 */
export interface Reader {
  /** A page, counted from 1. */
  listOrganizations(page: number, isWanted?: () => boolean): Promise<Page<Organization>>;
  /** Null for a 404. */
  showTemplate(backendId: string, type: string, isWanted?: () => boolean): Promise<Template | null>;
  /** An object by a read of a profile; null for a 404. The parser is `answers.user`, or `answers.keyPairs` for a list. */
  showExtra<T>(
    read: ExtraRead,
    params: PathParameters,
    parse: Parser<T>,
    isWanted?: () => boolean,
  ): Promise<T | null>;
  /** A page, counted from 1, of a list of a profile; null if the server doesn't offer it. The parser is one of `pages`. */
  listExtra<T>(
    read: ExtraRead,
    page: number,
    parse: Parser<Page<T>>,
    isWanted?: () => boolean,
  ): Promise<Page<T> | null>;
}
