import { realpath } from 'node:fs/promises';
import { dirname, relative, resolve, sep } from 'node:path';
import pLimit from 'p-limit';
import { limits, shown as written } from '../mail/limits.js';
import { error, type Place, type Problem, ProblemsError } from '../problems.js';
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

type Content =
  | { readonly text: string }
  | Unreadable
  | { readonly reason: 'outside' | 'private' | 'too-many' };

const READS_AT_ONCE = 16;

/** Reads body files, some at once and each once, and keeps every byte of them. */
export class Bodies {
  readonly #project: Project;
  readonly #limit = pLimit(READS_AT_ONCE);
  readonly #contents = new Map<string, Promise<Content>>();
  #characters = 0;

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
    if (this.#isPrivate(path) || this.#isPrivate(target)) return { reason: 'private' };
    const bytes = await readBytes(target);
    const text = bytes instanceof Uint8Array ? decode(bytes) : bytes;
    if (typeof text !== 'string') return text;
    this.#characters += text.length;
    return this.#characters > limits.allBodiesCharacters ? { reason: 'too-many' } : { text };
  }

  /**
   * A checkout keeps credentials in hidden files, and the state and the configuration are no bodies: a manifest
   * from a stranger must not get any of them into a plan.
   */
  #isPrivate(path: string): boolean {
    const { root, cwd, file } = this.#project;
    const hidden = relative(root, path)
      .split(sep)
      .some((step) => step.startsWith('.'));
    return hidden || path === resolve(cwd, file) || path.startsWith(this.#statePath());
  }

  #statePath(): string {
    try {
      return this.#project.statePath();
    } catch (failure) {
      // A path that can't be resolved here is told where it is needed; meanwhile nothing begins with it.
      if (failure instanceof ProblemsError) return '\0';
      throw failure;
    }
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
      case 'private':
        return error(
          'body-private',
          `${shown} is a hidden file, the configuration or the state, which no body may be`,
          places,
          'keep bodies in files of their own, such as emails/reset_password.html',
        );
      case 'too-many':
        return error(
          'too-large',
          `the body files of this project have more than ${written(limits.allBodiesCharacters)} characters together`,
          places,
          'split the project, or take pictures out of the bodies and link to them',
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
