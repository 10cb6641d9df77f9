import type { ProfileName } from '../../server/profiles.js';

/** Whose workflows are written. */
export const ciNames = ['github', 'gitlab', 'none'] as const;

export type CiName = (typeof ciNames)[number];

/** Where a token comes from: a process variable, or a file. The token itself is never asked for. */
export type TokenSource =
  | { readonly variable: string }
  /** Absolute. */
  | { readonly file: string };

/** What a new configuration says. */
export interface Choices {
  /** An http or https address; null where `IDOPS_BASE_URL` is to say it. */
  readonly baseUrl: string | null;
  readonly profile: ProfileName;
  /** Why this one: how the server answered, what somebody said, or nothing, where nobody could find out. */
  readonly because: 'found' | 'said' | 'unknown';
  readonly token: TokenSource;
  readonly ci: CiName;
}
