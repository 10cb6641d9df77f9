import type { Fields } from '../base/values.js';
import type { Answer } from './call.js';
import type { Permit } from './exchange.js';
import type { WriteRequest } from './operations.js';

/** Changes the server. */
export interface Writer {
  /**
   * Sends a request of the plan; the only place that reveals secrets. Returns the object as the server shows it now; a DELETE that
   * finds nothing returns 404 and no fields. Sends nothing unless the permit is confirmed, right before each attempt, nor after
   * `freshUntil`, a time of `performance.now()`. With `tried`, the number of earlier attempts, it makes only one: the caller reads
   * the object again before the next. Throws a `ServerFailure`, an `Expired` or a `Withheld`.
   */
  send(request: WriteRequest, permit: Permit, freshUntil?: number, tried?: number): Promise<Answer<Fields>>;
}
