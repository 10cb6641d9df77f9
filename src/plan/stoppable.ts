import { once } from '../base/once.js';
import { interrupted } from '../base/pauses.js';
import type { Reader } from '../server/reader.js';

/** A reader whose lists can be stopped between two pages, and what throws where nothing more may be asked. */
export interface Stoppable {
  readonly paged: Reader;
  readonly goOn: () => void;
}

/** The same reader, of which every page of a list asks first whether anything may be asked at all. */
export function stoppable(reader: Reader, signal: AbortSignal | undefined): Stoppable {
  // One for all that is left, of which there may be very much.
  const stopped = once(() => interrupted('nothing more was asked'));
  const goOn = (): void => {
    if (signal?.aborted) throw stopped();
  };
  const paged: Reader = {
    ...reader,
    listOrganizations: async (page, wanted) => {
      goOn();
      return await reader.listOrganizations(page, wanted);
    },
    listExtra: async (read, page, parse, wanted) => {
      goOn();
      return await reader.listExtra(read, page, parse, wanted);
    },
  };
  return { paged, goOn };
}
