import type { SandboxData } from '../data.js';
import type { JsonObject } from '../json.js';

/** The input of an operation. */
export interface Operation {
  data: SandboxData;
  pageSize: number;
  /** The path parameters, decoded, in the order of the path. */
  params: string[];
  query: URLSearchParams;
  /** The content of the body's wrapper; empty for operations without a body. */
  resource: JsonObject;
}
