import { existsSync, readFileSync } from 'node:fs';

/** The version in package.json. */
export const version: string = ownPackage().version;

function ownPackage(): { readonly version: string } {
  // The bundle of the action is one folder higher.
  const files = ['../package.json', '../../package.json'].map((path) => new URL(path, import.meta.url));
  const file = files.find((one) => existsSync(one));
  return file === undefined ? { version: 'unknown' } : JSON.parse(readFileSync(file, 'utf8'));
}
