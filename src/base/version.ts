import { existsSync, readFileSync } from 'node:fs';

/** The version of idops, as its package says. */
export const version: string = readVersion();

function readVersion(): string {
  // The action is a bundle that lies a folder higher.
  const files = ['../package.json', '../../package.json'].map((path) => new URL(path, import.meta.url));
  const file = files.find((one) => existsSync(one));
  return file === undefined
    ? 'unknown'
    : (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
