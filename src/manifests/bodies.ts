import { realpath } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import pLimit from 'p-limit';
import { error, type Place, type Problem } from '../problems.js';
import type { Project } from '../project/project.js';
import { decode, readBytes, shownPath, type Unreadable, unreadable } from '../source/file.js';
import { isInside } from './files.js';

/** A `{file: PATH}` of a manifest. */
export interface BodyRequest {
  readonly manifest: string;
  readonly path: string;
  /** The path came from a process variable and isn't shown. */
  readonly tainted: boolean;
  readonly place: Place;
}

type Content = { readonly text: string } | Unreadable | { readonly reason: 'outside' };

const READS_AT_ONCE = 16;

/** Reads body files, some at once and each once, and keeps every byte of them. */
export class Bodies {
  readonly #project: Project;
  readonly #limit = pLimit(READS_AT_ONCE);
  readonly #contents = new Map<string, Promise<Content>>();

  constructor(project: Project) {
    this.#project = project;
  }

  /** The content of a file, or what is wrong with it. */
  async read(request: BodyRequest): Promise<{ readonly text: string } | Problem> {
    const path = resolve(dirname(request.manifest), request.path);
    let content = this.#contents.get(path);
    if (content === undefined) {
      content = this.#limit(() => this.#load(path));
      this.#contents.set(path, content);
    }
    const loaded = await content;
    return 'text' in loaded ? loaded : this.#problem(request, path, loaded);
  }

  async #load(path: string): Promise<Content> {
    const { root } = this.#project;
    // Before looking, so that a message can't tell what exists outside.
    if (!isInside(path, root)) return { reason: 'outside' };
    let target: string;
    try {
      target = await realpath(path);
    } catch (failure) {
      return unreadable(failure);
    }
    if (!isInside(target, root)) return { reason: 'outside' };
    const bytes = await readBytes(target);
    const text = bytes instanceof Uint8Array ? decode(bytes) : bytes;
    return typeof text === 'string' ? { text } : text;
  }

  #problem(request: BodyRequest, path: string, found: Exclude<Content, { text: string }>): Problem {
    const shown = request.tainted ? 'the body file' : `the body file ${shownPath(path, this.#project.cwd)}`;
    const places = [request.place];
    switch (found.reason) {
      case 'outside':
        return error(
          'body-outside',
          `${request.tainted ? 'the body file' : `the body file "${request.path}"`} lies outside the project`,
          places,
          'a body file must lie in the folder of the configuration, after following links',
        );
      case 'missing':
        return error(
          'body-missing',
          `${shown} ${found.detail}`,
          places,
          'the path is relative to the manifest',
        );
      case 'too-large':
        return error('too-large', `${shown} ${found.detail}`, places);
      case 'not-utf8':
        return error('body-not-utf8', `${shown} ${found.detail}`, places, 'save it as UTF-8');
      default:
        return error('body-unreadable', `${shown} ${found.detail}`, places);
    }
  }
}
