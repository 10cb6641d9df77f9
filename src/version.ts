import { readFileSync } from 'node:fs';

/** The version of idops, as its package says. */
export const version: string = readVersion();

function readVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  const { version } = JSON.parse(text) as { version: string };
  return version;
}
