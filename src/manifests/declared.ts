import type { Place, Span } from '../base/problems.js';
import type { Fields } from '../base/values.js';
import type { Places } from '../kinds/declared.js';
import { pathKey } from '../yaml/resolve.js';
import type { SourceFile } from '../yaml/source-file.js';
import { find, type Node, startOf } from '../yaml/tree.js';
import type { Body } from './bodies.js';

/** The source of a declared object. */
interface Written {
  readonly root: Node;
  readonly file: SourceFile;
  /** The bodies by the path of their field. */
  readonly bodies: ReadonlyMap<string, Body> | undefined;
  readonly fields: Fields;
}

/** The places of a document. */
export class WrittenPlaces implements Places {
  readonly #written: Written;

  constructor(written: Written) {
    this.#written = written;
  }

  get line(): Places['line'] {
    const { file, root } = this.#written;
    return file.lineAt(startOf(root).start);
  }

  /** The place of a field's key or a list's element, or of what is around it if it isn't written. */
  of(...path: readonly (string | number)[]): Place {
    const { file, root } = this.#written;
    const { node, key } = find(root, path);
    return file.place(key ?? (node === root ? startOf(root) : node.range));
  }

  within(field: string, part: Span | undefined): Place {
    const { bodies, fields } = this.#written;
    const body = bodies?.get(pathKey([field]));
    return body !== undefined && typeof fields[field] === 'string' ? body.place(part) : this.of(field);
  }
}
