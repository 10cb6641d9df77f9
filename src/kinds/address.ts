import { kindOf } from './index.js';
import type { Identity, KindName } from './kind.js';

/** What an object is called everywhere: `KIND/ID`, and for a template its type after its backend's id. */
export function addressOf(kind: KindName, identity: Identity): string {
  return `${kind}/${kindOf(kind).addressPart(identity)}`;
}
