import type { Share } from '../plan/plan.js';
import type { Forge } from './forge.js';

/** How something is to look. */
export interface Look {
  /** With the escape sequences of a terminal's colours. */
  readonly color: boolean;
  /** Unchanged objects and requests too, and long values whole. */
  readonly debug: boolean;
  /** Where idops was started, from the root of the repository that annotations are for; empty where it was there. */
  readonly folder: string;
  /** Whether a plan was made before, and says when. */
  readonly stored?: boolean;
  /** Which changes of a plan are shown; all where it isn't given. */
  readonly only?: Share;
  /** How many characters Markdown may have at most; as many as a comment takes where it isn't given. */
  readonly budget?: number;
  /** Where Markdown leads to files; nowhere where it isn't given. */
  readonly forge?: Forge;
  /** What a heading in Markdown says; its own words where it isn't given. */
  readonly title?: string;
  /** What is said below the heading of a plan or of a result in Markdown. */
  readonly intro?: string;
}
