import { existsSync, readFileSync } from 'node:fs';

/** The version of idops, as its package says. */
export const version: string = ownPackage().version;

/** The versions of Node.js that it runs on, as its package says. */
export const neededNode: string = ownPackage().engines.node;

function ownPackage(): { readonly version: string; readonly engines: { readonly node: string } } {
  // The action is a bundle that lies a folder higher.
  const files = ['../package.json', '../../package.json'].map((path) => new URL(path, import.meta.url));
  const file = files.find((one) => existsSync(one));
  return file === undefined
    ? { version: 'unknown', engines: { node: '' } }
    : JSON.parse(readFileSync(file, 'utf8'));
}
