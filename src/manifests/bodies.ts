import { dirname, resolve } from 'node:path';
import pLimit from 'p-limit';
import { error, type Place, type Problem, type ProblemCode, type Span } from '../base/problems.js';
import { formatNumber as written } from '../mail/limits.js';
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
import { type Access, maxConcurrentReads, type Refused } from './access.js';

/** A `{file: PATH}` of a manifest. */
export interface BodyRequest {
  readonly manifest: string;
  readonly path: string;
  /** Whether the path comes from a process variable, so it must not be shown. */
  readonly tainted: boolean;
  readonly place: Place;
}

/** The exact text of a body file, with the places of its parts. */
export interface Body {
  readonly text: string;
  /** The place of a part, or of the whole file without a part. */
  place(part: Span | undefined): Place;
}

type Content =
  | Body
  | Refused
  | Unreadable
  | { readonly reason: 'too-many' }
  | { readonly reason: 'nul'; readonly detail: string; readonly place: Place };

/** Reads each body file once. */
export class BodyReader {
  readonly #project: Project;
  readonly #access: Access;
  /** The real paths of the files that were read. */
  readonly files = new Set<string>();
  readonly #limit = pLimit(maxConcurrentReads);
  readonly #contents = new Map<string, Promise<Content>>();
  readonly #maxCharacters: number;
  #characters = 0;

  constructor(project: Project, access: Access) {
    this.#project = project;
    this.#access = access;
    this.#maxCharacters = project.bodyCharacters();
  }

  /** The content of a file, or why it can't be a body. */
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
      return { reason: 'nul', detail: 'has a NUL character, which no server can keep', place };
    }
    this.#characters += read.text.length;
    if (this.#characters > this.#maxCharacters) return { reason: 'too-many' };
    return body;
  }

  #problem(request: BodyRequest, path: string, found: Exclude<Content, Body>): Problem {
    const { tainted, place } = request;
    const [code, hint] = refusals[found.reason];
    if (found.reason === 'too-many') {
      const most = written(this.#maxCharacters);
      const message = `the body files of this project have more than ${most} characters in total`;
      return error(code, message, [place], hint);
    }
    const name = found.reason === 'outside' ? `"${request.path}"` : shownPath(path, this.#project.cwd);
    const why = found.reason === 'private' ? `${found.detail}, which can't be a body` : found.detail;
    const places = found.reason === 'nul' && !tainted ? [found.place, place] : [place];
    return error(code, `the body file${tainted ? '' : ` ${name}`} ${why}`, places, hint);
  }
}

/** The problem code and the hint of each reason. */
const refusals: {
  readonly [reason in Exclude<Content, Body>['reason']]: readonly [code: ProblemCode, hint?: string];
} = {
  outside: [
    'body-outside',
    'a body file must be in the folder of the configuration, after links are resolved',
  ],
  private: ['body-private', 'keep bodies in files of their own, such as emails/reset_password.html'],
  'too-many': [
    'too-large',
    'raise limits.body_characters in the configuration, split the project, or take pictures out of the bodies and link to them',
  ],
  nul: ['body-nul', 'save it as UTF-8 text'],
  missing: ['body-missing', 'the path is relative to the manifest'],
  'too-large': ['too-large'],
  'not-utf8': ['body-not-utf8', 'save it as UTF-8'],
  unreadable: ['body-unreadable'],
};

function bodyOf(text: string, name: FileName): Body {
  let source: SourceFile | undefined;
  return {
    text,
    place(part) {
      if (part === undefined) return wholeFile(name);
      source ??= sourceOf(name, text, false);
      // Columns don't include a byte order mark.
      const mark = text.length - source.text.length;
      return source.place({ start: Math.max(0, part.start - mark), end: Math.max(0, part.end - mark) });
    },
  };
}
