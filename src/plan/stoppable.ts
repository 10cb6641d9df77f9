import { interrupted } from '../base/concurrency.js';
import { lazy } from '../base/values.js';
import type { Reader } from '../server/reader.js';

/** A reader that can be stopped before each of its requests, and what throws where nothing more may be asked. */
export interface Stoppable {
  readonly stopped: Reader;
  readonly goOn: () => void;
}

type Wanted = () => boolean;

const always: Wanted = () => true;

/** The same reader, of which every request asks first, and again when its turn has come, whether anything may be asked at all. */
export function stoppable(reader: Reader, signal: AbortSignal | undefined): Stoppable {
  // One for all that is left, of which there may be very much.
  const stop = lazy(() => interrupted('nothing more was asked'));
  const goOn = (): void => {
    if (signal?.aborted) throw stop();
  };
  const still = async <T>(wanted: Wanted, ask: (wanted: Wanted) => Promise<T>): Promise<T> => {
    goOn();
    let wasStopped = false;
    const isWanted = (): boolean => {
      wasStopped = signal?.aborted === true;
      return !wasStopped && wanted();
    };
    try {
      return await ask(isWanted);
    } catch (failure) {
      throw wasStopped ? stop() : failure;
    }
  };
  const stopped: Reader = {
    listOrganizations: (page, wanted = always) => still(wanted, (so) => reader.listOrganizations(page, so)),
    showTemplate: (backendId, type, wanted = always) =>
      still(wanted, (so) => reader.showTemplate(backendId, type, so)),
    showExtra: (read, params, parse, wanted = always) =>
      still(wanted, (so) => reader.showExtra(read, params, parse, so)),
    listExtra: (read, page, parse, wanted = always) =>
      still(wanted, (so) => reader.listExtra(read, page, parse, so)),
  };
  return { stopped, goOn };
}
