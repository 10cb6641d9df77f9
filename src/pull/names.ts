import { createHash } from 'node:crypto';

/** What every file system keeps as it is, and no other id becomes: without capitals, without the `~` of those below. */
const plainName = /^[a-z0-9](?:[a-z0-9_.-]{0,78}[a-z0-9_-])?$/;
/** What Windows takes for a device, whatever ending follows. */
const device = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/;

/**
 * One step of a path for an id, which may be any text: no two ids have the same, on any file system, and none leads
 * anywhere else.
 */
export function safeName(id: string): string {
  if (plainName.test(id) && !device.test(id)) return id;
  const readable = id
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-+|-+$/g, '');
  const hash = createHash('sha256').update(id, 'utf16le').digest('hex').slice(0, 16);
  return `${readable}~${hash}`;
}

/** Names for the variables that stand in the place of secrets: each secret has its own, the same each time. */
export class VariableNames {
  readonly #owners = new Map<string, string>();

  /** The name for what stands at a path of an object. */
  of(address: string, path: readonly (string | number)[]): string {
    const owner = JSON.stringify([address, ...path]);
    const words = [...address.split('/'), ...path.map(String)].map((part) =>
      part
        .replace(/[^A-Za-z0-9]+/g, '_')
        .replace(/^_+|_+$/g, '')
        .toUpperCase(),
    );
    const long = ['IDOPS', ...words.filter((word) => word !== '')].join('_');
    const hash = createHash('sha256').update(owner).digest('hex').slice(0, 8).toUpperCase();
    const base = long.length <= 120 ? long : `${long.slice(0, 110)}_${hash}`;
    const name = (this.#owners.get(base) ?? owner) === owner ? base : `${base}_${hash}`;
    this.#owners.set(name, owner);
    return name;
  }
}
