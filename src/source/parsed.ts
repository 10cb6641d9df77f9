import type { Problem } from '../base/problems.js';
import type { Node } from './tree.js';

/** A document of a file; one that says nothing is left out. */
export interface ParsedDocument {
  readonly root: Node;
  /** Where its first key stands, which can be told without its tree. */
  readonly start: number;
  /** Whether something in it was refused already, so that its values can't be trusted. */
  readonly broken: boolean;
  /** Gives the memory of its tree back, where that can be had again. */
  forget?(): void;
}

export interface ParsedFile {
  readonly documents: readonly ParsedDocument[];
  readonly problems: readonly Problem[];
}
