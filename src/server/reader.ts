import type { Organization, Page, Parser, Template } from './answers.js';
import type { ExtraRead, PathParameters } from './operations.js';

/**
 * Asks the server, and can't change anything. Every method throws a `ServerFailure` where asking fails. What `wanted` says is no longer
 * wanted when its turn comes is not asked for: an Error is thrown.
 */
export interface Reader {
  /** One page of the list of organizations, counted from 1. */
  listOrganizations(page: number, wanted?: () => boolean): Promise<Page<Organization>>;
  /** An email template of a backend; null where the server answers 404. */
  showTemplate(backendId: string, type: string, wanted?: () => boolean): Promise<Template | null>;
  /**
   * One object by a read that the document doesn't have, such as a profile names; null where the server
   * answers 404. The parser is the one of the kind: `answers.user.one`, or `answers.keyPair.list` for a list.
   */
  showExtra<T>(
    read: ExtraRead,
    params: PathParameters,
    parse: Parser<T>,
    wanted?: () => boolean,
  ): Promise<T | null>;
  /**
   * One page, counted from 1, of a list that the document doesn't have; null where the server offers no such list.
   * The parser is the one of the rows, such as `pages.scope`.
   */
  listExtra<T>(
    read: ExtraRead,
    page: number,
    parse: Parser<Page<T>>,
    wanted?: () => boolean,
  ): Promise<Page<T> | null>;
}
