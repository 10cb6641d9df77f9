import type { Fields } from '../base/values.js';
import type { Answer } from './call.js';
import type { WriteRequest } from './operations.js';

/** Changes the server. */
export interface Writer {
  /**
   * Sends what the plan named; the one place where secrets are revealed. Gives what the server says the object
   * is now; a DELETE that finds nothing gives 404 and no fields, since what was asked for holds.
   * After `freshUntil`, a time of `performance.now()`, it isn't sent any more. Throws a `ServerFailure` or an `Expired`.
   */
  send(request: WriteRequest, freshUntil?: number): Promise<Answer<Fields>>;
}
