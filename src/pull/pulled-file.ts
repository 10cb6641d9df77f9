/** A file that a pull writes, or that says all that is so already. */
export interface PulledFile {
  /** Absolute. */
  readonly path: string;
  /** What becomes of it when the pull is written. */
  readonly action: 'write' | 'update' | 'unchanged';
  /** What is in it then. */
  readonly text: string;
  /** What was there when the text was made; undefined where there was nothing. */
  readonly before: string | undefined;
}
