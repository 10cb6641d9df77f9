import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { readRegular } from '../../base/regular.js';
import type { StateName } from '../backend.js';
import { nameOf } from '../state-text.js';

/** The other states in the folder of one: all have their journals in one place. What is no state is passed over. */
export async function statesBeside(statePath: string): Promise<StateName[]> {
  const folder = dirname(statePath);
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const names = entries.filter((entry) => !entry.isDirectory() && entry.name !== basename(statePath));
  const states = await Promise.all(names.map(({ name }) => stateName(join(folder, name))));
  return states.filter((state) => state !== undefined);
}

/** What the state at a path is told by; undefined where there is none that can be read. */
export async function stateName(path: string): Promise<StateName | undefined> {
  const text = await readRegular(path).catch(() => undefined);
  return text === undefined ? undefined : nameOf(text);
}
