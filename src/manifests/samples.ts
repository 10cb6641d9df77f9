import { basename, dirname, join, resolve as resolvePath } from 'node:path';
import { plainNumber } from '../base/json.js';
import { error, type Problem } from '../base/problems.js';
import { ExactNumber, isMap, type Json, mapValues } from '../base/values.js';
import type { NamedSample } from '../mail/samples.js';
import type { Project } from '../project/project.js';
import { parseYaml } from '../yaml/parse.js';
import { resolve } from '../yaml/resolve.js';
import { fileName, sourceOf } from '../yaml/source-file.js';
import { typeOf } from '../yaml/types.js';
import { Access } from './access.js';
import { unreadableProblem } from './find-manifests.js';
import { isInside } from './symlinks.js';

/** A template; `manifest` is relative to the current folder. */
export interface SampledTemplate {
  readonly address: string;
  readonly type: string;
  readonly manifest: string;
}

export interface Samples {
  /** By the templates' addresses. */
  readonly found: ReadonlyMap<string, readonly NamedSample[]>;
  readonly problems: readonly Problem[];
}

/** The name of the folders with samples, which are next to manifests. */
export const samplesFolder = 'samples';

/** Whether a file is sample data of some type, in any letter case, since some file systems ignore it. */
export function isSampleFile(path: string): boolean {
  return basename(dirname(path)).toLowerCase() === samplesFolder && /\.yaml$/i.test(path);
}

/**
 * Reads the sample data of email templates: `samples/<type>.yaml` in the folder of the manifest or the nearest folder above it in
 * the project; each document is a sample. Templates without such a file are missing in the result.
 */
export async function loadSamples(project: Project, templates: readonly SampledTemplate[]): Promise<Samples> {
  const read = new Map<string, Promise<readonly NamedSample[] | Problem | undefined>>();
  const access = new Access(project);
  const once = (path: string) => {
    const known = read.get(path) ?? readSample(project, access, path);
    read.set(path, known);
    return known;
  };
  const found = new Map<string, readonly NamedSample[]>();
  const problems = new Set<Problem>();
  for (const { address, type, manifest } of templates) {
    // Any other type could lead out of the folder.
    if (!/^[\w@+-][\w.@+-]*$/.test(type)) continue;
    for (const folder of foldersAbove(resolvePath(project.cwd, manifest), project.root)) {
      const sample = await once(join(folder, samplesFolder, `${type}.yaml`));
      if (sample === undefined) continue;
      if ('code' in sample) problems.add(sample);
      else found.set(address, sample);
      break;
    }
  }
  return { found, problems: [...problems] };
}

function foldersAbove(manifest: string, root: string): string[] {
  const folders: string[] = [];
  for (let folder = dirname(manifest); isInside(folder, root); folder = dirname(folder)) folders.push(folder);
  return [...folders, root];
}

async function readSample(
  project: Project,
  access: Access,
  path: string,
): Promise<readonly NamedSample[] | Problem | undefined> {
  const read = await access.read(path);
  const name = fileName(path, project);
  const { file: shown } = name;
  if (!('text' in read)) return read.reason === 'missing' ? undefined : unreadableProblem(name, read);
  const source = sourceOf(name, read.text);
  const { documents, problems } = parseYaml(source);
  const [problem] = problems.filter(({ severity }) => severity === 'error');
  if (problem !== undefined) return problem;
  if (documents.length === 0) return [{ name: shown, data: {}, file: shown }];
  const samples: NamedSample[] = [];
  for (const [index, document] of documents.entries()) {
    const { value } = resolve(document.root, source, null);
    if (!isMap(value)) {
      return error(
        'wrong-type',
        `sample data must be one map, got ${typeOf(document.root)}`,
        [source.place(document.root.range)],
        'write "placeholder: value" for each placeholder',
      );
    }
    samples.push({
      name: documents.length === 1 ? shown : `document ${index + 1}`,
      data: mapValues(value as NamedSample['data'], printable),
      file: shown,
    });
  }
  return samples;
}

/** Converts exact numbers to texts for printing, except 0.0, which must be false like 0. */
function printable(value: Json): Json {
  if (value instanceof ExactNumber) return plainNumber(value.text) === 0 ? 0 : value.text;
  if (Array.isArray(value)) return value.map(printable);
  return isMap(value) ? mapValues(value as { [key: string]: Json }, printable) : value;
}
