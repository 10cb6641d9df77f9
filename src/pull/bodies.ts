import { lstatSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathExists } from '../base/paths.js';
import { error, type Place, type Problem } from '../base/problems.js';
import { isMap, type Json } from '../base/values.js';
import { Access } from '../manifests/access.js';
import type { LoadedManifests, ManifestSource } from '../manifests/load.js';
import type { Project } from '../project/index.js';
import { shownPath } from '../yaml/source-file.js';
import { firstFree, isFileText } from './layout.js';
import type { BodyEdit } from './update.js';
import type { PulledFile } from './write.js';

/** Body files: who names them, and their new texts. */
export class BodyFiles {
  readonly #project: Project;
  readonly #manifests: LoadedManifests;
  readonly #access: Access;
  /** How many fields name each file. */
  readonly #users = new Map<string, number>();
  readonly #troubles = new Map<string, string>();
  readonly #wanted = new Map<string, { text: string; before: string; place: Place }[]>();
  readonly #made = new Map<string, string>();

  constructor(project: Project, manifests: LoadedManifests, tokenFile: string | undefined) {
    this.#project = project;
    this.#manifests = manifests;
    this.#access = new Access(project, tokenFile);
  }

  /** Finds out which files are named, and which of them can't be written. */
  async look(): Promise<void> {
    const manifests = new Set(this.#manifests.sources.map(({ target }) => target));
    for (const { path: manifest, documents } of this.#manifests.sources) {
      for (const path of documents.flatMap(({ written }) => filesNamed(written()))) {
        const file = resolve(dirname(manifest), path);
        this.#users.set(file, (this.#users.get(file) ?? 0) + 1);
      }
    }
    for (const file of this.#users.keys()) {
      const found = await this.#access.find(file);
      if (!('target' in found)) this.#troubles.set(file, found.detail);
      else if (found.target !== file) this.#troubles.set(file, 'is a link; idops writes through no link');
      else if (manifests.has(file)) this.#troubles.set(file, 'is a manifest too');
    }
  }

  /** Why a text can't be written to a file that a document names; undefined if it can. */
  trouble(source: ManifestSource, path: string, text: string): string | undefined {
    const file = resolve(dirname(source.path), path);
    const shown = shownPath(file, this.#project.cwd);
    const found = this.#troubles.get(file);
    if (found !== undefined) return `the body file ${shown} ${found}`;
    return isFileText(text) ? undefined : `the server has a text that ${shown} can't hold as a file of UTF-8`;
  }

  want(source: ManifestSource, { path, text, before, place }: BodyEdit): void {
    const file = resolve(dirname(source.path), path);
    this.#wanted.set(file, [...(this.#wanted.get(file) ?? []), { text, before, place }]);
  }

  isWanted(source: ManifestSource, path: string): boolean {
    return this.#wanted.has(resolve(dirname(source.path), path));
  }

  /** Files that several fields name and that would need different texts: they stay unchanged. */
  conflicts(): Problem[] {
    return [...this.#wanted].flatMap(([file, wanted]) => {
      const texts = new Set(wanted.map(({ text }) => text));
      const users = this.#users.get(file) ?? 0;
      if (texts.size === 1 && wanted.length >= users) return [];
      this.#wanted.delete(file);
      const message = `the body file ${shownPath(file, this.#project.cwd)} is named in several places that need different texts`;
      const places = wanted.map(({ place }) => place);
      return [error('not-pulled', message, places, 'give each place a file of its own')];
    });
  }

  /** A free path for a new body. */
  place(path: string, text: string): string {
    const { root } = this.#project;
    const free = firstFree(path, (one) => {
      const file = join(root, one);
      return (
        this.#made.has(file) || this.#wanted.has(file) || (pathExists(file) && !this.#hasAlready(file, text))
      );
    });
    this.#made.set(join(root, free), text);
    return free;
  }

  /** Files that must not be written, such as a state or one outside the project. */
  async guarded(files: readonly PulledFile[]): Promise<Problem[]> {
    const wanted = files.filter(({ action }) => action !== 'unchanged');
    const looked = await Promise.all(
      wanted.map(async ({ path }) => ({ path, found: await this.#access.find(path) })),
    );
    return looked.flatMap(({ path, found }) => {
      if ('target' in found || (found.reason !== 'private' && found.reason !== 'outside')) return [];
      const message = `${shownPath(path, this.#project.cwd)} is not written: it ${found.detail}`;
      const hint = 'change "manifests" or the other path in the configuration';
      return [error('output-is-input', message, [], hint)];
    });
  }

  files(): PulledFile[] {
    const made = [...this.#made].map(([path, text]): PulledFile => {
      const isSame = pathExists(path);
      return { path, text, action: isSame ? 'unchanged' : 'write', before: isSame ? text : undefined };
    });
    const updated = [...this.#wanted].map(([path, wanted]): PulledFile => {
      const { text = '', before = '' } = wanted[0] ?? {};
      return { path, text, action: 'update', before };
    });
    return [...made, ...updated];
  }

  #hasAlready(file: string, text: string): boolean {
    const there = lstatSync(file, { throwIfNoEntry: false });
    return (
      there?.isFile() === true &&
      statSync(file).size === Buffer.byteLength(text) &&
      readFileSync(file, 'utf8') === text
    );
  }
}

function filesNamed(written: Json): string[] {
  if (Array.isArray(written)) return written.flatMap(filesNamed);
  if (!isMap(written)) return [];
  const { file, ...rest } = written as { [key: string]: Json };
  if (typeof file === 'string' && Object.keys(rest).length === 0) return [file];
  return Object.values(written).flatMap((member) => filesNamed(member as Json));
}
