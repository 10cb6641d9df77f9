import type { Problem } from '../base/problems.js';
import type { Declared } from '../kinds/kind.js';
import type { Profile } from '../server/profiles.js';
import type { SourceFile } from '../yaml/file.js';
import type { Variables } from '../yaml/variables.js';
import type { Bodies } from './bodies.js';

/** What reading a document takes. */
export interface Reading {
  readonly file: SourceFile;
  /** The manifest's absolute path, which body files are relative to. */
  readonly path: string;
  readonly variables: Variables;
  readonly profile: Profile;
  readonly bodies: Bodies;
  /** Gets every value of a secret field. */
  readonly onSecret: (secret: string) => void;
}

export interface ReadDocument {
  /** Undefined where something is wrong with the document. */
  readonly declared: Declared | undefined;
  readonly problems: readonly Problem[];
}
