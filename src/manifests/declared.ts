import type { KindName } from '../base/kind-names.js';
import type { Place, Span } from '../base/problems.js';
import type { Fields } from '../base/values.js';
import type { Covers, Declared, Identity } from '../kinds/kind.js';
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
}

/** A declared object that computes its places on demand, since only problems need them. */
export class DeclaredDocument implements Declared {
  declare readonly kind: KindName;
  declare readonly identity: Identity;
  declare readonly fields: Fields;
  declare readonly absent: boolean;
  declare readonly whole: readonly string[];
  declare readonly ignored: readonly string[];
  declare readonly creates?: true;
  declare readonly generation?: number;
  declare readonly covers?: Covers;
  readonly #written: Written;

  constructor(
    object: Omit<Declared, 'place' | 'declaredAt' | 'placeOf' | 'placeWithin' | 'remembered'>,
    written: Written,
  ) {
    Object.assign(this, object);
    this.#written = written;
  }

  get place(): Place {
    return this.placeOf();
  }

  get declaredAt(): Pick<Place, 'file' | 'inProject' | 'line'> {
    const { file, root } = this.#written;
    return file.lineAt(startOf(root).start);
  }

  /** The place of a field's key or a list's element, or of what is around it if it isn't written. */
  placeOf(...path: (string | number)[]): Place {
    const { file, root } = this.#written;
    const { node, key } = find(root, path);
    return file.place(key ?? (node === root ? startOf(root) : node.range));
  }

  placeWithin(field: string, part: Span | undefined): Place {
    const body = this.#written.bodies?.get(pathKey([field]));
    if (body !== undefined && typeof this.fields[field] === 'string') return body.place(part);
    return this.placeOf(field);
  }
}
