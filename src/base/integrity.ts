import { createHash } from 'node:crypto';

/** What a content security policy allows one inline script by: a hash of all of its text. */
export function integrityOf(script: string): string {
  return `sha256-${createHash('sha256').update(script).digest('base64')}`;
}
