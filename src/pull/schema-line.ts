import { statSync } from 'node:fs';
import { join, posix } from 'node:path';

/** Where a project keeps the schema of its manifests, from its root: `idops init` writes it there. */
export const MANIFEST_SCHEMA = 'schemas/idops-manifest.schema.json';

/** The comment by which an editor finds the schema of a file, both from the project's root; with the end of its line. */
export function schemaLine(path: string, schema: string): string {
  return `# yaml-language-server: $schema=${posix.relative(posix.dirname(path), schema)}\n`;
}

/** What a new manifest begins with: the line of the schema, where the project has that, else nothing. */
export function manifestHead(root: string): (path: string) => string {
  const isThere = statSync(join(root, MANIFEST_SCHEMA), { throwIfNoEntry: false })?.isFile() === true;
  return (path) => (isThere ? schemaLine(path, MANIFEST_SCHEMA) : '');
}
