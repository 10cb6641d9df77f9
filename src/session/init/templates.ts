import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { isMap } from '../../base/values.js';
import type { NewFile } from '../../pull/layout.js';
import { escapeVariables } from '../../pull/literal.js';
import type { CiName } from './choices.js';

/** Where the workflows of each CI are kept. */
const workflowFolders = { github: '.github/workflows/idops-', gitlab: '' } as const;

/** In the place of another workflow, for who needs it: beside it, it would apply the same a second time. */
const alternatives: readonly string[] = ['shards.yml'];

/** The workflows of the examples that a project begins with, as they are. */
export async function workflowsOf(ci: CiName): Promise<NewFile[]> {
  if (ci === 'none') return [];
  const folder = join(examplesFolder(), ci);
  const names = (await readdir(folder))
    .filter((name) => name.endsWith('.yml') && !alternatives.includes(name))
    .sort();
  return await Promise.all(
    names.map(async (name) => ({
      path: `${workflowFolders[ci]}${name}`,
      text: await readFile(join(folder, name), 'utf8'),
    })),
  );
}

/**
 * The manifests of the examples in one text, commented out: a file that declares nothing. Without the signs it stands by itself:
 * bodies are in it, variables have their values, and nothing is deleted.
 */
export async function commentedManifests(): Promise<string> {
  const folder = join(examplesFolder(), 'manifests');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.yaml')).sort();
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  const values = await exampleValues();
  const documents = texts
    // The line names a file of this package, which a new project doesn't have.
    .flatMap((text) => text.replace(/^# yaml-language-server: .*\n/, '').split(/^---\n/m))
    .filter((text) => !/^state: absent$/m.test(text))
    .map((text) => text.trimEnd().replaceAll(/\$\{(\w+)\}/g, (written, name) => values.get(name) ?? written));
  const whole = await Promise.all(documents.map((text) => withBodies(text, folder)));
  const lines = whole.join('\n---\n').split('\n');
  return `${lines.map((line) => `# ${line}`.trimEnd()).join('\n')}\n`;
}

/** The variables of the examples. */
async function exampleValues(): Promise<Map<string, string>> {
  const config: unknown = parse(await readFile(join(examplesFolder(), 'idops.yaml'), 'utf8'));
  const vars = isMap(config) && isMap(config.vars) ? config.vars : {};
  return new Map(Object.entries(vars).map(([name, value]) => [name, String(value)]));
}

/** A document with the texts of the files that it names. */
async function withBodies(text: string, folder: string): Promise<string> {
  const lines = text.split('\n').map(async (line) => {
    const [, field, path] = /^(\w+): \{ file: (\S+) \}$/.exec(line) ?? [];
    if (field === undefined || path === undefined) return line;
    const body = escapeVariables((await readFile(join(folder, path), 'utf8')).trimEnd());
    return `${field}: |\n${body.replaceAll(/^(?=.)/gm, '  ')}`;
  });
  return (await Promise.all(lines)).join('\n');
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
