import { error, ProblemsError } from '../base/problems.js';
import type { Reader } from '../server/reader.js';

/** A reader whose lists can be stopped between two pages, and what throws where nothing more may be asked. */
export interface Stoppable {
  readonly paged: Reader;
  readonly goOn: () => void;
}

/** The same reader, of which every page of a list asks first whether anything may be asked at all. */
export function stoppable(reader: Reader, signal: AbortSignal | undefined): Stoppable {
  const goOn = (): void => {
    if (signal?.aborted) throw interrupted();
  };
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
  return { paged, goOn };
}

/** What a plan ends with where it was interrupted before it was made. */
export function interrupted(): ProblemsError {
  return new ProblemsError([error('interrupted', 'interrupted: nothing more was asked')]);
}
