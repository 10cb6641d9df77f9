import { dirname, resolve } from 'node:path';
import pLimit from 'p-limit';
import type { Span } from '../base/problems.js';
import { error, type Place, type Problem } from '../base/problems.js';
import { shown as written } from '../mail/limits.js';
import type { Project } from '../project/project.js';
import {
  type FileName,
  fileName,
  type SourceFile,
  shownPath,
  sourceOf,
  type Unreadable,
  wholeFile,
} from '../yaml/source-file.js';
import { type Access, type Refused, readsAtOnce } from './access.js';

/** A `{file: PATH}` of a manifest. */
export interface BodyRequest {
  readonly manifest: string;
  readonly path: string;
  /** Whether the path comes from a process variable, so that it isn't shown. */
  readonly tainted: boolean;
  readonly place: Place;
}

/** The exact text of a body file, with the places of its parts. */
export interface Body {
  readonly text: string;
  /** Without a part, the file as a whole. */
  place(part: Span | undefined): Place;
}

type Content =
  | Body
  | Refused
  | Unreadable
  | { readonly reason: 'too-many' }
  | { readonly reason: 'nul'; readonly place: Place };

/** Reads each body file once. */
export class Bodies {
  readonly #project: Project;
  readonly #access: Access;
  /** The real paths of those that were read. */
  readonly files = new Set<string>();
  readonly #limit = pLimit(readsAtOnce);
  readonly #contents = new Map<string, Promise<Content>>();
  readonly #most: number;
  #characters = 0;

  constructor(project: Project, access: Access) {
    this.#project = project;
    this.#access = access;
    this.#most = project.bodyCharacters();
  }

  /** The content of a file, or what is wrong with it. */
  async read(request: BodyRequest): Promise<Body | Problem> {
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
    const read = await this.#access.read(path);
    if (!('target' in read)) return read;
    this.files.add(read.target);
    const body = bodyOf(read.text, fileName(path, this.#project));
    const nul = read.text.indexOf('\0');
    if (nul >= 0) {
      // Without the line, which may be a secret.
      const { text: _, ...place } = body.place({ start: nul, end: nul + 1 });
      return { reason: 'nul', place };
    }
    this.#characters += read.text.length;
    if (this.#characters > this.#most) return { reason: 'too-many' };
    return body;
  }

  #problem(request: BodyRequest, path: string, found: Exclude<Content, Body>): Problem {
    const shown = request.tainted ? 'the body file' : `the body file ${shownPath(path, this.#project.cwd)}`;
    const places = [request.place];
    switch (found.reason) {
      case 'outside':
        return error(
          'body-outside',
          `${request.tainted ? 'the body file' : `the body file "${request.path}"`} is outside the project`,
          places,
          'a body file must be in the folder of the configuration, after links are resolved',
        );
      case 'private':
        return error(
          'body-private',
          `${shown} ${found.detail}, which no body may be`,
          places,
          'keep bodies in files of their own, such as emails/reset_password.html',
        );
      case 'too-many':
        return error(
          'too-large',
          `the body files of this project have more than ${written(this.#most)} characters together`,
          places,
          'raise limits.body_characters in the configuration, split the project, or take pictures out of the bodies and link to them',
        );
      case 'nul':
        return error(
          'body-nul',
          `${shown} has a NUL character, which no server can keep`,
          request.tainted ? places : [found.place, ...places],
          'save it as UTF-8 text',
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

function bodyOf(text: string, name: FileName): Body {
  let source: SourceFile | undefined;
  return {
    text,
    place(part) {
      if (part === undefined) return wholeFile(name);
      source ??= sourceOf(name, text, false);
      // Columns don't count a byte order mark.
      const mark = text.length - source.text.length;
      return source.place({ start: Math.max(0, part.start - mark), end: Math.max(0, part.end - mark) });
    },
  };
}
