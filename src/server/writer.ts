import type { Fields } from '../base/values.js';
import type { Answer } from './call.js';
import type { Permit } from './exchange.js';
import type { WriteRequest } from './operations.js';

/** Changes the server. */
export interface Writer {
  /**
   * Sends what the plan named; the one place where secrets are revealed. Gives what the server says the object
   * is now; a DELETE that finds nothing gives 404 and no fields, since what was asked for holds.
   * Nothing leaves without the permit, which is confirmed right before each try, nor after `freshUntil`, a time of
   * `performance.now()`. With `tried`, the number of earlier tries, it is tried only once more: the caller reads the object again before the next try
   * (`Expired`). Throws a `ServerFailure`, an `Expired` or a `Withheld`.
   */
  send(request: WriteRequest, permit: Permit, freshUntil?: number, tried?: number): Promise<Answer<Fields>>;
}
