import { lstatSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathExists } from '../base/paths.js';
import { error, type Place, type Problem } from '../base/problems.js';
import { isMap, type Json } from '../base/values.js';
import { Access } from '../manifests/access.js';
import type { LoadedManifests, ManifestSource } from '../manifests/load.js';
import type { Project } from '../project/index.js';
import { shownPath } from '../yaml/source-file.js';
import { firstFreePath, isFileText } from './layout.js';
import type { BodyEdit } from './update.js';
import type { PulledFile } from './write.js';

/** The body files of a project: how many fields name each one, and their new texts. */
export class BodyFiles {
  readonly #project: Project;
  readonly #manifests: LoadedManifests;
  readonly #access: Access;
  /** The number of fields that name each file. */
  readonly #referenceCounts = new Map<string, number>();
  readonly #unwritable = new Map<string, string>();
  readonly #edits = new Map<string, { text: string; before: string; place: Place }[]>();
  readonly #newFiles = new Map<string, string>();

  constructor(project: Project, manifests: LoadedManifests, tokenFile: string | undefined) {
    this.#project = project;
    this.#manifests = manifests;
    this.#access = new Access(project, tokenFile);
  }

  /** Finds the files that manifests name, and those of them that can't be written. */
  async findReferences(): Promise<void> {
    const manifests = new Set(this.#manifests.sources.map(({ target }) => target));
    for (const { path: manifest, documents } of this.#manifests.sources) {
      for (const path of documents.flatMap(({ written }) => bodyPaths(written()))) {
        const file = resolve(dirname(manifest), path);
        this.#referenceCounts.set(file, (this.#referenceCounts.get(file) ?? 0) + 1);
      }
    }
    for (const file of this.#referenceCounts.keys()) {
      const found = await this.#access.find(file);
      if (!('target' in found)) this.#unwritable.set(file, found.detail);
      else if (found.target !== file) this.#unwritable.set(file, 'is a link; idops writes through no link');
      else if (manifests.has(file)) this.#unwritable.set(file, 'is a manifest too');
    }
  }

  /** Why a text can't be written to a file that a document names; undefined if it can be. */
  whyNotWritable(source: ManifestSource, path: string, text: string): string | undefined {
    const file = resolve(dirname(source.path), path);
    const shown = shownPath(file, this.#project.cwd);
    const found = this.#unwritable.get(file);
    if (found !== undefined) return `the body file ${shown} ${found}`;
    return isFileText(text) ? undefined : `the server's text can't be stored in ${shown} as UTF-8`;
  }

  addEdit(source: ManifestSource, { path, text, before, place }: BodyEdit): void {
    const file = resolve(dirname(source.path), path);
    this.#edits.set(file, [...(this.#edits.get(file) ?? []), { text, before, place }]);
  }

  hasEdit(source: ManifestSource, path: string): boolean {
    return this.#edits.has(resolve(dirname(source.path), path));
  }

  /** Problems of files that several fields name with different texts; these files stay unchanged. */
  conflicts(): Problem[] {
    return [...this.#edits].flatMap(([file, edits]) => {
      const texts = new Set(edits.map(({ text }) => text));
      const referenceCount = this.#referenceCounts.get(file) ?? 0;
      if (texts.size === 1 && edits.length >= referenceCount) return [];
      this.#edits.delete(file);
      const message = `several fields name the body file ${shownPath(file, this.#project.cwd)}, and the server has different texts for them`;
      const places = edits.map(({ place }) => place);
      return [error('not-pulled', message, places, 'give each place a file of its own')];
    });
  }

  /** Adds a new body file; returns its path, with a number if the path is taken. */
  addNew(path: string, text: string): string {
    const { root } = this.#project;
    const freePath = firstFreePath(path, (one) => {
      const file = join(root, one);
      return (
        this.#newFiles.has(file) || this.#edits.has(file) || (pathExists(file) && !this.#hasText(file, text))
      );
    });
    this.#newFiles.set(join(root, freePath), text);
    return freePath;
  }

  /** Problems of files that must not be written, such as a state or a file outside the project. */
  async refusals(files: readonly PulledFile[]): Promise<Problem[]> {
    const filesToWrite = files.filter(({ action }) => action !== 'unchanged');
    const checked = await Promise.all(
      filesToWrite.map(async ({ path }) => ({ path, found: await this.#access.find(path) })),
    );
    return checked.flatMap(({ path, found }) => {
      if ('target' in found || (found.reason !== 'private' && found.reason !== 'outside')) return [];
      const message = `${shownPath(path, this.#project.cwd)} is not written: it ${found.detail}`;
      const hint = 'change "manifests" or the other path in the configuration';
      return [error('output-is-input', message, [], hint)];
    });
  }

  files(): PulledFile[] {
    const newFiles = [...this.#newFiles].map(([path, text]): PulledFile => {
      const isSame = pathExists(path);
      return { path, text, action: isSame ? 'unchanged' : 'write', before: isSame ? text : undefined };
    });
    const updated = [...this.#edits].map(([path, edits]): PulledFile => {
      const { text = '', before = '' } = edits[0] ?? {};
      return { path, text, action: 'update', before };
    });
    return [...newFiles, ...updated];
  }

  #hasText(file: string, text: string): boolean {
    const stats = lstatSync(file, { throwIfNoEntry: false });
    return (
      stats?.isFile() === true &&
      statSync(file).size === Buffer.byteLength(text) &&
      readFileSync(file, 'utf8') === text
    );
  }
}

function bodyPaths(written: Json): string[] {
  if (Array.isArray(written)) return written.flatMap(bodyPaths);
  if (!isMap(written)) return [];
  const { file, ...rest } = written as { [key: string]: Json };
  if (typeof file === 'string' && Object.keys(rest).length === 0) return [file];
  return Object.values(written).flatMap((member) => bodyPaths(member as Json));
}
