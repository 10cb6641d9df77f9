import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { NewFile } from '../../pull/layout.js';
import type { CiName } from './choices.js';

/** Where the workflows of each CI are kept. */
const workflowFolders = { github: '.github/workflows/idops-', gitlab: '' } as const;

/** The workflows of the examples, as they are. */
export async function workflowsOf(ci: CiName): Promise<NewFile[]> {
  if (ci === 'none') return [];
  const folder = join(examplesFolder(), ci);
  const names = (await readdir(folder)).filter((name) => name.endsWith('.yml')).sort();
  return await Promise.all(
    names.map(async (name) => ({
      path: `${workflowFolders[ci]}${name}`,
      text: await readFile(join(folder, name), 'utf8'),
    })),
  );
}

/** The manifests of the examples in one text, commented out: a file that declares nothing. */
export async function commentedManifests(): Promise<string> {
  const folder = join(examplesFolder(), 'manifests');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.yaml')).sort();
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  const lines = texts
    // The line names a file of this package, which a new project doesn't have.
    .map((text) => text.replace(/^# yaml-language-server: .*\n/, '').trimEnd())
    .join('\n---\n')
    .split('\n');
  return `${lines.map((line) => `# ${line}`.trimEnd()).join('\n')}\n`;
}

/** The examples of the package: what is shown there is what is written. */
function examplesFolder(): string {
  // A bundle lies a folder above the module that it was made from.
  const folders = ['../../examples/', '../../../examples/'].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  );
  const folder = folders.find((one) => existsSync(join(one, 'idops.yaml')));
  if (folder === undefined) throw new Error('the examples are not in the package');
  return resolve(folder);
}
