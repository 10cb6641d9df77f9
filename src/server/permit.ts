/** The right to change the server, which may be lost at any time. */
export interface Permit {
  /** Makes sure of it. Throws if it is lost, or if nobody can tell. */
  confirm(): Promise<void>;
  /** Whether it still holds, as far as that can be told without asking. */
  holds(): boolean;
}
