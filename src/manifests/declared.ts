import type { KindName } from '../base/kind-names.js';
import type { Place, Span } from '../base/problems.js';
import type { Fields } from '../base/values.js';
import type { Declared, Identity } from '../kinds/kind.js';
import { pathKey } from '../yaml/resolve.js';
import type { SourceFile } from '../yaml/source-file.js';
import { find, type Node, type Path, startOf } from '../yaml/tree.js';
import type { Body } from './bodies.js';

/** Where a declared object is written. */
interface Written {
  readonly root: Node;
  readonly file: SourceFile;
  /** The bodies by the path of their field; undefined where there are none. */
  readonly bodies: ReadonlyMap<string, Body> | undefined;
}

/** A declared object that tells its places when it is asked for them: they are needed where something is wrong. */
export class DeclaredDocument implements Declared {
  readonly kind: KindName;
  readonly identity: Identity;
  readonly fields: Fields;
  readonly absent: boolean;
  readonly whole: readonly string[];
  readonly ignored: readonly string[];
  declare readonly generation?: number;
  readonly #written: Written;

  constructor(
    object: Omit<Declared, 'place' | 'declaredAt' | 'placeOf' | 'placeWithin' | 'remembered'>,
    written: Written,
  ) {
    this.kind = object.kind;
    this.identity = object.identity;
    this.fields = object.fields;
    this.absent = object.absent;
    this.whole = object.whole;
    this.ignored = object.ignored;
    if (object.generation !== undefined) this.generation = object.generation;
    this.#written = written;
  }

  get place(): Place {
    return this.placeOf();
  }

  get declaredAt(): Pick<Place, 'file' | 'inProject' | 'line'> {
    const { file, root } = this.#written;
    return file.lineAt(startOf(root).start);
  }

  placeOf(...path: (string | number)[]): Place {
    const { file, root } = this.#written;
    return placeOf(file, root, path);
  }

  placeWithin(field: string, part: Span | undefined): Place {
    const { root, file, bodies } = this.#written;
    const value = this.fields[field];
    const body = bodies?.get(pathKey([field]));
    if (body !== undefined && typeof value === 'string') return body.place(part);
    return placeOf(file, root, [field]);
  }
}

/** A field's key, or a list's element; where that isn't written, what is around it. */
function placeOf(file: SourceFile, root: Node, path: Path): Place {
  const { node, key } = find(root, path);
  return file.place(key ?? (node === root ? startOf(root) : node.range));
}
